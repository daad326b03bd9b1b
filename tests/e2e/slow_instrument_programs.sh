#!/bin/bash
# Real programs with their stock stacks, bare and instrumented: what they
# print, their exit status and what they log are the same, and every rule of
# their stacks that libpam calls is in the records.
set -u
# shellcheck source=tests/e2e/private.bash
. "$(dirname "$0")/private.bash" "$@"
for program in /usr/sbin/sshd ssh sshpass sudo su expect python3 jq; do
	need $program
done
pamprof=$BUILD/pamprof
trap 'rm -rf "$BUILD"/modules/shims/{sshd,su,su-l,sudo,login,cron,passwd,runuser}.*' EXIT
secret=Zq7.programs-$$
services="sshd su-l su sudo login cron passwd runuser"
new_user pp-prog "$secret"
echo 'pp-prog ALL=(ALL) ALL' > /etc/sudoers.d/pp-prog
chmod 440 /etc/sudoers.d/pp-prog
mkdir -p /run/sshd /run/lock
touch /var/log/lastlog /var/log/wtmp /var/log/btmp

# A log daemon: every datagram to /dev/log becomes a line.
cat > "$work/log.py" <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/run/log-socket")
os.chmod("/run/log-socket", 0o666)
while True:
    data = s.recv(65536).decode("utf-8", "replace")
    with open("/run/auth.log", "a") as out:
        out.write(data.rstrip("\0\n") + "\n")
END
python3 "$work/log.py" &
logger=$!
for _ in $(seq 100); do [ -S /run/log-socket ] && break; sleep 0.05; done
# The namespace's own /dev with a /dev/log in it.
mkdir "$work/dev"
mount --rbind /dev "$work/dev"
mount -t tmpfs -o mode=0755 tmpfs /dev
for node in null zero random urandom tty; do
	touch /dev/$node && mount --bind "$work/dev/$node" /dev/$node
done
mkdir /dev/pts /dev/shm
mount --bind "$work/dev/pts" /dev/pts
ln -s pts/ptmx /dev/ptmx
ln -s /proc/self/fd /dev/fd
ln -s /run/log-socket /dev/log
mount -t tmpfs tmpfs /dev/shm

for key in host user; do
	ssh-keygen -q -t ed25519 -N '' -f "$work/$key"
done
mkdir -m 700 /home/pp-prog/.ssh
cp "$work/user.pub" /home/pp-prog/.ssh/authorized_keys
chown -R pp-prog: /home/pp-prog/.ssh
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
/usr/sbin/sshd -D -f "$work/config" &
server=$!
trap 'kill $server $logger 2> /dev/null; rm -rf "$BUILD"/modules/shims/{sshd,su,su-l,sudo,login,cron,passwd,runuser}.*' EXIT
for _ in $(seq 100); do
	(: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break
	sleep 0.05
done
sleep 1 # what sshd says of that connection is no part of what follows

# ssh_login METHOD PASSWORD [OPTION]
ssh_login() {
	SSHPASS=$2 timeout 60 sshpass -e ssh ${3:-} -p "$port" -i "$work/user" \
	    -o PreferredAuthentications="$1" -o NumberOfPasswordPrompts=1 \
	    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
	    -o LogLevel=ERROR pp-prog@127.0.0.1 'id -un; exit 7' 2>&1
	echo "ssh $1 ${3:-}: $?"
}

# type_to PROMPT ANSWER COMMAND...: a program on a terminal of its own.
type_to() {
	cat > "$work/type.exp" <<-'END'
		set timeout 15
		log_user 1
		spawn -noecho {*}[lrange $argv 2 end]
		foreach answer [split [lindex $argv 1] "|"] {
			expect {
				-re [lindex $argv 0] { after 300; send -- "$answer\r" }
				timeout { puts TIMEOUT; exec kill -9 [exp_pid]; exit 99 }
				eof { break }
			}
		}
		expect { eof {} timeout { puts TIMEOUT; exec kill -9 [exp_pid] } }
		exit [lindex [wait] 3]
	END
	expect "$work/type.exp" "$@"
	echo "$3 $4 ${5:-}: $?"
}

as_user="setpriv --reuid=pp-prog --regid=pp-prog --init-groups"
exercise() {
	ssh_login publickey -
	ssh_login publickey - -tt
	ssh_login password "$secret"
	ssh_login password wrong
	ssh_login keyboard-interactive "$secret"
	ssh_login keyboard-interactive wrong
	su pp-prog -s /bin/sh -c 'id -un; exit 5' 2>&1; echo "su: $?"
	su - pp-prog -c 'id -un; exit 6' 2>&1; echo "su -: $?"
	runuser -u pp-prog id 2>&1; echo "runuser: $?"
	type_to 'assword:' "$secret" $as_user su pp-prog -c 'exit 4'
	type_to 'assword:' wrong $as_user su pp-prog -c 'exit 4'
	type_to 'assword.*:' "$secret" $as_user sudo -k id
	type_to 'assword.*:' 'wrong|wrong|wrong' $as_user sudo -k id
	type_to 'login:|assword:|[$#] $' "pp-prog|$secret|exit 3" \
	    setsid -w -c login
	type_to 'assword:' "$secret|Neu.$secret|Neu.$secret" \
	    $as_user passwd
	type_to 'assword:' "$secret|$secret" passwd pp-prog
}

# Times, numbers of processes and ports are not part of the comparison.
plain() {
	sed -E -e 's/^<([0-9]+)>[A-Z][a-z]{2} [ 0-9:]{11} /<\1>/' \
	    -e 's/\[[0-9]+\]/[]/g' -e 's/port [0-9]+/port N/' \
	    -e 's#/dev/pts/[0-9]+|pts/[0-9]+#pts/N#g' -e 's/\r//g' \
	    -e '/[Ll]ast login/d' -e '/^Connection to /d' -e 's/[A-Z][a-z]{2} [A-Z][a-z]{2} .* on //'
}
once() {
	: > /run/auth.log
	exercise < /dev/null 2>&1 | plain > "$work/$1.out"
	sleep 1 # the last lines of processes that have just ended
	# Processes of one login write at the same time.
	plain < /run/auth.log | sort > "$work/$1.log"
}

cp -a /etc/pam.d "$work/pam.d"
once bare
once again # what is not the same even without us is no difference
"$pamprof" instrument --yes $services > "$work/instrument" 2>&1 ||
    fail "instrument: $(cat "$work/instrument")"
once instrumented
diff "$work/bare.out" "$work/again.out" > /dev/null ||
    fail "two bare runs differ: $(diff "$work/bare.out" "$work/again.out")"
diff "$work/bare.out" "$work/instrumented.out" || fail "programs behave differently"
diff "$work/bare.log" "$work/instrumented.log" || fail "logs differ"
[ "$(grep -c '^pp-prog' "$work/instrumented.out")" -ge 6 ] ||
    fail "too few sessions: $(cat "$work/instrumented.out")"
[ "$(wc -l < "$work/instrumented.log")" -ge 20 ] || fail "the logs are short"

# The report knows every call's rule, and of each service that opened a
# session all rules of it; pam_deny is jumped over in all of them.
"$pamprof" report --by rule --format json > "$work/report.json" 2> "$work/err" ||
    fail "report: $(cat "$work/err")"
[ "$(jq '.totals.logins >= 14 and ([.groups[] | select(.file == null)] == [])' \
    "$work/report.json")" = true ] || fail "logins or rules are missing: $(
    jq -c '.totals, (.groups[] | select(.file == null))' "$work/report.json")"
for service in sshd su su-l sudo login runuser; do
	missing=$(jq -r --slurpfile report "$work/report.json" '
	    [$report[0].groups[] | select(.group == "session") |
	    "\(.file):\(.line)"] as $seen | .rules[] |
	    select(.group == "session" and .module != "pam_deny.so") |
	    "\(.file):\(.line)" | select([.] | inside($seen) | not)' \
	    /etc/pamprof/$service.[0-9]*/map.json)
	[ -z "$missing" ] || fail "$service: not in the report: $missing"
done

# Ten at once.
for i in 1 2 3 4 5 6 7 8 9 10; do
	ssh_login publickey - > "$work/ten.$i" &
	pids="${pids:-} $!"
done
wait $pids
[ "$(cat "$work"/ten.* | grep -c 'ssh publickey : 7')" -eq 10 ] ||
    fail "ten logins at once: $(cat "$work"/ten.*)"
"$pamprof" status > "$work/status" || fail "status: $(cat "$work/status")"
grep -q ' 0 of them overwritten, 0 records dropped' "$work/status" ||
    fail "records were lost: $(cat "$work/status")"

# No secret where anybody could read it.
if grep -raqF "$secret" /etc/pamprof /run/pamprof /run/auth.log; then
	fail "a password was written"
fi

"$pamprof" restore > /dev/null || fail "restore"
diff -r "$work/pam.d" /etc/pam.d || fail "the originals are not back"
exit $failed
