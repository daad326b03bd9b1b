# Sourced by scripts that kill pamprof before each of its system calls that
# change a file: the stack is the old or the new one, byte for byte, both let
# people in, and the next command leaves nothing of the broken off one behind.
# shellcheck source=tests/e2e/private.bash
. "$(dirname "$0")/private.bash" "$@"
[ "$(uname -m)" = x86_64 ] || { echo "$name: skipped: needs x86_64"; exit 77; }
kill_before=$BUILD/tests/fake/kill_before
pamprof=$BUILD/pamprof
shims=$BUILD/modules/shims
# A service of its own, so that its shims cannot meet those of another test.
service=pp-kill-$$
cat > /etc/pam.d/pp-include <<'END'
auth	required	pam_permit.so 
account	required	pam_permit.so
END
cat > "/etc/pam.d/$service" <<'END'
auth	sufficient	pam_rootok.so
@include pp-include
session	optional	pam_env.so readenv=1
END
chmod 640 "/etc/pam.d/$service"
cp -a "/etc/pam.d/$service" "$work/original"
trap 'rm -rf "$shims/$service".*' EXIT

logs_in() {
	"$BUILD/pamprof" run "$service" -u root --phases auth,account,session \
	    --yes > "$work/run" 2>&1 || fail "$1: no login: $(cat "$work/run")"
}

# Neither temporary files nor folders that no journal knows.
is_tidy() {
	local left
	left=$(find /etc/pam.d /etc/cron.d /etc/tmpfiles.d /run/pamprof \
	    -name '.*pamprof' -o -name '*.new' 2> /dev/null)
	[ -z "$left" ] || fail "$1: left behind: $left"
	[ -d /etc/pamprof ] || return
	left=$(find /etc/pamprof -name '.*' -type f)
	[ -z "$left" ] || fail "$1: left behind: $left"
	for left in /etc/pamprof/"$service".*; do
		[ -d "$left" ] || continue
		grep -q "\"seq\": ${left##*.}," /etc/pamprof/state.json ||
		    fail "$1: left behind: $left"
	done
	for left in "$shims/$service".*; do
		[ -d "$left" ] || continue
		grep -q "\"seq\": ${left##*.}," /etc/pamprof/state.json ||
		    fail "$1: left behind: $left"
	done
}

is_old() {
	cmp -s "$work/original" "/etc/pam.d/$service"
}
is_new() {
	cmp -s /etc/pamprof/"$service".*/installed "/etc/pam.d/$service"
}

# Retired ones go at once: the test does not wait a minute for each.
age() {
	[ ! -f /etc/pamprof/state.json ] ||
	    sed -i 's/"retired": [1-9][0-9]*/"retired": 1/' /etc/pamprof/state.json
}

# each BEFORE WORD...: kills pamprof WORD... at every point; BEFORE prepares.
each() {
	local before=$1 n status old=0 new=0
	shift
	for ((n = 1; ; n++)); do
		$before
		"$kill_before" $n "$pamprof" "$@" > "$work/out" 2>&1
		status=$?
		[ $status -eq 3 ] && break
		[ $status -eq 0 ] || { fail "$* at $n: $(cat "$work/out")"; break; }
		if is_old; then old=$((old + 1))
		elif is_new; then new=$((new + 1))
		else fail "$* killed at $n: the file is neither old nor new"; fi
		[ "$(stat -c %a.%u.%g "/etc/pam.d/$service")" = 640.0.0 ] ||
		    fail "$* killed at $n: mode or owner changed"
		logs_in "$* killed at $n"
		"$pamprof" status > "$work/status" 2>&1
		is_tidy "$* killed at $n"
		is_old || is_new || fail "$* killed at $n: not repaired"
		logs_in "$* killed at $n and repaired"
		[ $failed -eq 0 ] || break
	done
	echo "$*: killed at $((n - 1)) points: old $old, new $new"
	[ $old -gt 5 ] || fail "$*: too few points"
	[ $new -gt 0 ] || [ "$1" = status ] || fail "$*: never switched"
}

bare() {
	"$pamprof" restore > /dev/null
	age
	"$pamprof" status > /dev/null
	is_old || fail "restore does not bring back the original"
}
instrumented() {
	bare
	"$pamprof" instrument "$service" --yes > /dev/null ||
	    fail "it cannot be instrumented"
}
retired() {
	instrumented
	"$pamprof" restore > /dev/null
	age
}

# What instrument leaves when it is killed right after its switch.
broken_off() {
	instrumented
	sed -i 's/"step": "active"/"step": "switching"/' /etc/pamprof/state.json
}

