#!/bin/sh
# Names in the static library begin with szg_ or szgi_, so that none meets a user's own; the shared
# library exports the public ones alone, and its messages name no others.
# usage: symbols.sh libszego.a libszego.so
set -u
status=0
# refuse WHAT: fails with the names on standard input, if there are any.
refuse() {
    names=$(cat)
    [ -z "$names" ] || { echo "$1:"; echo "$names"; status=1; }
}
defined() {
    nm --defined-only --extern-only "$@" | awk 'NF == 3 { print $3 }' | sort -u
}
[ "$(defined "$1" | grep -c '^szg_')" -gt 100 ] || { echo "$1 is no library of szego"; exit 1; }
[ "$(defined -D "$2" | grep -c '^szg_')" -gt 100 ] || { echo "$2 exports nothing"; exit 1; }
refuse "$1 has names without szg_ or szgi_" <<END
$(defined "$1" | grep -v '^szgi*_')
END
refuse "$2 exports names without szg_" <<END
$(defined -D "$2" | grep -v '^szg_')
END
# texts LIBRARY: what the library may print. objcopy removes its output if it fails: as root it removed
# /dev/stdout for the whole machine.
rodata=$(mktemp)
trap 'rm -f "$rodata"' EXIT
texts() {
    objcopy -O binary --only-section=.rodata "$1" "$rodata" && tr '\0' '\n' <"$rodata"
}
[ "$(texts "$2" | grep -ac 'leading dimension')" -gt 3 ] || { echo "$2 has no messages"; exit 1; }
refuse "$2 has messages that name functions which users do not have" <<END
$(texts "$2" | grep -a 'szgi_')
END
exit $status
