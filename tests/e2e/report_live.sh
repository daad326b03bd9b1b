#!/bin/bash
# Real logins through instrumented services, read from the ring while it is
# in use: sshd by key, password and keyboard-interactive (a child
# authenticates, the session is its parent's), right and wrong, ten at once,
# and su. Each is one whole login, with its user; no password anywhere.
set -u
# shellcheck source=tests/e2e/private.bash
. "$(dirname "$0")/private.bash" "$@"
sshd=/usr/sbin/sshd
need $sshd
need ssh
need sshpass
need jq
secret=Zq7.live-$$-secret
new_user pp-live "$secret"
mkdir -p /run/sshd
for key in host user; do
	ssh-keygen -q -t ed25519 -N '' -f "$work/$key"
done
mkdir -m 700 /home/pp-live/.ssh
cp "$work/user.pub" /home/pp-live/.ssh/authorized_keys
chown -R pp-live: /home/pp-live/.ssh

# Shims lie beside the modules: here, beside copies that go with us.
cp -a "$BUILD/modules" "$work/modules" &&
    mount --bind "$work/modules" "$BUILD/modules" || exit 1

"$BUILD/pamprof" instrument sshd su --yes > "$work/instrument" 2>&1 ||
    { cat "$work/instrument"; fail "instrument"; exit 1; }

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
			MaxStartups 100
			PidFile none
		END
		$sshd -D -e -f "$work/config" 2> "$work/log" &
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

# login METHOD PASSWORD
login() {
	SSHPASS=$2 sshpass -e ssh -p "$port" -i "$work/user" \
	    -o PreferredAuthentications="$1" -o NumberOfPasswordPrompts=1 \
	    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
	    -o LogLevel=ERROR pp-live@127.0.0.1 'id -un' 2> /dev/null
}

start_sshd
{
	login publickey -
	login password "$secret"
	login keyboard-interactive "$secret"
	login password "wrong-$secret"
	login keyboard-interactive "wrong-$secret"
	su pp-live -c 'id -un'
} > "$work/single"
for _ in 1 2 3 4 5 6 7 8 9 10; do
	login password "$secret" &
	waited="${waited:-} $!"
done > "$work/many"
wait $waited
kill $server
wait $server
[ "$(grep -c '^pp-live$' "$work/single")" = 4 ] || fail "logins: $(cat "$work/single")"
[ "$(grep -c '^pp-live$' "$work/many")" = 10 ] || fail "not ten logins at once"

report() {
	"$BUILD/pamprof" report "$@" 2>> "$work/errors" || fail "report $*"
}
report --format json > "$work/report.json"
ask() {
	jq -e "$1" "$work/report.json" > /dev/null ||
	    fail "$2: $(jq -c "$3" "$work/report.json")"
}
ask '.lost == 0' "records were lost" .losses
ask '.unfinished == []' "a call did not end" .unfinished
ask '.totals.logins == 16' "not sixteen logins" .totals
ask '.totals.failed == 2' "not two refused" '[.logins[].verdict]'
ask '[.logins[] | select(.user == "pp-live")] | length == 14' \
    "not fourteen logins of the user" '[.logins[].user]'
ask '[.logins[] | select(.verdict != "PAM_SUCCESS") | .user] == [null, null]' \
    "a refused login has a user" '[.logins[] | {user, verdict}]'
ask '.totals.joined_by_process <= 1' "too many were guessed" .totals
ask '[.groups[] | select(.file == null)] == []' "a rule has no name" \
    '[.groups[] | select(.file == null) | .key]'
# A refused password waits for the fail delay outside of the modules; two
# seconds in pam_unix itself are none of ours.
ask '[.logins[] | select(.service == "su")] | length == 1' "su" '[.logins[].service]'

# One of them as a tree: every phase, both processes where there are two.
for id in $(jq -r '.logins[] | select(.verdict == "PAM_SUCCESS") | .id' \
    "$work/report.json"); do
	report --login "$id" > "$work/tree"
	for phase in acct_mgmt open_session close_session; do
		grep -q "$phase" "$work/tree" ||
		    { fail "$id: no $phase"; cat "$work/tree"; }
	done
done
report > "$work/text"
report --format jsonl > "$work/spans"
[ "$(wc -l < "$work/spans")" = "$(jq .totals.calls "$work/report.json")" ] ||
    fail "spans: $(wc -l < "$work/spans")"
if grep -raqF "$secret" "$work/text" "$work/spans" "$work/report.json" \
    /run/pamprof; then
	fail "a password was written"
fi
"$BUILD/pamprof" restore --yes > "$work/restore" 2>&1 ||
    { cat "$work/restore"; fail "restore"; }
if [ $failed = 1 ]; then
	cat "$work/text" "$work/errors"
fi
exit $failed
