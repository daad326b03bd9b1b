#!/bin/bash
# pamprof doctor says of each thing whether it is there and, of what is
# missing, what mends it: here, where modules are missing, and for a user who
# is not root.
set -u
BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
failed=0
fail() {
	echo "doctor: $*"
	cat "$work/out"
	failed=1
}

# expect STATUS COMMAND...
expect() {
	local status=$1 got
	shift
	"$@" > "$work/out" 2>&1
	got=$?
	[ $got -eq "$status" ] || fail "$*: exit $got, expected $status"
	[ "$(awk 'length > 80' "$work/out" | wc -l)" -eq 0 ] ||
	    fail "$*: longer than 80 columns"
}

expect 0 "$BUILD/pamprof" doctor
for check in user libpam services modules kernel trial trace apparmor selinux; do
	grep -Eq "^$check +(ok|limited) " "$work/out" || fail "no word on $check"
done
# What is not as it should be has its remedy below it.
[ "$(grep -c '^[a-z]* *limited' "$work/out")" -eq \
    "$(grep -c '^ *-> ' "$work/out")" ] || fail "a remedy is missing"
expect 2 "$BUILD/pamprof" doctor now

# Half of an installation: the shim is there, what it needs is not.
mkdir -p "$work/half/modules"
cp "$BUILD/pamprof" "$work/half"
cp "$BUILD/modules/pam_timing.so" "$work/half/modules"
expect 3 "$work/half/pamprof" doctor
grep -Eq '^modules +missing .*no pamprof_resident.so' "$work/out" ||
    fail "the missing module is not named"
grep -q 'make install' "$work/out" || fail "no remedy for it"

if [ "$(id -u)" -eq 0 ]; then
	cp -rL "$BUILD/modules" "$BUILD/pamprof" "$work"
	expect 0 setpriv --reuid 65534 --regid 65534 --clear-groups \
	    "$work/pamprof" doctor
	grep -Eq '^user +limited ' "$work/out" || fail "nobody is not root"
fi
exit $failed
