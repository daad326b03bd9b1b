#!/bin/bash
# A password is written nowhere: not in a report, message, saved file, other
# file, command line or environment, whichever way it comes in and however
# the login ends.
set -u
BUILD=$(realpath "${BUILD:-build}")
stub=$BUILD/tests/fake/pam_stub.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir d results
printf '%s required pam_deny.so\n' auth account session password > d/other
failed=0
# In a file only, so that no command line of ours holds it.
echo "Qx4.never-$$-written" > secret
password=$(cat secret)

stack() {
	{
		echo "auth required $stub auth.prompt=Password:"
		echo "auth required pam_unix.so use_first_pass nodelay"
		echo "auth required $stub $1"
	} > d/test
}

look() {
	if grep -raqF -f secret results 2> /dev/null; then
		echo "$1: the password is in $(grep -ralF -f secret results)"
		failed=1
	fi
}

run() {
	"$BUILD/pamprof" run test --confdir d --phases auth \
	    -u root --timeout 2s --save results/saved "$@" \
	    > results/out 2> results/err
}

# shellcheck disable=SC2043
for end in "" auth=auth_err auth.crash auth.exit=3 auth.sleep=1; do
	stack "$end"
	for format in tree json; do
		run --answers secret --format $format
		look "--answers, $end, $format"
		run --password-fd 5 --format $format 5< secret
		look "--password-fd, $end, $format"
		run --password-fd 0 -n 3 --in-process < secret
		look "--password-fd 0, $end, $format"
	done
	"$BUILD/pamprof" show results/saved > results/shown
	"$BUILD/pamprof" show results/saved --format json > results/json
	look "show, $end"
done

# While it runs: every command line and environment there is, and the files
# it works with.
stack auth.loop
run --answers secret &
pid=$!
sleep 0.7
cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ > results/processes 2> /dev/null
cp -r /dev/shm/pamprof.* /run/pamprof.* results 2> /dev/null
look "while it runs"
wait $pid
[ $? -eq 1 ] || { echo "the run that hangs was not given up"; failed=1; }

# The look itself works.
echo "$password" > results/proof
grep -raqF -f secret results || { echo "nothing would be found"; failed=1; }
exit $failed
