#!/bin/sh
# The demonstration that the README begins with: which rule is slow?
#
#	configs/demo.sh [FOLDER OF THE BUILT PROGRAM]
#
# First a bundled stack, by anybody; then, for root, this machine's own login
# stack and a throw-away user. The second runs on a copy of /etc in a mount
# namespace of its own, with /run and /var/log empty: nothing stays behind.
set -eu

build=${1:-build}
here=$(dirname "$0")
user=pamprof-demo

show() {
	printf '\n$ %s\n\n' "$*"
}

bundled_stack() {
	show "pamprof run --stack configs/stacks/sshd-2000 -n 3 --yes"
	"$build/pamprof" run --stack "$here/stacks/sshd-2000" -n 3 --yes
}

# In the namespace; $1 is an empty folder.
own_login() {
	mount -t tmpfs -o mode=0700 tmpfs "$1"
	cp -a /etc "$1/etc"
	mount --bind "$1/etc" /etc
	mount -t tmpfs tmpfs /var/log
	mount -t tmpfs tmpfs /run
	useradd --no-create-home --home-dir / --shell /bin/sh "$user" 2>&-
	password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
	printf '%s:%s\n' "$user" "$password" | chpasswd
	show "pamprof run login -u $user --password-fd 3 --yes"
	"$build/pamprof" run login -u "$user" --password-fd 3 --yes 3<<-END
		$password
	END
}

case ${2:-} in
--in-namespace)
	own_login "$3"
	exit
	;;
esac

bundled_stack
if [ "$(id -u)" -ne 0 ]; then
	printf '\nAs root, this goes on with the login stack of the machine.\n'
	exit 0
fi
if ! unshare --mount --propagation private true 2>&-; then
	printf '\nNo mount namespace to be had here: the login stack of this '
	printf 'machine is left alone.\n'
	exit 0
fi
folder=$(mktemp -d)
trap 'rmdir "$folder"' EXIT
unshare --mount --propagation private sh "$0" "$build" --in-namespace "$folder"
