#!/bin/sh
# Where OpenBLAS does not know the processor the program starts itself anew, once and with the same
# words, behind an explicit loader too. usage: restart.sh PROGRAM OLD_CORE. Prints TAP.
set -u
program=$(realpath "$1") old_core=$(realpath "$2")
. "$(dirname "$0")/../support/scratch.sh"
work=$(scratch)
trap 'rm -rf "$work"' EXIT
export STARTS="$work/starts"
unset OPENBLAS_CORETYPE
number=0 failed=0

# restarts WHAT WORD...: two starts, and the words of the first reach the second.
restarts() {
    what=$1
    shift
    rm -f "$STARTS"
    LC_ALL=C LD_PRELOAD=$old_core "$@" >"$work/out" 2>&1
    printf 'without\nwith a core\n' >"$work/want"
    printf "szego: there is no command 'a \\\\xff b'; \`szego help\` lists them\n" >>"$work/want"
    cat "$STARTS" "$work/out" >"$work/got"
    number=$((number + 1))
    if cmp -s "$work/want" "$work/got"; then
        echo "ok $number - $what"
    else
        failed=1
        echo "not ok $number - $what"
        diff "$work/want" "$work/got" | sed 's/^/# /'
    fi
}

grep -qw avx2 /proc/cpuinfo 2>/dev/null || {
    echo '1..0 # SKIP the processor has no kernels that OpenBLAS could miss'
    exit 0
}
word=$(printf 'a \377 b')
restarts 'started as usual' "$program" "$word"
loader=$(ldd "$program" | sed -n 's|^[[:space:]]*\(/[^ ]*ld-linux[^ ]*\) .*|\1|p')
cd "$(dirname "$program")" || exit 1
restarts 'behind a loader' "$loader" --inhibit-cache "./$(basename "$program")" "$word"
echo "1..$number"
exit $failed
