#!/bin/sh
# Gives services their original files back when timing modules that they name
# have vanished: pamprof's folder was deleted, or its package removed without
# `pamprof restore`. instrument copies this to /etc/pamprof/guard, where it
# needs nothing but a shell, cmp, cp, cat, grep and mv. pamprof-guard.path runs
# it; it can be run by hand from a rescue shell, with the root folder of the
# system as its argument.
root=${1:-}
status=0
for folder in "$root"/etc/pamprof/*.*/; do
	[ -r "$folder/shims" ] && [ -r "$folder/original" ] || continue
	read -r file < "$folder/target" || continue
	vanished=
	while read -r shim; do
		[ -r "$root$shim" ] || vanished=$shim
	done < "$folder/shims"
	[ -n "$vanished" ] || continue
	# Only a file that still leads to this folder's modules or copies.
	name=${folder%/}
	grep -q -F -e "/${name##*/}/" "$root$file" || continue
	new=${root}${file%/*}/.guard.${file##*/}
	if cp -a "$root$file" "$new" && cat "$folder/original" > "$new" &&
	    cmp -s "$folder/original" "$new" && mv -f "$new" "$root$file"; then
		echo "pamprof: $vanished has vanished; $file is the original again"
	else
		rm -f "$new"
		echo "pamprof: $file could not be restored" >&2
		status=1
	fi
done
exit $status
