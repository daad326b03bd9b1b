#!/bin/bash
# pamprof trace of programs as they are: they behave as they do alone, every
# rule is found, injected delays are measured, signals and statuses pass.
set -u
# shellcheck source=tests/e2e/private.bash
. "$(dirname "$0")/private.bash" "$@"
need pamtester
need jq
stub=$BUILD/tests/fake/pam_stub.so
pamprof=$BUILD/pamprof
secret=Zq7.trace-$$-secret
new_user pp-trace "$secret"

# trace NAME COMMAND...: report in $work/NAME.json, records in $work/NAME.save
trace() {
	local to=$work/$1
	shift
	"$pamprof" trace --save "$to.save" -o "$to.json" -- "$@" \
	    > "$to.out" 2> "$to.err"
}

# Rules that were called, as "phase file:line calls".
rules() {
	jq -r '.rules[] | select(.calls > 0) |
	    "\(.phase) \(.file | split("/")[-1]):\(.line) \(.calls)"' \
	    "$work/$1.json"
}

# What a program said: without our words and what the last login changes.
said() {
	sed -e 's/pamprof: .*//' -e '/^Last login/d' "$1"
}

# same NAME INPUT COMMAND...: alone and traced, output and status agree.
same() {
	local to=$work/$1 input=$2 alone traced
	shift 2
	printf '%s' "$input" | "$@" > "$to.alone" 2> "$to.alone-err"
	alone=$?
	printf '%s' "$input" | trace "$(basename "$to")" "$@"
	traced=$?
	[ "$(said "$to.alone")" = "$(said "$to.out")" ] ||
	    fail "$*: stdout differs"
	[ "$(said "$to.alone-err")" = "$(said "$to.err")" ] ||
	    fail "$*: stderr differs"
	if [ $alone -ne 0 ]; then
		grep -q "ended with status $alone\$" "$to.err" ||
		    fail "$*: status $alone is not said"
	fi
	jq -e '[.rules[] | select(.calls > 0 and .file == null)] == []' \
	    "$to.json" > /dev/null || fail "$*: a rule was not found"
	"$pamprof" show "$to.save" --format json | cmp -s - "$to.json" ||
	    fail "$*: show differs from trace"
	return $traced
}

same su-root "" su pp-trace -c 'id -un; exit 3' || fail "su: exit $?"
for phase in authenticate acct_mgmt open_session close_session; do
	rules su-root | grep -q "^$phase " || fail "su: no $phase"
done
same login "$secret"$'\n' pamtester login pp-trace authenticate acct_mgmt \
    open_session close_session || fail "pamtester: exit $?"
rules login | grep -q '^authenticate common-auth:' || fail "login: no auth"
same wrong "wrong-$secret"$'\n' pamtester login pp-trace authenticate
[ $? -eq 1 ] || fail "a refused login is not status 1"
if command -v sudo > /dev/null; then
	echo 'root ALL=(ALL:ALL) ALL' > /etc/sudoers
	chmod 440 /etc/sudoers
	same sudo "" sudo -n -u pp-trace id -un || fail "sudo: exit $?"
	rules sudo | grep -q '^open_session ' || fail "sudo: no session"
fi

# A stack of stubs: 200 ms here and there, two rules that look the same, one
# of which a jump leaves out, and both passes of a password change.
cat > /etc/pam.d/pp-stub <<END
auth [success=1 default=ignore] $stub auth.sleep=200 setcred.sleep=50
auth required $stub same
auth required $stub auth.prompt=Password:
auth required $stub same
account required $stub acct.sleep=100
session required $stub close.sleep=150
password required $stub prelim.sleep=60 update.sleep=120
END
same stub "$secret"$'\n' pamtester pp-stub pp-trace authenticate \
    'setcred(PAM_ESTABLISH_CRED)' acct_mgmt open_session close_session \
    chauthtok || fail "stubs: exit $?"
diff - <(rules stub) <<END || fail "stubs: other calls"
authenticate pp-stub:1 1
authenticate pp-stub:3 1
authenticate pp-stub:4 1
setcred pp-stub:1 1
setcred pp-stub:3 1
setcred pp-stub:4 1
acct_mgmt pp-stub:5 1
open_session pp-stub:6 1
close_session pp-stub:6 1
chauthtok_prelim pp-stub:7 1
chauthtok_update pp-stub:7 1
END

# A sleep is never shorter; the machine may be late by a time slice or two.
delay() {
	local phase=$1 line=$2 ms=$3 ns
	ns=$(jq ".rules[] | select(.phase == \"$phase\" and .line == $line) |
	    .median_run.wall" "$work/stub.json")
	[ "${ns:-0}" -ge $((ms * 1000000)) ] &&
	    [ "$ns" -le $((ms * 1020000 + 20000000)) ] ||
	    fail "$phase, line $line: $ms ms measured as $ns ns"
}
delay authenticate 1 200
delay setcred 1 50
delay acct_mgmt 5 100
delay close_session 6 150
delay chauthtok_prelim 7 60
delay chauthtok_update 7 120
jq -e '.rules[] | select(.phase == "authenticate" and .line == 3) |
    .prompts == 1' "$work/stub.json" > /dev/null || fail "no prompt seen"

# What the stack does not say is still there, under the module's path.
mkdir "$work/empty"
echo "auth required pam_permit.so" > "$work/empty/pp-stub"
"$pamprof" trace --confdir "$work/empty" --format json -- pamtester \
    pp-stub pp-trace acct_mgmt > "$work/unknown.json" 2> /dev/null
grep -v ^pamtester "$work/unknown.json" | jq -e --arg stub "$stub" \
    '.rules[] | select(.calls > 0) | .file == null and .path == $stub' \
    > /dev/null || fail "a rule that is not in the stack is lost"

# The shim and the auditor at once see the same calls and values.
"$pamprof" trace -o "$work/both.json" -- "$pamprof" run pp-stub -u pp-trace \
    --yes -n 2 --answers <(echo "$secret") -o "$work/run.json" ||
    fail "run under trace: exit $?"
calls='[.rules[] | select(.calls > 0) |
    {phase, line, module: .module, args, calls, results, prompts}]'
diff <(jq "$calls" "$work/run.json") <(jq "$calls" "$work/both.json") ||
    fail "shim and auditor disagree"

# More functions than the auditor has stand-ins for: the program notices
# nothing, and the report says that something is missing.
mkdir "$work/copies"
for i in $(seq 90); do
	cp "$stub" "$work/copies/pam_$i.so"
	for group in account auth session password; do
		echo "$group required $work/copies/pam_$i.so"
	done
done > /etc/pam.d/pp-many
same many "" pamtester pp-many pp-trace acct_mgmt open_session \
    close_session || fail "90 modules: exit $?"
jq -e '.lost > 0 and ([.rules[].calls] | add) > 240' "$work/many.json" \
    > /dev/null || fail "90 modules: $(jq .lost "$work/many.json") lost"

# Statuses and signals.
"$pamprof" trace 2> /dev/null
[ $? -eq 2 ] || fail "no command is not status 2"
"$pamprof" trace -- "$work/none" 2> /dev/null
[ $? -eq 2 ] || fail "a command that is not there is not status 2"
"$pamprof" trace -- true 2> /dev/null
[ $? -eq 3 ] || fail "a command without PAM is not status 3"
echo "account required $stub acct.sleep=20000" > /etc/pam.d/pp-long
"$pamprof" trace -o "$work/long.json" -- pamtester pp-long root acct_mgmt \
    2> "$work/long.err" &
job=$!
until pgrep -P $job pamtester > /dev/null; do sleep 0.05; done
sleep 0.5
kill -TERM $job
wait $job
grep -q 'ended by signal 15' "$work/long.err" || fail "SIGTERM is kept"
jq -e '.failures[0].rule.path' "$work/long.json" | grep -q pam_stub ||
    fail "the module that was interrupted is not named"

if grep -raqF "$secret" "$work" --include='*.save' --include='*.json' \
    --include='*.err' --include='*.out' /var/log; then
	fail "a password was written"
fi
for folder in /dev/shm /run; do
	[ -z "$(ls -d $folder/pamprof.* 2> /dev/null)" ] ||
	    fail "$folder: a workspace was left behind"
done
exit $failed
