#!/bin/bash
# Without root a stack that needs none is measured all the same, and the
# report says what may differ.
set -u
BUILD=$(realpath "${BUILD:-build}")
if [ "$(id -u)" -ne 0 ]; then
	echo "run_unprivileged: skipped: needs root to become somebody else"
	exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# The build folder may be closed to others: a copy of what is needed.
cp -rL "$BUILD/pamprof" "$BUILD/modules" "$BUILD/tests/fake/pam_stub.so" \
    "$work" || exit 1
mkdir "$work/d" "$work/results"
printf '%s required pam_deny.so\n' auth account session password \
    > "$work/d/other"
printf '%s required %s/pam_stub.so auth.sleep=10 auth.prompt=Password:\n' \
    auth "$work" account "$work" > "$work/d/test"
echo "any password" > "$work/answers"
chmod -R go+rX "$work"
chown nobody "$work/results"
cd "$work/results" || exit 1
failed=0
setpriv --reuid nobody --regid nogroup --clear-groups \
    "$work/pamprof" run test --confdir ../d --phases auth,account -n 3 \
    --answers ../answers --save saved > report 2> err
status=$?
[ $status -eq 0 ] || { echo "exit status $status"; failed=1; }
grep -q "without root" report || { echo "no note"; failed=1; }
grep -q PAM_SUCCESS report || { echo "no verdict"; failed=1; }
"$work/pamprof" show saved | cmp - report || failed=1
[ $failed -eq 0 ] || cat report err

# A file that cannot be read is named; libpam would refuse the login.
echo "auth required pam_permit.so" > ../d/closed
chmod 600 ../d/closed
echo "auth include $work/d/closed" > ../d/includes
for service in closed includes; do
	setpriv --reuid nobody --regid nogroup --clear-groups \
	    "$work/pamprof" run $service --confdir ../d --phases auth \
	    > report 2> err
	status=$?
	if [ $status -ne 3 ] || ! grep -q "d/closed" err; then
		echo "$service: exit status $status"
		cat err
		failed=1
	fi
done
exit $failed
