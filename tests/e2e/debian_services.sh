#!/bin/bash
# Every service that some forty Debian packages ship is parsed, rewritten and
# read back to the same rules, for both grammars of libpam. The packages are
# unpacked into a folder of their own, nothing is installed. They come from
# the network, so this runs only when it is asked for:
#
#   ONLINE=1 bash tests/e2e/debian_services.sh
set -u
BUILD=$(realpath "${BUILD:-build}")
dump=$BUILD/tests/fake/stack_dump
# Packages with services, and libpam with its modules for them to find.
packages="at cinnamon-screensaver cockpit-ws cron cups-daemon cyrus-common
	freeradius gdm3 gnome-screensaver greetd i3lock libpam-modules
	libpam-runtime libpam0g lightdm login lxdm mate-screensaver monit nodm
	ocserv openssh-server passwd polkitd popa3d ppp pure-ftpd-common
	rsh-redone-server rsh-server samba-common sddm solid-pop3d sudo
	swaylock util-linux vsftpd wdm xdm xrdp xscreensaver"
enough=25

skip() {
	echo "debian_services: skipped: $*"
	exit 77
}
[ -n "${ONLINE:-}" ] || skip "needs the network; set ONLINE=1"
command -v apt-get dpkg-deb > /dev/null || skip "needs apt-get and dpkg-deb"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir -p lists/partial archives/partial root

# Nothing of the host's apt is changed: lists and packages are ours.
apt() {
	local command=$1
	shift
	command "$command" -qq -o Dir::State::lists="$work/lists" \
	    -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives" \
	    -o APT::Sandbox::User=root "$@" 2> apt.err
}
apt apt-get update || skip "no package lists: $(tail -n 1 apt.err)"
apt apt-cache pkgnames | sort > names
# shellcheck disable=SC2086 # one word per package
wanted=$(printf '%s\n' $packages | sort | comm -12 - names)
# shellcheck disable=SC2086 # one word per package
apt apt-get download $wanted || skip "no packages: $(tail -n 1 apt.err)"

failed=0
fail() {
	echo "debian_services: $*"
	failed=1
}

for package in ./*.deb; do
	dpkg-deb -x "$package" root || fail "cannot unpack $package"
done
count=$(find . -maxdepth 1 -name '*.deb' | wc -l)
[ "$count" -ge $enough ] || skip "only $count packages could be had"
# What most services include is made on the host by pam-auth-update.
for part in auth account session session-noninteractive password; do
	cp /etc/pam.d/common-$part root/etc/pam.d/ || fail "no common-$part"
done

# check SERVICE MINOR: prints how many rules were wrapped.
check() {
	local copies=$work/copies
	rm -rf "$copies" && mkdir "$copies"
	"$dump" --root root --minor "$2" --rewrite "$copies" "$1" \
	    > before 2> before.err || { fail "$1: $(tail -n 1 before.err)"; return; }
	"$dump" --confdir "$copies" --minor "$2" "$1" > after 2> after.err ||
	    { fail "$1 read back: $(tail -n 1 after.err)"; return; }
	cmp -s before after ||
	    { fail "$1 differs:"; diff before after | head -n 20; }
	total=$((total + $(cat "$copies"/* 2> /dev/null | grep -c pamprof=)))
}

services=0
total=0
for path in root/etc/pam.d/* root/usr/lib/pam.d/*; do
	[ -f "$path" ] || continue
	services=$((services + 1))
	check "$(basename "$path")" 5
	check "$(basename "$path")" 6
done
[ $services -ge $enough ] || fail "only $services services found"
# Most rules of most services name modules that libpam itself brings.
[ $total -ge $((services * 4)) ] || fail "only $total rules wrapped"
echo "debian_services: $services services of $count packages," \
    "$total rules wrapped and read back"
exit $failed
