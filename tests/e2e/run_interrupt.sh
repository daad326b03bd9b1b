#!/bin/bash
# Interrupted or killed, pamprof run leaves no process and no folder behind,
# and what a module leaves is ended as well.
set -u
BUILD=$(realpath "${BUILD:-build}")
stub=$BUILD/tests/fake/pam_stub.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir d
printf '%s required pam_deny.so\n' auth account session password > d/other
echo "auth required $stub auth.loop" > d/hang
echo "auth required pam_permit.so" > d/good
echo "auth required pam_exec.so $work/daemon" > d/daemon
cat > daemon << 'END'
#!/bin/sh
setsid sh -c 'echo $$ > pid; exec sleep 1000' > /dev/null 2>&1 &
while ! [ -s pid ]; do sleep 0.05; done
END
chmod +x daemon
failed=0
fail() {
	echo "run_interrupt: $*"
	failed=1
}

# A process that has ended may wait for an init that is slow to reap it.
lives() {
	[ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2> /dev/null
}

# Under nohup(1) the signal would be ignored, as it should be.
start() {
	env --default-signal=HUP,TERM,QUIT "$BUILD/pamprof" run hang --confdir d --phases auth > out 2> err &
	pid=$!
	child=
	for _ in $(seq 100); do
		sleep 0.05
		child=$(cat "/proc/$pid/task/$pid/children" 2> /dev/null)
		folder=$(ls -d "/proc/$pid/fd" > /dev/null 2>&1 &&
		    readlink "/proc/$pid"/fd/* | grep '/pamprof\.' | head -n 1)
		[ -n "$child" ] && [ -n "$folder" ] &&
		    grep -q S "/proc/${child%% *}/stat" && break
	done
	sleep 0.3
	[ -d "$folder" ] || fail "no workspace seen"
}

for signal in TERM HUP QUIT; do
	start
	kill -$signal $pid
	wait $pid 2> /dev/null
	status=$?
	[ $status -eq $((128 + $(kill -l $signal))) ] ||
	    fail "SIG$signal: exit status $status"
	[ -e "$folder" ] && fail "SIG$signal: $folder stays"
	lives "${child%% *}" && fail "SIG$signal: the child stays"
done

# SIGKILL cannot be caught: the child dies with its parent, the next command
# removes the folder.
start
kill -KILL $pid
wait $pid 2> /dev/null
sleep 0.3
lives "${child%% *}" && fail "SIGKILL: the child stays"
"$BUILD/pamprof" run good --confdir d --phases auth > out 2> err ||
    fail "the next run failed: $(cat err)"
[ -e "$folder" ] && fail "SIGKILL: $folder stays"

# A daemon in a session of its own.
"$BUILD/pamprof" run daemon --confdir d --phases auth --yes > out 2> err ||
    fail "the daemon's run failed: $(cat err)"
[ -s pid ] || fail "the daemon did not start"
lives "$(cat pid)" && fail "the daemon stays" && kill "$(cat pid)"
exit $failed
