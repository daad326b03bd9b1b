# pamprof: one file builds, tests and installs everything. All output goes to
# build/. "make V=1" shows the commands; the targets a person uses:
#
#   all check check-fast lint asan valgrind fuzz bench demo deps
#   install uninstall clean
#
# check and asan call make again with another BUILD folder or to keep an
# order; there is no makefile but this one.

VERSION = 0.1
PREFIX  = /usr/local
DESTDIR =
BUILD   = build
CC      = gcc
CLANG   = clang
CFLAGS  = -O2 -g
FUZZ_SECONDS = 60

bindir = $(PREFIX)/bin
libdir = $(PREFIX)/lib/pamprof
datadir = $(PREFIX)/share/pamprof
mandir = $(PREFIX)/share/man

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(filter -j%,$(MAKEFLAGS))$(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

V =
Q = $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)	$(2:$(BUILD)/%=%)";)

# ---- What is built from what ----------------------------------------------
TOOL_SOURCES := $(sort $(wildcard pamprof/*.c pamprof/*/*.c))
TEST_SOURCES := $(sort $(wildcard tests/unit/*.c))
FAKE_MODULES := $(sort $(wildcard tests/fake/pam_*.c))
# pam_x.so is made of pam_x.c and every x_*.c; other files are programs.
FAKE_PARTS := $(sort $(foreach m,$(FAKE_MODULES),$(wildcard \
	$(patsubst tests/fake/pam_%.c,tests/fake/%_*.c,$(m)))))
# The application that drives the stub modules, and variants of the stub.
DRIVER_SOURCES := $(sort $(wildcard tests/fake/driver*.c)) \
	tests/fake/stub_tokens.c
STUB_VARIANTS = nosetcred nosession nothing unresolved
FAKE_PROGRAMS := $(filter-out $(FAKE_MODULES) $(FAKE_PARTS) \
	$(DRIVER_SOURCES),$(sort $(wildcard tests/fake/*.c)))
FUZZERS := $(sort $(wildcard tests/fuzz/*_fuzz.c))
BENCHES := $(sort $(wildcard tests/bench/*_bench.c))
# What every observer shares; ring.c serves the tool as well.
OBSERVER := $(sort $(wildcard $(patsubst %,modules/%.c,ring emit usage \
	call conversation)))
MODULES := $(patsubst %,$(BUILD)/modules/%.so,pam_timing \
	$(if $(wildcard modules/resident.c),pamprof_resident) \
	$(if $(wildcard modules/audit.c),pamprof_audit) pam_trial)

object = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
TOOL_OBJECTS := $(call object,$(TOOL_SOURCES) modules/ring.c modules/emit.c)
LIBRARY := $(filter-out $(BUILD)/obj/pamprof/main.o,$(TOOL_OBJECTS))
TEST_OBJECTS := $(call object,$(TEST_SOURCES) tests/main.c \
	tests/fake/stub_tokens.c) \
	$(BUILD)/obj/tests/suites.o \
	$(sort $(LIBRARY) $(call object,$(OBSERVER)))
FAKES := $(patsubst tests/fake/%.c,$(BUILD)/tests/fake/%.so,$(FAKE_MODULES)) \
	$(patsubst tests/fake/%.c,$(BUILD)/tests/fake/%,$(FAKE_PROGRAMS)) \
	$(patsubst %,$(BUILD)/tests/fake/pam_%.so,$(STUB_VARIANTS)) \
	$(BUILD)/tests/fake/driver
BENCH_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(BENCHES))
FUZZ_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(FUZZERS))

# ---- How ------------------------------------------------------------------
PKG_CONFIG = pkg-config
PACKAGES = jansson libtirpc libcrypto zlib libzstd
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)

BASE_FLAGS = -std=c11 -D_GNU_SOURCE -Wall -Wextra $(PKG_CFLAGS)
HARDENING = -fPIE -fstack-protector-strong -fstack-clash-protection \
	$(if $(SANITIZE),,-D_FORTIFY_SOURCE=2)
SANITIZER_FLAGS = $(if $(SANITIZE),-fsanitize=$(SANITIZE) \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer)
LINK_FLAGS = -pie -Wl,-z,relro,-z,now,-z,noexecstack $(SANITIZER_FLAGS) \
	$(LDFLAGS)
LIBS = $(PKG_LIBS) -lpam -ldl -lpthread -lm
DEPENDENCIES = -MMD -MP

# Code that runs in other people's processes: nothing visible, no guard whose
# failure would abort the host, thread-locals without a call.
MODULE_FLAGS = -fPIC -fvisibility=hidden -ftls-model=initial-exec \
	-fno-stack-protector
# Each page and each section of a shim costs every login that loads it.
LEAN = $(if $(SANITIZE),,-nostartfiles -Wl,-z,norelro,-z,noseparate-code \
	-Wl,--hash-style=gnu,--build-id=none)
version_script = $(addprefix -Wl$(comma)--version-script=,$(wildcard modules/$(1).map))
comma = ,

.PHONY: all check check-fast lint lint-run asan valgrind fuzz fuzz-run bench \
	demo deps install uninstall clean tests run-tests FORCE

all: $(BUILD)/pamprof $(MODULES) $(BUILD)/configs

# Objects are made again when the flags change.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(SANITIZE) $(PREFIX)' \
	    '$(VERSION)' | cmp -s - $@ || echo '$(CC) $(CFLAGS) $(CPPFLAGS)' \
	    '$(LDFLAGS) $(SANITIZE) $(PREFIX) $(VERSION)' > $@

compile = $(CC) $(BASE_FLAGS) $(CFLAGS) $(CPPFLAGS) $(HARDENING) $(FLAGS) \
	$(SANITIZER_FLAGS) $(DEPENDENCIES) -c $(1) -o $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(call compile,$<)

$(BUILD)/obj/modules/%.o: FLAGS = $(MODULE_FLAGS)
# The fakes call libpam with NULL where its headers forbid it.
$(BUILD)/obj/tests/fake/%.o: FLAGS = -fPIC
$(BUILD)/obj/tests/fake/%.o: SANITIZER_FLAGS += $(if $(SANITIZE), \
	-fno-sanitize=nonnull-attribute)
$(BUILD)/obj/pamprof/base/places.o: FLAGS = -DMODULE_DIR='"$(libdir)"' \
	-DCONFIG_DIR='"$(datadir)"'
$(BUILD)/obj/pamprof/%.o: CPPFLAGS += -DPAMPROF_VERSION='"$(VERSION)"'

$(BUILD)/pamprof: $(TOOL_OBJECTS)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LINK_FLAGS) $^ $(LIBS) -o $@

# The program finds its modules and files next to itself.
$(BUILD)/configs:
	@mkdir -p $(@D) && ln -sfn $(CURDIR)/configs $@
$(BUILD)/tests/modules $(BUILD)/tests/fake/modules $(BUILD)/tests/bench/modules:
	@mkdir -p $(@D) && ln -sfn $(abspath $(BUILD)/modules) $@

# ---- Modules --------------------------------------------------------------
shared = mkdir -p $(@D); $(CC) $(CFLAGS) -shared -Wl,-z,now,-z,noexecstack \
	$(SANITIZER_FLAGS) $(LDFLAGS) $(call version_script,$(basename $(@F)))

$(BUILD)/modules/pam_timing.so: $(call object,modules/pam_timing.c)
$(BUILD)/modules/pam_timing.so: SHARED = $(LEAN)
$(BUILD)/modules/pam_trial.so: $(call object,modules/pam_trial.c)
$(BUILD)/modules/pam_trial.so: SHARED = -Wl,-z,relro
$(BUILD)/modules/pamprof_resident.so: \
	$(call object,modules/resident.c $(OBSERVER))
$(BUILD)/modules/pamprof_resident.so: SHARED = -Wl,-z,nodelete,-z,relro \
	-Wl,-z,noseparate-code,--hash-style=gnu
$(BUILD)/modules/pamprof_resident.so: SHARED_LIBS = -lpam
$(BUILD)/modules/pamprof_audit.so: \
	$(call object,$(wildcard modules/audit*.c) $(OBSERVER))
$(BUILD)/modules/pamprof_audit.so: SHARED = -Wl,-z,relro
$(MODULES): $(wildcard modules/*.map)
$(BUILD)/modules/%.so:
	$(call say,LINK,$@)$(shared) $(SHARED) $(filter %.o,$^) $(SHARED_LIBS) -o $@

# ---- Tests ----------------------------------------------------------------
tests: all $(BUILD)/tests/main $(FAKES) $(BUILD)/tests/modules \
	$(BUILD)/tests/fake/modules

# The list of suites comes from the names of the files: x_test.c exports
# void x_tests(void).
SUITES := $(patsubst tests/unit/%_test.c,%,$(filter %_test.c,$(TEST_SOURCES)))
$(BUILD)/tests/suites.c: FORCE
	@mkdir -p $(@D)
	@{ echo '#include "test.h"'; for s in $(SUITES); do \
	   echo "void $${s}_tests(void);"; done; \
	   echo 'void (*const test_suites[])(void) = {'; for s in $(SUITES); \
	   do echo "	$${s}_tests,"; done; echo '	0 };'; } > $@.new; \
	   cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(BUILD)/obj/tests/suites.o: $(BUILD)/tests/suites.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(call compile,-iquote tests $<)

$(BUILD)/tests/main: $(TEST_OBJECTS)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LINK_FLAGS) $^ -lcunit $(LIBS) -o $@

define fake_module
$(BUILD)/tests/fake/pam_$(1).so: $(call object,tests/fake/pam_$(1).c \
	$(filter tests/fake/$(1)_%,$(FAKE_PARTS)))
endef
$(foreach m,$(patsubst tests/fake/pam_%.c,%,$(FAKE_MODULES)),\
	$(eval $(call fake_module,$(m))))
$(BUILD)/tests/fake/%.so:
	$(call say,LINK,$@)$(shared) $^ -lpam -o $@

# What libpam logs and audits must reach the driver's own functions.
$(BUILD)/tests/fake/driver: $(call object,$(DRIVER_SOURCES))
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LINK_FLAGS) -rdynamic $^ $(LIBS) -o $@

VARIANT_nosetcred = -DSTUB_NO_SETCRED
VARIANT_nosession = -DSTUB_NO_SESSION -DSTUB_NO_PASSWORD
VARIANT_nothing = -DSTUB_NOTHING
VARIANT_unresolved = -DSTUB_UNRESOLVED
$(patsubst %,$(BUILD)/tests/fake/pam_%.so,$(STUB_VARIANTS)): \
    $(BUILD)/tests/fake/pam_%.so: tests/fake/pam_stub.c \
    $(call object,$(filter tests/fake/stub_%,$(FAKE_PARTS)))
	$(call say,LINK,$@)$(shared) $(BASE_FLAGS) -fPIC $(VARIANT_$*) $^ -lpam -o $@

$(BUILD)/tests/fake/%: $(BUILD)/obj/tests/fake/%.o $(LIBRARY)
	$(call say,LINK,$@)mkdir -p $(@D); $(CC) $(CFLAGS) $(LINK_FLAGS) $^ $(LIBS) -o $@
$(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.o $(LIBRARY)
	$(call say,LINK,$@)mkdir -p $(@D); $(CC) $(CFLAGS) $(LINK_FLAGS) $^ $(LIBS) -lcrypt -o $@

run-tests: tests
	$(Q)$(BUILD)/tests/main $(if $(FAST),--fast) $(SUITE)

# ---- Checks ---------------------------------------------------------------
# Every step runs, whatever failed before. The tests come last so that their
# summary is the last thing on the screen, and alone, because they measure.
check:
	$(Q)$(MAKE) tests
	$(Q)failed=; for step in lint fuzz asan valgrind run-tests; do \
	    $(MAKE) $$step || failed="$$failed $$step"; done; \
	    test -z "$$failed" || { echo "check: failed:$$failed"; exit 1; }

check-fast:
	$(Q)$(MAKE) tests
	$(Q)$(MAKE) lint
	$(Q)$(MAKE) run-tests FAST=1

# Sanitized code lives in a folder of its own, made by clang because the
# fuzzers need it. Programs of the system cannot load it, so only suites that
# load modules into the test program or pamprof run here.
SANITIZED = BUILD=$(BUILD)/asan CC=$(CLANG) \
	SANITIZE=address,undefined,fuzzer-no-link CFLAGS='-O1 -g'
SANITIZED_ENVIRONMENT = ASAN_OPTIONS=detect_stack_use_after_return=1 \
	UBSAN_OPTIONS=print_stacktrace=1 \
	LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lint/leaks.supp:print_suppressions=0

asan:
	$(Q)$(MAKE) $(SANITIZED) tests
	$(Q)$(SANITIZED_ENVIRONMENT) $(BUILD)/asan/tests/main --fast --internal $(SUITE)

valgrind: tests
	$(Q)valgrind -q --error-exitcode=9 --leak-check=full \
	    $(BUILD)/tests/main --fast --internal $(SUITE)

fuzz:
	$(Q)$(MAKE) $(SANITIZED) fuzz-run FUZZ_SECONDS=$(FUZZ_SECONDS)

# Each fuzzer gets its share of the time, two at once. What it finds is kept
# in the build folder; seeds are files in tests/fuzz/NAME/.
FUZZ_SHARE = $$(( ($(FUZZ_SECONDS) * 2 + $(words $(FUZZERS)) - 1) / $(words $(FUZZERS)) ))
fuzz-run: $(FUZZ_PROGRAMS:=.run)
$(BUILD)/tests/fuzz/%_fuzz: $(BUILD)/obj/tests/fuzz/%_fuzz.o $(LIBRARY)
	$(call say,LINK,$@)mkdir -p $(@D); $(CC) $(CFLAGS) $(LINK_FLAGS) \
	    -fsanitize=fuzzer $^ $(LIBS) -o $@
$(BUILD)/tests/fuzz/%.run: $(BUILD)/tests/fuzz/% FORCE
	$(call say,FUZZ,$*)mkdir -p $(@D)/corpus/$*
	$(Q)$(SANITIZED_ENVIRONMENT) $< -max_total_time=$(FUZZ_SHARE) \
	    -timeout=10 -rss_limit_mb=1024 -verbosity=0 -print_final_stats=1 \
	    -artifact_prefix=$(@D)/$*- $(@D)/corpus/$* \
	    $(wildcard tests/fuzz/$*_seeds tests/fuzz/$(*:_fuzz=)_seeds) \
	    > $@.log 2>&1 || { tail -40 $@.log; exit 1; }
	@awk -v name=$* '/number_of_executed_units/ \
	    { print "  fuzz " name ": " $$2 " inputs, no failure" }' $@.log

bench: tests $(BENCH_PROGRAMS) $(BUILD)/tests/bench/modules
	$(Q)for b in $(BENCH_PROGRAMS) $(wildcard tests/bench/*.sh); do \
	    echo "== $$b"; BUILD=$(abspath $(BUILD)) $$b || exit 1; done

# ---- Lint: see tests/lint/ -------------------------------------------------
LINT := $(BUILD)/lint
C_SOURCES := $(sort $(wildcard modules/*.c tests/*.c tests/*/*.c) $(TOOL_SOURCES))
C_HEADERS := $(sort $(wildcard modules/*.h pamprof/*.h pamprof/*/*.h tests/*.h \
	tests/*/*.h))
LINT_SCRIPTS := $(sort $(wildcard tests/lint/*.py tests/lint/*.sh))
lint_stamps = $(patsubst %.c,$(LINT)/%.$(1),$(C_SOURCES))

lint: all
	$(Q)$(MAKE) -k lint-run

lint-run: $(LINT_SCRIPTS:%=%.lint) $(LINT)/format $(LINT)/cppcheck \
	$(call lint_stamps,gcc) $(call lint_stamps,clang) $(call lint_stamps,tidy)
	@echo "  lint: $(words $(C_SOURCES)) sources, $(words $(LINT_SCRIPTS))" \
	    "scripts, no complaint"

tests/lint/%.lint: FORCE
	$(call say,LINT,$*)BUILD=$(BUILD) tests/lint/$*

$(LINT)/format: $(C_SOURCES) $(C_HEADERS) .clang-format
	@mkdir -p $(@D)
	$(call say,LINT,clang-format)clang-format --dry-run -Werror $(filter %.c %.h,$^)
	@touch $@

$(LINT)/cppcheck: $(C_SOURCES) $(C_HEADERS)
	@mkdir -p $@.d
	$(call say,LINT,cppcheck)cppcheck -q -j2 --error-exitcode=1 --inline-suppr \
	    --enable=warning,performance,portability --std=c11 -D_GNU_SOURCE \
	    -DMODULE_DIR='""' -DCONFIG_DIR='""' -DPAMPROF_VERSION='""' \
	    '-DElfW(t)=Elf64_\#\#t' --suppress=missingIncludeSystem \
	    --suppress=ctuuninitvar --cppcheck-build-dir=$@.d \
	    $(C_SOURCES)
	@touch $@

# -O2, because some warnings come from the optimizer only.
lint_flags = $(BASE_FLAGS) -O2 -DMODULE_DIR='""' -DCONFIG_DIR='""' \
	-DPAMPROF_VERSION='""' -fPIC
$(LINT)/%.gcc: %.c
	@mkdir -p $(@D)
	$(Q)gcc $(lint_flags) -D_FORTIFY_SOURCE=2 -Werror -MMD -MP -MF $@.d -MT $@ -c $< -o $@
$(LINT)/%.clang: %.c
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(lint_flags) -Werror -MMD -MP -MF $@.d -MT $@ -c $< -o $@
# error.c defines what analyzer.h explains.
tidy_flags = -Wno-unused-value $(if $(filter pamprof/base/error.c,$<),, \
	-include tests/lint/analyzer.h)
$(LINT)/%.tidy: %.c .clang-tidy tests/.clang-tidy tests/lint/analyzer.h \
    $(LINT)/%.clang
	$(Q)clang-tidy --quiet $< -- $(lint_flags) $(tidy_flags) > $@.log 2>/dev/null || \
	    { cat $@.log; exit 1; }
	@touch $@

# ---- Installation ---------------------------------------------------------
DATA := $(filter-out %/demo.sh,$(wildcard configs/* configs/*/*))
install: all
	install -D -m 755 $(BUILD)/pamprof $(DESTDIR)$(bindir)/pamprof
	for m in $(MODULES); do \
	    install -D -m 644 $$m $(DESTDIR)$(libdir)/$${m##*/} || exit 1; done
	for p in $(wildcard pamprof/*.1 modules/*.[58]); do \
	    install -D -m 644 $$p \
	    $(DESTDIR)$(mandir)/man$${p##*.}/$${p##*/} || exit 1; done
	for f in $(DATA); do test -d $$f || install -D -m 644 $$f \
	    $(DESTDIR)$(datadir)/$${f#configs/} || exit 1; done

# Nobody may be left with a stack whose modules are gone. What was restored
# this minute may still be loaded by a login that has read the old file.
uninstall:
	set -e; if [ -z "$(DESTDIR)" ] && [ -e /etc/pamprof/state.json ]; then \
	    $(bindir)/pamprof restore; \
	    [ -z "$$(ls $(libdir)/shims 2>/dev/null)" ] || sleep 60; \
	    $(bindir)/pamprof status; rm -rf /etc/pamprof; fi
	rm -f $(DESTDIR)$(bindir)/pamprof
	for p in $(wildcard pamprof/*.1 modules/*.[58]); do \
	    rm -f $(DESTDIR)$(mandir)/man$${p##*.}/$${p##*/}; done
	rm -rf $(DESTDIR)$(libdir) $(DESTDIR)$(datadir)

# ---- Packages (Debian 12), demonstration ----------------------------------
deps:
	@.ci/deps

demo: all
	$(Q)configs/demo.sh $(BUILD)

clean:
	rm -rf build

-include $(shell find $(BUILD)/obj $(BUILD)/lint -name '*.d' -type f 2>/dev/null)
