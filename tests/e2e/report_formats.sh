#!/bin/bash
# The report over generated segments: the same bytes whatever the input is
# packed in, the figures that the generator's arithmetic asks for, and the
# same counts and medians as jq finds in the exported spans.
set -u
BUILD=$(realpath "${BUILD:-build}")
generator=$BUILD/tests/fake/segment_generator
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TZ=UTC
failed=0
fail() {
	echo "report_formats: $*"
	failed=1
}
report() {
	"$BUILD/pamprof" report "$@" || fail "report $*"
}

"$generator" 2000 500 one > one.seg
"$generator" 1000 0 two su > two.seg
gzip -k one.seg
report one.seg --format json > plain
report one.seg.gz --format json | cmp - plain || fail "gzip"
if command -v zstd > /dev/null; then
	zstd -q one.seg
	report one.seg.zst --format json | cmp - plain || fail "zstd"
fi
report - --format json < one.seg | cmp - plain || fail "stdin"
cat one.seg | report - --format json | cmp - plain || fail "pipe"
report one.seg -o out.json && cmp out.json plain || fail "-o"
mkdir folder && cp one.seg.gz two.seg folder
report two.seg one.seg --by host --format json > both
report folder --by host --format json | cmp - both || fail "folder"
cat one.seg two.seg | report - --by host --format json | cmp - both ||
    fail "two in one pipe"

# expect FILE JQ-FILTER RESULT
expect() {
	local found
	found=$(jq -c "$2" "$1")
	[ "$found" = "$3" ] || fail "$2: $found, not $3"
}
expect plain '[.totals.logins, .totals.failed, .lost]' '[2000,40,0]'
expect plain '[.unfinished[].id]' \
    '["00000000000003e8","00000000000005dc","00000000000007d0","00000000000009c4"]'
# 136 units of 10 us for each of 1 to 100; every 50th login has the first 10.
expect plain '[.wall.n, .wall.max, .wall.mean]' '[2000,134640000,66790000]'
expect plain '[.groups[] | select(.key == "authenticate /etc/pam.d/sshd:1 pam_env.so") | .calls, .wall.mean, (.wall.median - 500000 | fabs < 5000)]' \
    '[2000,505000,true]'
expect both '[.groups[] | .key, .wall.n]' '["one",2000,"two",1000]'

report one.seg --by hour --format json > some
expect some '[.groups[] | .key, .wall.n]' '["2026-11-30 01:00",2000]'
report one.seg --by phase --format json > some
expect some '[.groups[] | select(.key == "authenticate") | .calls, .wall.mean, .results]' \
    '[2000,5050000,{"PAM_SUCCESS":1960,"PAM_AUTH_ERR":40}]'

# Every grouping against jq over the export. The export has no login's user
# in authentication records, so logins are put together first.
report one.seg two.seg --format jsonl > spans
[ "$(wc -l < spans)" = $(($(jq .totals.calls both) + 4)) ] ||
    fail "spans exported"
# Calls: key, number, lower median.
by_jq() {
	jq -s "[.[] | select(.unfinished | not)] | group_by($1) |
	    map([(.[0] | $1), length,
		([.[].wall] | sort | .[((length - 1) / 2 | floor)])]) | sort" spans
}
by_report() {
	report one.seg two.seg --by "$1" --format json |
	    jq '[.groups[] | [.key, .calls, .wall.median]] | sort'
}
# Whether two lists agree: keys and counts exactly, medians within 1 %.
agree() {
	jq -n --slurpfile a "$1" --slurpfile b "$2" '[$a[0], $b[0]] | transpose |
	    all(.[0][0] == .[1][0] and .[0][1] == .[1][1] and
		((.[0][2] - .[1][2]) | fabs) <= .[0][2] / 100) and
	    ($a[0] | length) > 0'
}
by_jq '"\(.phase) \(.file):\(.line) \(.module)"' > a
by_report rule > b
[ "$(agree a b)" = true ] || fail "by rule: $(diff a b)"
by_jq .module > a
by_report module > b
[ "$(agree a b)" = true ] || fail "by module: $(diff a b)"
for key in user service host; do
	jq -s "[.[] | select(.phase != \"close_session\")] |
	    group_by([.host, .login]) |
	    map({k: (map(.$key) | map(select(.)) | .[0] // \"-\"),
		 wall: (map(.wall) | add)}) | group_by(.k) |
	    map([.[0].k, length,
		(map(.wall) | sort | .[((length - 1) / 2 | floor)])]) | sort" \
	    spans > a
	report one.seg two.seg --by $key --format json |
	    jq '[.groups[] | [.key, .wall.n, .wall.median]] | sort' > b
	[ "$(agree a b)" = true ] || fail "by $key: $(diff a b)"
done

# Filters.
report one.seg --since 2026-11-30T01:00:10 --until 2026-11-30T01:00:20 \
    --format json > some
expect some .totals.logins 500
report one.seg --slower-than 130ms --format json > some
expect some '[.totals.logins, .wall.min > 130e6]' '[80,true]'
report one.seg --login 5db > tree
grep -q 'pam_unix.so (sshd:2)  PAM_AUTH_ERR' tree || fail "one login"
[ "$(grep -c 'pam_' tree)" = 4 ] || fail "calls of one login"
report one.seg --login 5db --format jsonl > some
[ "$(wc -l < some)" = 4 ] || fail "spans of one login"
report one.seg --logins > list
[ "$(grep -c '  sshd ' list)" -ge 100 ] || fail "list of logins"
[ "$(LC_ALL=C report one.seg | awk 'length > 80' | wc -l)" = 0 ] || fail "80 columns"

# Mistakes.
refuse() {
	local status=$1
	shift
	"$BUILD/pamprof" report "$@" > out 2> err
	[ $? = "$status" ] || fail "status of $*"
	[ -s err ] || fail "no message for $*"
}
refuse 2 one.seg --by colour
refuse 2 one.seg --since never
refuse 2 one.seg --login wrong
refuse 2 one.seg --format jsonl --slower-than 1s
refuse 3 one.seg --login abcdef
refuse 3 nowhere.seg
head -c 5000 /dev/urandom > noise
refuse 3 noise
exit $failed
