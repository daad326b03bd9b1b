#!/bin/bash
# The report of a run and of its recording are the same bytes, whatever the
# format and the order, and a run that failed is recorded like any other.
set -u
BUILD=$(realpath "${BUILD:-build}")
stub=$BUILD/tests/fake/pam_stub.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir d
printf '%s required pam_deny.so\n' auth account session password > d/other
failed=0

# check OPTION...: of both commands
check() {
	"$BUILD/pamprof" run test --confdir d --phases auth,account \
	    --save saved --timeout 1s "${runs[@]}" "$@" > run.out 2> err
	"$BUILD/pamprof" show saved "$@" > show.out 2>> err
	if ! cmp -s run.out show.out || ! [ -s run.out ]; then
		echo "$(cat d/test): ${runs[*]} $*: run and show differ"
		diff run.out show.out
		cat err
		failed=1
	fi
}

for last in "" auth=auth_err auth.crash auth.exit=7 auth.loop acct.sleep=3; do
	{
		echo "auth required $stub auth.sleep=2 auth.info=Welcome"
		echo "auth required pam_nobody_has_it.so" | grep "$last"
		echo "auth required $stub $last"
		echo "account required $stub $last"
	} > d/test
	for mode in once thrice in-process; do
		case $mode in
		once) runs=(-n 1) ;;
		thrice) runs=(-n 3) ;;
		*) runs=(-n 3 --in-process) ;;
		esac
		[ "$last" = auth.loop ] && [ $mode != once ] && continue
		check
		check --format json
		check --sort wall
	done
done

# Over an older and longer recording; with mode 0600.
head -c 1000000 /dev/urandom > saved
check
[ "$(stat -c %a saved)" = 644 ] || [ "$(stat -c %a saved)" = 600 ] ||
    { echo "mode of the recording"; failed=1; }
rm saved
check
[ "$(stat -c %a saved)" = 600 ] || { echo "recording not private"; failed=1; }
exit $failed
