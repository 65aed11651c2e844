#!/bin/sh
# A preset is found beside the program, however that is started: by its path, by its bare name, by a
# link, and behind an explicit loader, for which /proc/self/exe is the loader.
# usage: loader.sh PROGRAM. Prints TAP.
set -u
program=$(realpath "$1")
. "$(dirname "$0")/../support/scratch.sh"
work=$(scratch)
trap 'rm -rf "$work"' EXIT
number=0 failed=0

# A copy in a folder of its own, as an installation has it. --list shows the full preset's needs too.
mkdir -p "$work/there/bin" "$work/there/share/szego/presets"
cp "$program" "$work/there/bin/szego"
cp "$(dirname "$program")/../presets/full.json" "$work/there/share/szego/presets/"
cat >"$work/there/share/szego/presets/beside.json" <<'END'
{"name": "beside", "about": "for a test", "seeds": [1], "config": {}, "tasks": {"distance": {}},
 "experiments": [{"name": "text", "profile": "text", "encodings": ["nope"]}]}
END
ln -s there/bin/szego "$work/link"
loader=$(ldd "$program" | sed -n 's|^[[:space:]]*\(/[^ ]*ld-linux[^ ]*\) .*|\1|p')

# finds WHAT WORD...: the program, started with these words, finds the preset.
finds() {
    what=$1
    shift
    number=$((number + 1))
    if "$@" reproduce -q --preset beside --list >"$work/out" 2>&1; then
        echo "ok $number - $what"
    else
        failed=1
        echo "not ok $number - $what"
        sed 's/^/# /' "$work/out"
    fi
}
cd "$work/there/bin" || exit 1
finds 'by its path' ./szego
finds 'by another path' ../../link
finds 'by its bare name' env PATH="$work/there/bin:$PATH" szego
finds 'behind a loader' "$loader" ./szego
finds 'behind a loader, by a link' "$loader" "$work/link"
cd / || exit 1
finds 'behind a loader, from afar' "$loader" "$work/there/bin/szego"
echo "1..$number"
exit $failed
