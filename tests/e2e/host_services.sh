#!/bin/bash
# Every service of this machine is parsed, rewritten and read back to the
# same rules, for both grammars of libpam. Only reads /etc/pam.d.
set -u
BUILD=$(realpath "${BUILD:-build}")
dump=$BUILD/tests/fake/stack_dump
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
fail() {
	echo "host_services: $*"
	failed=1
}

# check SERVICE MINOR
check() {
	rm -rf "$work/copies" && mkdir "$work/copies"
	"$dump" --minor "$2" --rewrite "$work/copies" "$1" > "$work/before" \
	    2> "$work/err" || { fail "$1: $(tail -n 1 "$work/err")"; return; }
	"$dump" --confdir "$work/copies" --minor "$2" "$1" > "$work/after" \
	    2> "$work/err" || fail "$1 read back: $(tail -n 1 "$work/err")"
	cmp "$work/before" "$work/after" || fail "$1 differs"
}

services=0
for path in /etc/pam.d/* /usr/lib/pam.d/*; do
	# libpam asks for services in small letters only.
	if [ -f "$path" ] && [ -r "$path" ] && [[ $path != *[A-Z]* ]]; then
		services=$((services + 1))
		check "$(basename "$path")" 5
		check "$(basename "$path")" 6
	fi
done
if [ $services -eq 0 ]; then
	echo "host_services: skipped: no services here"
	exit 77
fi
echo "host_services: $services services read back"
exit $failed
