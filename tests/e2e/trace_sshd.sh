#!/bin/bash
# pamprof trace of a real sshd: its re-executed and forked processes are
# followed, logins by key, password and keyboard-interactive (whose PAM calls
# are made by a child of the monitor) end as they do without us, every rule
# is found, and the password is nowhere.
set -u
# shellcheck source=tests/e2e/private.bash
. "$(dirname "$0")/private.bash" "$@"
sshd=/usr/sbin/sshd
need $sshd
need ssh
need sshpass
need jq
stub=$BUILD/tests/fake/pam_stub.so
secret=Zq7.sshd-$$-secret
new_user pp-ssh "$secret"
mkdir -p /run/sshd

# The machine's own stack for sshd, with one delay at the end of accounts.
echo "account required $stub acct.sleep=100" >> /etc/pam.d/sshd
line=$(wc -l < /etc/pam.d/sshd)
for key in host user; do
	ssh-keygen -q -t ed25519 -N '' -f "$work/$key"
done
mkdir -m 700 /home/pp-ssh/.ssh
cp "$work/user.pub" /home/pp-ssh/.ssh/authorized_keys
chown -R pp-ssh: /home/pp-ssh/.ssh

# A port nobody listens on; sshd fails, and we try another, if it was taken.
start_sshd() {
	for _ in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 20000))
		cat > "$work/config" <<-END
			Port $port
			ListenAddress 127.0.0.1
			HostKey $work/host
			UsePAM yes
			PasswordAuthentication yes
			KbdInteractiveAuthentication yes
			PidFile none
		END
		"$@" $sshd -D -e -f "$work/config" 2> "$work/log" &
		server=$!
		for _ in $(seq 100); do
			grep -q 'Server listening' "$work/log" && return
			kill -0 $server 2> /dev/null || break
			sleep 0.05
		done
		kill $server 2> /dev/null
		wait $server
	done
	fail "sshd does not start: $(cat "$work/log")"
	exit 1
}

# login METHOD PASSWORD: what the session says, and the status of ssh.
login() {
	SSHPASS=$2 sshpass -e ssh -p "$port" -i "$work/user" \
	    -o PreferredAuthentications="$1" -o NumberOfPasswordPrompts=1 \
	    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
	    -o LogLevel=ERROR pp-ssh@127.0.0.1 \
	    'id -un; env | grep -e LD_AUDIT -e PAMPROF; exit 7' 2> /dev/null
	echo "$1: $?"
}

logins() {
	login publickey -
	login password "$secret"
	login keyboard-interactive "$secret"
	login password "wrong-$secret"
	login keyboard-interactive "wrong-$secret"
}

# A client leaves before its session is closed, and trace ends with sshd: who
# ends sshd at once cuts pam_close_session off. sshd's children are waited for.
sessions_end() {
	for _ in $(seq 600); do
		[ -z "$(cat "/proc/$1/task/$1/children")" ] && return
		sleep 0.05
	done
	fail "a session of sshd does not end"
}

start_sshd
logins > "$work/alone"
kill $server
wait $server

start_sshd "$BUILD/pamprof" trace --save "$work/save" -o "$work/report.json" --
logins > "$work/traced"
sessions_end "$(tr -d ' ' < "/proc/$server/task/$server/children")"
kill -TERM $server
wait $server
[ $? -eq 1 ] || fail "refused logins are not status 1"

diff "$work/alone" "$work/traced" || fail "logins end differently"
[ "$(grep -c '^pp-ssh$' "$work/traced")" -eq 3 ] || fail "no session"
ask() {
	jq -e "$1" "$work/report.json" > /dev/null || fail "$2"
}
ask '.runs == 5' "there are not five logins"
ask '.service == "sshd"' "the service is not sshd"
ask '[.rules[] | select(.calls > 0 and .file == null)] == []' \
    "a rule was not found"
ask '.lost == 0' "records were lost"
ask '.failures // [] | length == 0' "a call did not end"
verdicts() {
	jq -r ".phases[] | select(.phase == \"$1\") | .verdicts |
	    to_entries | map(\"\(.key) \(.value)\") | join(\", \")" "$work/report.json"
}
[ "$(verdicts authenticate)" = "PAM_SUCCESS 2, PAM_AUTH_ERR 2" ] ||
    fail "authenticate: $(verdicts authenticate)"
[ "$(verdicts acct_mgmt)" = "PAM_SUCCESS 3" ] ||
    fail "acct_mgmt: $(verdicts acct_mgmt)"
[ "$(verdicts open_session)" = "PAM_SUCCESS 3" ] ||
    fail "open_session: $(verdicts open_session)"
[ "$(verdicts close_session)" = "PAM_SUCCESS 3" ] ||
    fail "close_session: $(verdicts close_session)"
# The monitor and the child that becomes the user both establish credentials.
[ "$(verdicts setcred)" = "PAM_SUCCESS 6" ] ||
    fail "setcred: $(verdicts setcred)"
ask '[.rules[] | select(.phase == "authenticate") | .prompts] | add == 4' \
    "the prompts of four logins were not seen"

# A sleep is never shorter; the machine may be late by a time slice or two.
ask ".rules[] | select(.phase == \"acct_mgmt\" and .line == $line) |
    .calls == 3 and .wall.min >= 100000000 and .wall.median <= 122000000" \
    "100 ms are measured as $(jq -c ".rules[] |
    select(.phase == \"acct_mgmt\" and .line == $line) | .wall" "$work/report.json")"

"$BUILD/pamprof" show "$work/save" --format json | cmp -s - "$work/report.json" ||
    fail "show differs from trace"
if grep -raqF "$secret" "$work/save" "$work/report.json" "$work/log" \
    "$work/traced" /var/log; then
	fail "a password was written"
fi
[ -z "$(ls -d /dev/shm/pamprof.* 2> /dev/null)" ] ||
    fail "a workspace was left behind"
exit $failed
