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
# Until each command has its file: a stand-in keeps the program linking.
ABSENT := $(foreach v,run trace show doctor,$(if \
	$(wildcard pamprof/verb/$(v).c),,$(v)))
TEST_SOURCES := $(sort $(wildcard tests/unit/*_test.c))
FAKE_MODULES := $(sort $(wildcard tests/fake/pam_*.c))
# pam_x.so is made of pam_x.c and every x_*.c; other files are programs.
FAKE_PARTS := $(sort $(foreach m,$(FAKE_MODULES),$(wildcard \
	$(patsubst tests/fake/pam_%.c,tests/fake/%_*.c,$(m)))))
FAKE_PROGRAMS := $(filter-out $(FAKE_MODULES) $(FAKE_PARTS),\
	$(sort $(wildcard tests/fake/*.c)))
FUZZERS := $(sort $(wildcard tests/fuzz/*_fuzz.c))
BENCHES := $(sort $(wildcard tests/bench/*_bench.c))
# What every observer shares; ring.c serves the tool as well.
OBSERVER := $(sort $(wildcard $(patsubst %,modules/%.c,ring emit call \
	conversation)))
MODULES := $(patsubst %,$(BUILD)/modules/%.so,pam_timing \
	$(if $(wildcard modules/resident.c),pamprof_resident) \
	$(if $(wildcard modules/audit.c),pamprof_audit))

object = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
TOOL_OBJECTS := $(call object,$(TOOL_SOURCES) modules/ring.c)
TOOL_OBJECTS += $(if $(ABSENT),$(BUILD)/obj/absent.o)
LIBRARY := $(filter-out $(BUILD)/obj/pamprof/main.o,$(TOOL_OBJECTS))
TEST_OBJECTS := $(call object,$(TEST_SOURCES) tests/main.c) \
	$(BUILD)/obj/tests/suites.o \
	$(sort $(LIBRARY) $(call object,$(OBSERVER)))
FAKES := $(patsubst tests/fake/%.c,$(BUILD)/tests/fake/%.so,$(FAKE_MODULES)) \
	$(patsubst tests/fake/%.c,$(BUILD)/tests/fake/%,$(FAKE_PROGRAMS))
BENCH_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(BENCHES))
FUZZ_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(FUZZERS))

# ---- How ------------------------------------------------------------------
PKG_CONFIG = pkg-config
PACKAGES = jansson libtirpc
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
$(BUILD)/obj/tests/fake/%.o: FLAGS = -fPIC
$(BUILD)/obj/pamprof/base/places.o: FLAGS = -DMODULE_DIR='"$(libdir)"' \
	-DCONFIG_DIR='"$(datadir)"'
$(BUILD)/obj/pamprof/%.o: CPPFLAGS += -DPAMPROF_VERSION='"$(VERSION)"'

$(BUILD)/pamprof: $(TOOL_OBJECTS)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(LINK_FLAGS) $^ $(LIBS) -o $@

# The program finds its modules and files next to itself.
$(BUILD)/configs:
	@mkdir -p $(@D) && ln -sfn $(CURDIR)/configs $@
$(BUILD)/tests/modules $(BUILD)/tests/fake/modules:
	@mkdir -p $(@D) && ln -sfn $(abspath $(BUILD)/modules) $@

$(BUILD)/absent.c: FORCE
	@mkdir -p $(@D)
	@{ echo '#include "$(CURDIR)/pamprof/command.h"'; \
	   for v in $(ABSENT); do echo "static int act_$$v(const void *o, int c," \
	   "char **v, struct error *e) { (void)o; (void)c; (void)v; return" \
	   "error_set(e, ERROR_USAGE, \"not there yet\"); } const struct command" \
	   "command_$$v = { .name = \"$$v\", .summary = \"\", .usage = \"\"," \
	   ".description = \"\", .act = act_$$v };"; done; } > $@.new; \
	   cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(BUILD)/obj/absent.o: $(BUILD)/absent.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(call compile,$<)

# ---- Modules --------------------------------------------------------------
shared = mkdir -p $(@D); $(CC) $(CFLAGS) -shared -Wl,-z,now,-z,noexecstack \
	$(SANITIZER_FLAGS) $(LDFLAGS) $(call version_script,$(basename $(@F)))

$(BUILD)/modules/pam_timing.so: $(call object,modules/pam_timing.c)
$(BUILD)/modules/pam_timing.so: SHARED = $(LEAN)
$(BUILD)/modules/pamprof_resident.so: \
	$(call object,modules/resident.c $(OBSERVER))
$(BUILD)/modules/pamprof_resident.so: SHARED = -Wl,-z,nodelete,-z,relro
$(BUILD)/modules/pamprof_resident.so: SHARED_LIBS = -lpam
$(BUILD)/modules/pamprof_audit.so: \
	$(call object,modules/audit.c $(OBSERVER))
$(BUILD)/modules/pamprof_audit.so: SHARED = -Wl,-z,relro
$(MODULES): $(wildcard modules/*.map)
$(BUILD)/modules/%.so:
	$(call say,LINK,$@)$(shared) $(SHARED) $(filter %.o,$^) $(SHARED_LIBS) -o $@

# ---- Tests ----------------------------------------------------------------
tests: all $(BUILD)/tests/main $(FAKES) $(BUILD)/tests/modules \
	$(BUILD)/tests/fake/modules

# The list of suites comes from the names of the files: x_test.c exports
# void x_tests(void).
SUITES := $(patsubst tests/unit/%_test.c,%,$(TEST_SOURCES))
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
$(BUILD)/tests/fake/%: $(BUILD)/obj/tests/fake/%.o $(LIBRARY)
	$(call say,LINK,$@)mkdir -p $(@D); $(CC) $(CFLAGS) $(LINK_FLAGS) $^ $(LIBS) -o $@
$(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.o $(LIBRARY)
	$(call say,LINK,$@)mkdir -p $(@D); $(CC) $(CFLAGS) $(LINK_FLAGS) $^ $(LIBS) -o $@

clean:
	rm -rf build

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
