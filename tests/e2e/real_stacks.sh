#!/bin/bash
# pamprof run gives the verdict that pamtester gives, on the real stacks of
# this machine with the real pam_unix: right and wrong password, locked and
# expired account. The password appears nowhere.
set -u
# shellcheck source=tests/e2e/private.bash
. "$(dirname "$0")/private.bash" "$@"
need pamtester
need jq
mkdir -m 700 "$work/tmp"

# Unlikely words: they are looked for in everything that was written.
right=Zq7.right-$$-secret
wrong=Zq7.wrong-$$-secret
fresh=Zq7.fresh-$$-Secret8
for user in good locked expired aged; do
	new_user "pp-$user" "$right"
done
passwd --quiet --lock pp-locked
chage --expiredate 1 pp-expired
chage --lastday 0 pp-aged

# What pamtester says on stderr, as the name of a value of PAM.
name_of() {
	case $1 in
	*"Authentication failure"*) echo PAM_AUTH_ERR ;;
	*"Permission denied"*) echo PAM_PERM_DENIED ;;
	*"User account has expired"*) echo PAM_ACCT_EXPIRED ;;
	*"no longer valid"*) echo PAM_NEW_AUTHTOK_REQD ;;
	*"User not known"*) echo PAM_USER_UNKNOWN ;;
	*"Authentication service cannot"*) echo PAM_AUTHINFO_UNAVAIL ;;
	*"Authentication token manipulation"*) echo PAM_AUTHTOK_ERR ;;
	*"Have exhausted"*) echo PAM_MAXTRIES ;;
	*"Cannot make/remove"*) echo PAM_SESSION_ERR ;;
	"") echo PAM_SUCCESS ;;
	*) echo "unknown: $1" ;;
	esac
}

# check SERVICE USER PHASE-OF-PAMPROF "CALLS OF PAMTESTER" ANSWER...
# Both sleep after a failure: they run side by side.
check() {
	local service=$1 user=$2 phases=$3 calls=$4 tmp expected got wanted status
	shift 4
	tmp=$(mktemp -d -p "$work/tmp")
	printf '%s\n' "$@" > "$tmp/answers"
	# shellcheck disable=SC2086
	pamtester "$service" "$user" $calls < "$tmp/answers" \
	    > "$tmp/pamtester.out" 2> "$tmp/pamtester.err" &
	"$BUILD/pamprof" run "$service" -u "$user" --phases "$phases" \
	    --answers "$tmp/answers" --yes -o "$tmp/report.json" \
	    --save "$tmp/saved" > "$tmp/out" 2> "$tmp/err"
	status=$?
	wait
	rm "$tmp/answers"
	expected=$(name_of "$(grep -ao 'pamtester: .*' "$tmp/pamtester.err")")
	got=$(jq -r '[.phases[].verdict | select(. != "PAM_SUCCESS")][0]
	    // "PAM_SUCCESS"' "$tmp/report.json")
	wanted=0
	[ "$expected" = PAM_SUCCESS ] || wanted=1
	if [ "$got" != "$expected" ] || [ $status -ne $wanted ]; then
		fail "$service for $user, $phases: pamtester $expected," \
		    "pamprof $got, exit $status"
		cat "$tmp/err"
	fi
	"$BUILD/pamprof" show "$tmp/saved" --format json |
	    cmp -s - "$tmp/report.json" ||
	    fail "$service for $user: show differs from run"
	"$BUILD/pamprof" show "$tmp/saved" > "$tmp/tree"
	if grep -raqF -e "$right" -e "$wrong" -e "$fresh" "$tmp" /var/log; then
		fail "$service for $user: a password was written"
	fi
}

check_service() {
	local service=$1 user
	for user in good locked expired aged nobody-of-that-name; do
		check "$service" "pp-$user" auth,account \
		    "authenticate acct_mgmt" "$right" "$right"
	done
	for user in good locked; do
		check "$service" "pp-$user" auth,account \
		    "authenticate acct_mgmt" "$wrong" "$wrong"
	done
	check "$service" pp-good account,session \
	    "acct_mgmt open_session close_session" ""
	exit $failed
}

for service in login su sudo sshd; do
	check_service $service &
	jobs="${jobs:-} $!"
done
for job in $jobs; do
	wait "$job" || failed=1
done
check passwd pp-good password chauthtok "$fresh" "$fresh"
check passwd pp-good password chauthtok "$fresh" "$wrong"
echo "real_stacks: $(find "$work/tmp" -name report.json | wc -l)" \
    "comparisons with pamtester"
exit $failed
