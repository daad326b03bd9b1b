#!/bin/bash
# Delays of 0, 1, 20 and 200 ms, asleep or busy, with and without a prompt,
# in every rule and every phase, come back within 2 % or 1 ms. The module
# itself reads the clocks around each delay, so that a busy machine, where a
# sleep ends late, does not matter; only being stopped between its reading and
# the shim's does. So a stack has three tries, and a real error fails all.
set -u
BUILD=$(realpath "${BUILD:-build}")
stub=$BUILD/tests/fake/pam_stub.so
command -v jq > /dev/null || { echo "delays: skipped: needs jq"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir d
printf '%s required pam_deny.so\n' auth account session password > d/other
delays=(0 1 20 200)
failed=0

# A stack of four rules in each group; each delay once in each phase, and in
# another rule in the next phase.
stack() {
	local kind=$1 prompt=$2 rule group phase n
	for group in "auth auth setcred" "account acct" "session open close" \
	    "password prelim update"; do
		for rule in 0 1 2 3; do
			n=$rule
			printf '%s required %s clocks' "${group%% *}" "$stub"
			for phase in ${group#* }; do
				printf ' %s.%s=%s' "$phase" "$kind" \
				    "${delays[n % 4]}"
				n=$((n + 1))
			done
			printf ' %s clocks\n' "$prompt"
		done
	done > d/test
}

# "PHASE RULE WALL CPU" of each call, by the module's own clocks.
from_module() {
	awk '$3 == "clocks" {
		if ((calls[$2]++) % 2 == 0) { wall = $4; cpu = $5; next }
		n = calls[$2] / 2 - 1
		phase = name[$2] != "" ? name[$2] : $2
		if ($2 == "setcred" && n > 3) phase = "delete_cred"
		printf "%s %d %.0f %.0f\n", phase, n % 4, $4 - wall, $5 - cpu
	}
	BEGIN {
		name["auth"] = "authenticate"; name["acct"] = "acct_mgmt"
		name["open"] = "open_session"; name["close"] = "close_session"
		name["prelim"] = "chauthtok_prelim"
		name["update"] = "chauthtok_update"
	}' trace | sort
}

# The same from the report.
from_report() {
	jq -r '.rules | group_by(.phase)[] | sort_by(.line) | to_entries[] |
	    "\(.value.phase) \(.key) \(.value.median_run.wall) \(
	    .value.median_run.split.cpu)"' report.json | sort
}

# Lines of both files that do not agree; exit status 1 if there are any.
compare() {
	paste -d ' ' truth measured | awk '
	function off(found, real) {
		off_by = found > real ? found - real : real - found
		return off_by > 1e6 && off_by > real * 0.02
	}
	$1 != $5 || $2 != $6 || off($7, $3) || off($8, $4) { print; bad = 1 }
	END { exit bad || NR != 32 }'
}

attempt() {
	rm -f trace
	PROBE_TRACE=$work/trace "$BUILD/pamprof" run test --confdir d --yes \
	    --phases auth,account,setcred,session,password --format json \
	    --answers answers > report.json 2> err || { cat err; return 1; }
	from_module > truth
	from_report > measured
	compare > wrong
}

yes answer | head -n 100 > answers
for kind in sleep burn; do
	for prompt in "" "prompt=Password:"; do
		stack $kind "$prompt"
		attempt || attempt || attempt || {
			echo "$kind $prompt: phase, rule, wall and CPU time in" \
			    "the module, the same in the report:"
			cat wrong
			failed=1
		}
	done
done
# The delays were there: each phase of the last stack was busy for 221 ms.
awk '{ cpu[$1] += $4 } END { for (p in cpu) if (cpu[p] < 221e6) exit 1 }' \
    truth || { echo "the delays were not made"; failed=1; }
exit $failed
