# Sourced by scripts that need a machine of their own: the script starts again
# in a mount namespace whose /etc is a copy and whose /run, /var/log, /home
# and /dev/shm are empty. Sets $work, a folder that is gone afterwards.
# Services and users may be made at will; processes are the script's own.
BUILD=$(realpath "${BUILD:-build}")
name=$(basename "$0" .sh)
if [ "$(id -u)" -ne 0 ]; then
	echo "$name: skipped: needs root for a private /etc"
	exit 77
fi
if ! unshare --mount --propagation private true 2> /dev/null; then
	echo "$name: skipped: no mount namespace to be had (in a chroot whose" \
	    "root is no mount point?)"
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
mount -t tmpfs -o mode=0755 tmpfs "$work"
cp -a /etc "$work/etc" && mount --bind "$work/etc" /etc || exit 1
for folder in /run /var/log /home /dev/shm; do
	mount -t tmpfs -o mode=0755 tmpfs $folder
done

failed=0
fail() {
	echo "$name: $*"
	failed=1
}

# Whether the program is there; the script cannot run without it.
need() {
	command -v "$1" > /dev/null && return
	echo "$name: skipped: needs $1"
	exit 77
}

# new_user NAME PASSWORD
new_user() {
	useradd --create-home --shell /bin/sh "$1" 2> /dev/null
	echo "$1:$2" | chpasswd
}
