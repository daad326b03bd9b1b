#!/bin/bash
# The demonstration: the bundled stack's slow rule is blamed, and for root the
# login stack of this machine is driven, with nothing left behind.
set -u
BUILD=$(realpath "${BUILD:-build}")
[ -n "$(find -L /lib /lib64 -name pam_exec.so -print -quit 2> /dev/null)" ] ||
    { echo "demo: skipped: no pam_exec here"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
	echo "demo: $*"
	cat "$work/out" "$work/err"
	failed=1
}

stat -c '%n %s %Y' /etc/passwd /etc/shadow /etc/group > "$work/before"
sh configs/demo.sh "$BUILD" > "$work/out" 2> "$work/err" < /dev/null ||
    fail "exit $?"
stat -c '%n %s %Y' /etc/passwd /etc/shadow /etc/group > "$work/after"
cmp "$work/before" "$work/after" || fail "/etc was changed"
# The first sentence of the report names the rule, with its time.
grep -m 1 -A 3 '^\$ pamprof run --stack' "$work/out" | grep 'pam_exec' |
    grep -q '1\.3' || fail "pam_exec is not blamed for 1.3 s"
if [ "$(id -u)" -eq 0 ] && ! grep -q 'No mount namespace' "$work/out"; then
	grep -q '^\$ pamprof run login -u pamprof-demo' "$work/out" ||
	    fail "the login stack was not driven"
	grep -q 'pam_unix' "$work/out" || fail "no pam_unix in it"
fi
exit $failed
