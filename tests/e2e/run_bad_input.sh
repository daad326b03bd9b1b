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
check 2 "longer than 0" "${good[@]}" --timeout 0s
check 2 "too long" "${good[@]}" --timeout 200000d
check 3 "longer" "${good[@]}" --timeout 1ns
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
long=a-folder-with-a-name-of-more-than-forty-letters
mkdir $long
cp d/exec d/other $long
# Without a terminal, warnings are broken at 80 columns.
check 0 "  ($long/exec:1) runs a program" \
    exec --confdir $long --phases auth --yes
check 0 "" "${good[@]}"
check 0 "" "${good[@]}" -u no-such-user
check 1 "" other --confdir d --phases auth

# A file that was there keeps its content when nothing could be measured.
echo kept > report
check 3 'asks "Password:"' asks --confdir d --phases auth -o report
[ "$(cat report)" = kept ] || { echo "-o lost the file"; failed=1; }

# Nor may one output overwrite another, or what is read.
ln -sf report other-name
check 2 "of its own" "${good[@]}" --save report -o ./report
check 2 "of its own" "${good[@]}" --save report -o other-name
check 2 "of its own" --stack d/good --phases auth -o d/good
check 2 "of its own" --stack d/good --phases auth --save d/good
check 2 "of its own" "${good[@]}" --answers answers --save answers
[ "$(cat d/good answers)" = "$(printf 'auth required pam_permit.so\none line')" ] ||
    { echo "what is read was overwritten"; failed=1; }
check 0 "" "${good[@]}" --save report
cp report recording
"$BUILD/pamprof" show report -o report 2> err
[ $? -eq 2 ] && cmp -s report recording ||
    { echo "show lost the recording: $(cat err)"; failed=1; }

# A report that cannot be written is a failure, whatever was measured, and
# the reason is the one that was met first.
"$BUILD/pamprof" run "${good[@]}" > /dev/full 2> err
[ $? -eq 3 ] && grep -q "No space left" err ||
    { echo "/dev/full was not noticed: $(cat err)"; failed=1; }

# A descriptor that came closed is not taken for a file that was opened.
echo "auth required $stub auth.info=Noticed" > d/tells
tells=(tells --confdir d --phases auth --save saved)
"$BUILD/pamprof" run "${tells[@]}" >&- 2> err
[ $? -eq 3 ] || { echo "closed stdout was not noticed"; failed=1; }
"$BUILD/pamprof" run "${tells[@]}" 2>&- > out &&
    "$BUILD/pamprof" show saved 2> err | cmp - out ||
    { echo "closed stderr: $(cat err)"; failed=1; }

# A limit on the size of files is an error like others, not a signal.
(ulimit -f 0; "$BUILD/pamprof" run "${good[@]}" 2>&1 | cat > /dev/null
    exit "${PIPESTATUS[0]}")
[ $? -eq 3 ] || { echo "ulimit -f 0: not exit status 3"; failed=1; }
exit $failed
