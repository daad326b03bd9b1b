#!/bin/bash
# make install puts a program that works below PREFIX, DESTDIR before it, and
# make uninstall leaves nothing. Compiles once more: PREFIX is compiled in.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD
failed=0
fail() {
	echo "install: $*"
	failed=1
}

build() {
	make -s BUILD="$work/build" PREFIX="$work/to" "$@" > "$work/log" 2>&1 ||
	    { tail -n 20 "$work/log"; fail "make $*"; }
}

build install
rm -rf "$work/build/modules" # it must not find those of the build folder
cd "$work" || exit 1
"$work/to/bin/pamprof" doctor > found || { cat found; fail "doctor"; }
grep -q "^modules *ok *$work/to/lib/pamprof" found ||
    fail "not its own modules"
echo 'auth required pam_permit.so' > stack
"$work/to/bin/pamprof" run --stack stack --phases auth > report ||
    fail "run: $?"
grep -q pam_permit report || fail "no report"
for page in man1/pamprof.1 man8/pam_timing.8 man5/pamprof-records.5; do
	[ -s "$work/to/share/man/$page" ] || fail "no $page"
done
[ -s "$work/to/share/pamprof/stacks/sshd-2000" ] || fail "no bundled stack"
[ -z "$(find to -type f -perm /022)" ] || fail "files that others may change"
(cd to && find . -type f | sort) > installed

cd - > /dev/null || exit 1
build DESTDIR="$work/staged" install
(cd "$work/staged$work/to" && find . -type f | sort) |
    cmp - "$work/installed" || fail "DESTDIR makes a difference"
build DESTDIR="$work/staged" uninstall
build uninstall
[ -z "$(find "$work/to" "$work/staged" -type f)" ] ||
    fail "left behind: $(find "$work/to" "$work/staged" -type f)"
exit $failed
