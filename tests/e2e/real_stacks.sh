#!/bin/bash
# pamprof run gives the verdict that pamtester gives, on the real stacks of
# this machine with the real pam_unix: right and wrong password, locked and
# expired account. The password appears nowhere.
set -u
BUILD=$(realpath "${BUILD:-build}")
if [ "$(id -u)" -ne 0 ]; then
	echo "real_stacks: skipped: needs root for a private /etc"
	exit 77
fi
if [ "${1:-}" != --inside ]; then
	work=$(mktemp -d)
	unshare --mount --propagation private bash "$0" --inside "$work"
	status=$?
	rmdir "$work"
	exit $status
fi

work=$2
mount -t tmpfs -o mode=0700 tmpfs "$work"
cp -a /etc "$work/etc" && mount --bind "$work/etc" /etc || exit 1
mount -t tmpfs tmpfs /var/log
mount -t tmpfs tmpfs /run
mkdir -p "$work/tmp"

# Unlikely words: they are looked for in everything that was written.
right=Zq7.right-$$-secret
wrong=Zq7.wrong-$$-secret
fresh=Zq7.fresh-$$-Secret8
for user in good locked expired aged; do
	useradd --no-create-home --home-dir / --shell /bin/sh "pp-$user" 2>/dev/null
	echo "pp-$user:$right" | chpasswd
done
passwd --quiet --lock pp-locked
chage --expiredate 1 pp-expired
chage --lastday 0 pp-aged

failed=0
fail() {
	echo "real_stacks: $*"
	failed=1
}

# What pamtester says, as the name of a value of PAM.
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
	*"System error"*) echo PAM_SYSTEM_ERR ;;
	*"Module is unknown"*) echo PAM_MODULE_UNKNOWN ;;
	*"Cannot make/remove"*) echo PAM_SESSION_ERR ;;
	*successfully*) echo PAM_SUCCESS ;;
	*) echo "unknown: $1" ;;
	esac
}

# check SERVICE USER PHASE-OF-PAMPROF "CALLS OF PAMTESTER" LAST-PHASE ANSWER...
check() {
	local service=$1 user=$2 phases=$3 calls=$4
	shift 4
	printf '%s\n' "$@" > "$work/tmp/answers"
	# shellcheck disable=SC2086
	said=$(pamtester "$service" "$user" $calls < "$work/tmp/answers" 2>&1 |
	    tail -n 1)
	expected=$(name_of "$said")
	"$BUILD/pamprof" run "$service" -u "$user" --phases "$phases" \
	    --answers "$work/tmp/answers" --yes -o "$work/tmp/report.json" \
	    --save "$work/tmp/saved" > "$work/tmp/out" 2> "$work/tmp/err"
	status=$?
	rm "$work/tmp/answers"
	got=$(jq -r '[.phases[].verdict | select(. != "PAM_SUCCESS")][0]
	    // "PAM_SUCCESS"' "$work/tmp/report.json")
	wanted=0
	[ "$expected" = PAM_SUCCESS ] || wanted=1
	if [ "$got" != "$expected" ] || [ $status -ne $wanted ]; then
		fail "$service for $user, $phases: pamtester $expected," \
		    "pamprof $got, exit $status"
		cat "$work/tmp/err"
	fi
	"$BUILD/pamprof" show "$work/tmp/saved" --format json |
	    cmp -s - "$work/tmp/report.json" ||
	    fail "$service for $user: show differs from run"
	"$BUILD/pamprof" show "$work/tmp/saved" > "$work/tmp/tree"
	if grep -raqF -e "$right" -e "$wrong" -e "$fresh" "$work/tmp" /var/log
	then
		fail "$service for $user: a password was written"
	fi
	count=$((count + 1))
}

count=0
for service in login su sudo sshd; do
	for user in good locked expired aged nobody-of-that-name; do
		for word in "$right" "$wrong"; do
			check $service "pp-$user" auth,account \
			    "authenticate acct_mgmt" "$word" "$word"
		done
	done
	check $service pp-good account,session \
	    "acct_mgmt open_session close_session" ""
done
check passwd pp-good password chauthtok "$fresh" "$fresh"
check passwd pp-good password chauthtok "$fresh" "$wrong"
echo "real_stacks: $count comparisons with pamtester"
exit $failed
