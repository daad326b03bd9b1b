#!/bin/bash
# What pamprof run says to input it cannot use, and with which exit status.
# Nothing of it may hang, crash or leave anything behind.
set -u
BUILD=$(realpath "${BUILD:-build}")
stub=$BUILD/tests/fake/pam_stub.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# check STATUS TEXT ARGUMENT...: exit status, and a part of stderr ("": any).
check() {
	local status=$1 text=$2 got
	shift 2
	timeout 30 setsid -w "$BUILD/pamprof" run "$@" \
	    > out 2> err < /dev/null
	got=$?
	if [ $got -ne "$status" ] ||
	    { [ -n "$text" ] && ! grep -qF -e "$text" err; }; then
		echo "run $*: exit $got, expected $status and \"$text\":"
		cat err
		failed=1
	fi
	if [ "$status" -ge 2 ] && [ -s out ]; then
		echo "run $*: something on stdout without a report"
		failed=1
	fi
}

mkdir d
printf '%s required pam_deny.so\n' auth account session password > d/other
echo 'auth required pam_permit.so' > d/good
echo "auth required $stub auth.prompt=Password:" > d/asks
printf '@include %s/d/loop\n' "$work" > d/loop
mkdir d/folder
mkfifo d/fifo
head -c 2000000 /dev/zero | tr '\0' '#' > d/large
printf 'one line\n' > answers
head -c 100000 /dev/zero > long
echo 'auth required pam_exec.so /bin/true' > d/exec
good=(good --confdir d --phases auth)

check 2 "which service?"
check 2 "passwd" # one of the services it lists
check 2 "one service at a time" good other
check 3 "no service" no-such-service
check 3 "" no-such-service --confdir d
check 3 "" good --confdir /nonexistent
check 3 "" --stack /nonexistent
check 3 "" --stack d/folder
check 3 "" --stack d/fifo
check 3 "" --stack d/large
check 3 "includes itself" loop --confdir d
check 2 "no phase \"sessions\"" "${good[@]}" --phases auth,sessions
check 2 "--runs" "${good[@]}" -n 0
check 2 "--runs" "${good[@]}" -n -1
check 2 "--runs" "${good[@]}" -n 1x
check 2 "--timeout" "${good[@]}" --timeout soon
check 2 "no option" "${good[@]}" --no-such-option
check 2 "needs a value" "${good[@]}" --answers
check 2 "not both" "${good[@]}" --answers answers --password-fd 0
check 2 "no descriptor" "${good[@]}" --password-fd x
check 2 "no descriptor" "${good[@]}" --password-fd 99999999999
check 3 "--password-fd" "${good[@]}" --password-fd 77
check 3 "nofile" "${good[@]}" --answers nofile
check 3 "too long" "${good[@]}" --answers long
check 2 "unknown format" "${good[@]}" --format xml
check 3 "/nonexistent" "${good[@]}" -o /nonexistent/report
check 3 "/nonexistent" "${good[@]}" --save /nonexistent/saved
check 3 'asks "Password:"' asks --confdir d --phases auth
check 3 'no terminal' asks --confdir d --phases auth
check 3 'asks "Password:"' asks --confdir d --phases auth --answers /dev/null
check 2 "say --yes" exec --confdir d --phases auth
check 0 "runs a program" exec --confdir d --phases auth --yes
check 0 "" "${good[@]}"
check 0 "" "${good[@]}" -u no-such-user
check 1 "" other --confdir d --phases auth

# A file that was there keeps its content when nothing could be measured.
echo kept > report
check 3 'asks "Password:"' asks --confdir d --phases auth -o report
[ "$(cat report)" = kept ] || { echo "-o lost the file"; failed=1; }

# A report that cannot be written is a failure, whatever was measured.
"$BUILD/pamprof" run "${good[@]}" > /dev/full 2> err
[ $? -eq 3 ] || { echo "/dev/full was not noticed"; failed=1; }
exit $failed
