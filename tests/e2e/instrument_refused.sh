#!/bin/bash
# What instrument must refuse or survive: full, read-only and noexec file
# systems, immutable files, links, shared files, edits, missing pieces; and
# what the next command and the guard mend.
set -u
# shellcheck source=tests/e2e/private.bash
. "$(dirname "$0")/private.bash" "$@"
need setfattr
need setfacl
need chattr
pamprof=$BUILD/pamprof
shims=$BUILD/modules/shims
service=pp-refused-$$
file=/etc/pam.d/$service
trap 'rm -rf "$shims/$service"*' EXIT
# What follows may mount over it.
outside=$(mktemp -d /var/tmp/pamprof-test.XXXXXX)
trap 'chattr -i "$outside"/* 2> /dev/null; rm -rf "$outside" "$shims/$service"*' EXIT

write_service() {
	cat > "$file" <<-'END'
		auth	sufficient	pam_rootok.so
		auth	required	pam_permit.so
		@include pp-include
		session	optional	pam_env.so readenv=1
	END
}
printf 'account\trequired\tpam_permit.so\n' > /etc/pam.d/pp-include
write_service
cp "$file" "$work/original"

is_original() {
	cmp -s "$work/original" "$file" || fail "$1: the file has changed"
	[ -z "$(find /etc/pam.d -name '.*' -type f)" ] ||
	    fail "$1: a temporary file is left"
}
logs_in() {
	"$pamprof" run "$service" -u root --phases auth,account,session --yes \
	    > "$work/run" 2>&1 || fail "$1: no login: $(cat "$work/run")"
}
# refused WHY WORDS...: instrument WORDS fails and names the reason.
refused() {
	local why=$1
	shift
	if "$pamprof" instrument --yes "$@" > "$work/out" 2>&1; then
		fail "not refused: $why"
		"$pamprof" restore > /dev/null
	fi
	grep -q "$why" "$work/out" || fail "not $why: $(cat "$work/out")"
}
age() {
	sed -i 's/"retired": [1-9][0-9]*/"retired": 1/' /etc/pamprof/state.json
	"$pamprof" status > /dev/null
}
instrument() {
	"$pamprof" instrument --yes "$@" > "$work/out" 2>&1 ||
	    fail "instrument $*: $(cat "$work/out")"
}
restore() {
	"$pamprof" restore "$@" > "$work/out" 2>&1 ||
	    fail "restore $*: $(cat "$work/out")"
	is_original "restore $*"
}

# Files that are not the service's alone.
refused "No such file" pp-nobody
refused "is read by the service" pp-include
refused "not the name of a service" ../passwd
ln -s "$service" "$file-other"
refused "read by the service" "$service"
rm "$file-other"
ln "$file" "$outside/hard" 2> /dev/null || ln "$file" /etc/pam-hard
refused "hard link" "$service"
rm -f "$outside/hard" /etc/pam-hard
mv "$file" /etc/pam-moved && ln -s /etc/pam-moved "$file"
refused "leads out" "$service"
rm "$file" && mv /etc/pam-moved "$file"
is_original "refused"

# A link to a file of its own in the folder stays a link.
mv "$file" "$file.real" && ln -s "$service.real" "$file"
instrument "$service"
[ -L "$file" ] || fail "the symbolic link has gone"
restore
[ -L "$file" ] || fail "the symbolic link has gone with restore"
rm "$file" && mv "$file.real" "$file"

# Attributes.
chmod 640 "$file" && chown nobody:daemon "$file"
setfacl -m u:daemon:r "$file" || fail "no ACLs here"
setfattr -n trusted.pamprof -v kept "$file"
describe() {
	stat -c '%a %u %g' "$file"
	getfacl -cp "$file"
	getfattr -d -m - --absolute-names "$file" | grep -v '^#'
}
describe > "$work/before"
instrument "$service"
describe | diff "$work/before" - || fail "attributes differ"
restore
describe | diff "$work/before" - || fail "attributes differ after restore"

# Twice; stale; edited.
instrument "$service"
refused "instrumented already" "$service"
"$pamprof" status > /dev/null || fail "status wants something: $("$pamprof" status)"
echo "# newer" >> /etc/pam.d/pp-include
"$pamprof" status > "$work/out" && fail "status does not mind a stale copy"
grep -q "stale: /etc/pam.d/pp-include" "$work/out" || fail "stale is not said"
instrument "$service"
"$pamprof" status > /dev/null || fail "it is stale still"
echo "# edited" >> "$file"
"$pamprof" restore > "$work/out" 2>&1 && fail "an edited file was restored"
grep -q "^+# edited" "$work/out" || fail "the edit is not shown"
grep -q "^+.*pamprof=" "$work/out" || fail "our change is not shown"
tail -1 "$file" | grep -q "# edited" || fail "the edit has gone"
restore --force --yes
grep -q "# edited" "/etc/pamprof/$service.edited" || fail "the edit is lost"

# What vanishes: the guard and every command restore; the ring comes back.
instrument "$service"
rm /run/pamprof/ring
logs_in "without a ring"
"$pamprof" status > /dev/null
[ -f /run/pamprof/ring ] || fail "the ring does not come back"
[ "$(stat -c %a /run/pamprof /run/pamprof/ring | tr '\n' ' ')" = "700 600 " ] ||
    fail "mode of the ring"
rm -rf "$shims/$service".*
"$pamprof" status > "$work/out"
grep -q vanished "$work/out" || fail "vanished is not said"
is_original "vanished"
age
instrument "$service"
sh /etc/pamprof/guard || fail "the guard"
grep -q pamprof= "$file" || fail "the guard restores without need"
rm -rf "$shims/$service".*
sh /etc/pamprof/guard > /dev/null || fail "the guard fails"
is_original "guard"
describe | diff "$work/before" - || fail "the guard loses attributes"
logs_in "after the guard"
"$pamprof" status > /dev/null
age

# The end of --for, here by cron.
instrument --for 2h "$service"
"$pamprof" status | grep -q "until .* by cron" || fail "no timer is said"
grep -q "pamprof status" "/etc/cron.d/pamprof-$service" || fail "no cron file"
sed -i 's/"until": [1-9][0-9]*/"until": 1/' /etc/pamprof/state.json
"$pamprof" status > "$work/out"
is_original "--for"
[ -e "/etc/cron.d/pamprof-$service" ] && fail "the cron file is left"
age

# Many at once: the lock, and one of two for the same service.
for i in 1 2 3 4; do
	cp "$file" "$file-$i"
done
pids=
for i in 1 2 3 4 1; do
	"$pamprof" instrument --yes "$service-$i" > /dev/null 2>&1 &
	pids="$pids $!"
done
bad=0
for pid in $pids; do
	wait "$pid" || bad=$((bad + 1))
done
[ $bad -eq 1 ] || fail "$bad of five calls at once failed, not one"
[ "$("$pamprof" status | grep -c ': instrumented since')" -eq 4 ] ||
    fail "four are not instrumented: $("$pamprof" status)"
markers=$(cat "$file"-? /etc/pamprof/"$service"-*/[0-9]* | grep -o 'pamprof=[0-9]*')
[ -z "$(echo "$markers" | sort | uniq -d)" ] || fail "markers are not unique"
"$pamprof" restore > /dev/null || fail "restore of all"
for i in 1 2 3 4; do
	cmp "$file" "$file-$i" || fail "$service-$i is not restored"
	rm "$file-$i"
done
age

# A stack in another group's hands, and mounts.
instrument_fails() {
	"$pamprof" instrument --yes "$service" > "$work/out" 2>&1 &&
	    fail "$1: it went well"
	is_original "$1"
	logs_in "$1"
}
mended() {
	instrument "$service"
	logs_in "$1, mended"
	restore
	age
	[ -z "$(ls -d /etc/pamprof/"$service".*/ "$shims/$service".* 2> /dev/null)" ] ||
	    fail "$1: folders are left behind"
}
mount --bind /etc/pam.d /etc/pam.d
mount -o remount,ro,bind /etc/pam.d
instrument_fails "read-only /etc/pam.d"
umount /etc/pam.d
mended "read-only /etc/pam.d"

mount --bind "$BUILD/modules" "$BUILD/modules"
mount -o remount,noexec,bind "$BUILD/modules"
refused noexec "$service"
umount "$BUILD/modules"

mkdir "$outside/pam.d" && cp -a /etc/pam.d/. "$outside/pam.d"
mount --bind "$outside/pam.d" /etc/pam.d
if chattr +i "$file" 2> /dev/null; then
	instrument_fails "immutable"
	chattr -i "$file"
	mended "immutable"
	instrument "$service"
	chattr +i "$file"
	"$pamprof" restore > /dev/null 2>&1 && fail "an immutable file was restored"
	logs_in "immutable and instrumented"
	chattr -i "$file"
	"$pamprof" status > /dev/null
	"$pamprof" restore > /dev/null 2>&1
	is_original "immutable, restored"
	age
fi
umount /etc/pam.d

# Full: the place of the journal, then that of the service's file.
tried=
for place in /etc/pamprof /etc/pam.d; do
	mkdir -p "$work/keep"
	cp -a $place/. "$work/keep"
	for size in 40k 60k 80k 100k 104k 108k 112k 120k 128k; do
		mount -t tmpfs -o size=$size,mode=0755 tmpfs $place
		cp -a "$work/keep/." $place 2> /dev/null
		head -c 200000 /dev/zero > $place/zz-fill 2> /dev/null
		[ $place = /etc/pam.d ] || truncate -s -24k $place/zz-fill
		if ! cmp -s "$work/original" "$file"; then
			umount $place # too small even for what there is
			continue
		fi
		tried="$tried $place"
		instrument_fails "$place full"
		rm $place/zz-fill
		"$pamprof" status > /dev/null 2>&1
		is_original "$place was full"
		umount $place
		rm -rf "$shims/$service".*
	done
	rm -rf "$work/keep"
done
case $tried in
*/etc/pamprof*/etc/pam.d*) ;;
*) fail "not tried full:$tried" ;;
esac
mended "full"

# No journal's folder, no folder of services.
mv /etc/pam.d /etc/pam.away
refused "pam.d" "$service"
mv /etc/pam.away /etc/pam.d
mended "missing folder"

# An image: nothing outside of it changes, and it comes back as it was.
mkdir "$work/up" "$work/wk" "$work/image"
if mount -t overlay overlay "$work/image" -o \
    "lowerdir=/,upperdir=$work/up,workdir=$work/wk" 2> /dev/null; then
	cp "$work/original" "$work/image$file"
	cp /etc/pam.d/pp-include "$work/image/etc/pam.d"
	instrument --root "$work/image" "$service"
	grep -q pamprof= "$work/image$file" || fail "the image is as it was"
	is_original "--root"
	"$pamprof" status --root "$work/image" | grep -q ': instrumented since' ||
	    fail "status --root"
	"$pamprof" restore --root "$work/image" > /dev/null || fail "restore --root"
	cmp "$work/original" "$work/image$file" || fail "the image is not restored"
	umount "$work/image"
fi
"$pamprof" status --root "$work/nowhere" > /dev/null 2>&1 &&
    fail "an image that is not there"

# A file that cannot be proved the same: the shims' folder in others' hands.
chmod o+w "$BUILD/modules"
refused "written to by others" "$service"
chmod o-w "$BUILD/modules"
is_original "the end"
exit $failed
