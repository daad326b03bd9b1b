#!/bin/bash
# No unprivileged process ever holds the ring: sessions of sshd (command, pty,
# internal-sftp, keyboard-interactive), su, sudo, cron and login over wrapped
# stacks are kept open while every process is looked at, and all processes
# are watched over the whole time. And their calls are recorded.
set -u
# A process namespace, so that nothing outlives the script and /proc is ours.
if [ "$(id -u)" -eq 0 ] && [ "$$" -ne 1 ] && [ "${1:-}" != --inside ]; then
	unshare --pid --fork --kill-child --mount-proc bash "$0"
	exit $?
fi
# shellcheck source=tests/e2e/private.bash
. "$(dirname "$0")/private.bash" "$@"
for program in /usr/sbin/sshd ssh sftp sshpass sudo /usr/sbin/cron login script; do
	need $program
done
fake=$BUILD/tests/fake
secret=Zq7.held-$$-secret
ring=/run/pamprof/ring
# What sshd, sudo, cron and mail keep elsewhere.
for folder in /var/spool/cron /var/mail /var/lib/sudo; do
	[ -d $folder ] && mount -t tmpfs -o mode=0755 tmpfs $folder
done
mkdir -m 700 /run/pamprof
mkdir -p /run/sshd /var/spool/cron/crontabs
touch /var/log/wtmp /var/log/btmp /var/log/lastlog /run/utmp
new_user pp-held "$secret"
new_user pp-other "$secret"
echo 'pp-held ALL=(ALL) ALL' > /etc/sudoers
chmod 440 /etc/sudoers

mkdir "$work/wrapped"
"$fake/stack_wrap" "$work/wrapped" $ring sshd su su-l sudo cron login ||
    exit 1
"$fake/ring_watch" always $ring > "$work/wrong" &
watcher=$!

# Waits up to ten seconds for a command to succeed.
await() {
	for _ in $(seq 200); do
		"$@" && return
		sleep 0.05
	done
	fail "in vain: $*"
	return 1
}

# Whether a process of this name runs for this user.
runs() {
	pgrep -u "$1" -x "$2" > /dev/null
}

# check WHAT USER PROGRAM: the session is up, and who holds the ring.
check() {
	await runs "$2" "$3" || return
	"$fake/ring_watch" once $ring > "$work/holders" ||
	    fail "$1: an unprivileged process holds the ring: $(cat "$work/holders")"
	echo "$1: $(wc -l < "$work/holders") hold it: $(tr '\n' ';' < "$work/holders")"
}

# The session's own program ends, and with it the session.
finish() {
	kill "$(pgrep -u "$1" -x "$2")"
	await eval "! runs $1 $2"
}

# ---- sshd -----------------------------------------------------------------
for key in host user; do
	ssh-keygen -q -t ed25519 -N '' -f "$work/$key"
done
mkdir -m 700 /home/pp-held/.ssh
cp "$work/user.pub" /home/pp-held/.ssh/authorized_keys
chown -R pp-held: /home/pp-held/.ssh

start_sshd() {
	for _ in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 20000))
		cat > "$work/config" <<-END
			Port $port
			ListenAddress 127.0.0.1
			HostKey $work/host
			UsePAM yes
			KbdInteractiveAuthentication yes
			Subsystem sftp internal-sftp
			PidFile none
		END
		/usr/sbin/sshd -D -e -f "$work/config" 2> "$work/log" &
		server=$!
		for _ in $(seq 100); do
			grep -q 'Server listening' "$work/log" && return
			kill -0 $server 2> /dev/null || break
			sleep 0.05
		done
	done
	fail "sshd does not start: $(cat "$work/log")"
	exit 1
}
start_sshd
options=(-i "$work/user" -o StrictHostKeyChecking=no -o LogLevel=ERROR
	-o UserKnownHostsFile=/dev/null)

ssh -p "$port" "${options[@]}" pp-held@127.0.0.1 'exec sleep 98' < /dev/null &
check "ssh command" pp-held sleep
finish pp-held sleep
wait $!

ssh -tt -p "$port" "${options[@]}" pp-held@127.0.0.1 \
    < <(echo 'exec sleep 97'; exec sleep 30) > /dev/null &
check "ssh pty" pp-held sleep
finish pp-held sleep
wait $!

mkfifo "$work/orders"
sftp -q -b "$work/orders" -P "$port" "${options[@]}" pp-held@127.0.0.1 \
    > "$work/sftp" 2>&1 &
client=$!
exec 7> "$work/orders"
echo pwd >&7
await grep -q /home/pp-held "$work/sftp"
check "sftp" pp-held sshd
exec 7>&-
wait $client

SSHPASS=$secret sshpass -e ssh -p "$port" "${options[@]}" \
    -o PreferredAuthentications=keyboard-interactive pp-held@127.0.0.1 \
    'exec sleep 96' < /dev/null &
check "ssh keyboard-interactive" pp-held sleep
finish pp-held sleep
wait $!
kill $server
wait $server

# ---- su, sudo -------------------------------------------------------------
su pp-held -c 'exec sleep 95' &
check "su" pp-held sleep
finish pp-held sleep
wait $! 2> /dev/null

su - pp-held -c 'exec sleep 94' &
check "su -" pp-held sleep
finish pp-held sleep
wait $! 2> /dev/null

setpriv --reuid pp-held --regid pp-held --init-groups \
    sudo -S -p '' -u pp-other sleep 93 <<< "$secret" &
check "sudo" pp-other sleep
finish pp-other sleep
wait $! 2> /dev/null

# ---- cron -----------------------------------------------------------------
echo '@reboot exec sleep 92' > /var/spool/cron/crontabs/pp-held
chown pp-held:crontab /var/spool/cron/crontabs/pp-held
chmod 600 /var/spool/cron/crontabs/pp-held
/usr/sbin/cron -f &
daemon=$!
check "cron" pp-held sleep
finish pp-held sleep
sleep 0.3 # cron's child ends the session when the job has gone
kill $daemon
wait $daemon 2> /dev/null

# ---- login ----------------------------------------------------------------
mkfifo "$work/keys"
script -q -f -c login "$work/typescript" < "$work/keys" > /dev/null &
terminal=$!
exec 7> "$work/keys"
await grep -q 'login:' "$work/typescript"
echo pp-held >&7
await grep -q 'Password:' "$work/typescript"
sleep 0.2 # the terminal is flushed after the prompt
echo "$secret" >&7
await runs pp-held sh
echo 'exec sleep 91' >&7
check "login" pp-held sleep
finish pp-held sleep
exec 7>&-
wait $terminal

# ---- What was seen --------------------------------------------------------
kill $watcher
wait $watcher
[ -s "$work/wrong" ] && fail "held by: $(sort -u "$work/wrong")"
"$fake/ring_watch" calls $ring > "$work/calls" || fail "records were lost"
sort "$work/calls" | uniq -c > "$work/counts"

# recorded SERVICE PHASE...
recorded() {
	local service=$1 phase
	shift
	for phase; do
		grep -q " $service $phase\$" "$work/counts" ||
		    fail "no $phase of $service: $(cat "$work/counts")"
	done
}
all="authenticate acct_mgmt setcred open_session close_session"
recorded sshd $all
recorded su $all
recorded su-l $all
recorded sudo authenticate acct_mgmt open_session close_session
recorded cron acct_mgmt setcred open_session close_session
recorded login authenticate acct_mgmt open_session close_session
grep -qaF "$secret" $ring && fail "a password is in the ring"
exit $failed
