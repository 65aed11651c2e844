#!/bin/bash
# Completion scripts, driven as their shells drive them. Prints TAP.
# usage: completion.sh PROGRAM
set -u
program=$(realpath "$1")
. "$(dirname "$0")/../support/scratch.sh"
work=$(scratch)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
number=0 failed=0

report() { # VERDICT NAME
    number=$((number + 1))
    [ "$1" = ok ] || failed=1
    echo "$1 $number - $2"
}

# LINE|the words that complete it, sorted. If the list is empty, the shell completes names of files.
cat >expected <<'END'
szego spe|spectrum
szego --v|--version
szego spectrum --pa|--part
szego spectrum --part |content kernel logits ratio
szego spectrum --part r|ratio
szego spectrum --part=r|--part=ratio
szego spectrum --pe t|t5
szego spectrum rope+|rope+absolute
szego spectrum alibi:|alibi:bias_max= alibi:heads= alibi:slopes=
szego spectrum alibi:s|alibi:slopes=
szego spectrum alibi:slopes=|alibi:slopes=exp alibi:slopes=published
szego spectrum rope:dim=64,pairing=h|rope:dim=64,pairing=half
szego spectrum rope:dim=64 kms:|kms:rho=
szego spectrum --pe=alibi:h|--pe=alibi:heads=
szego spectrum --content gau|gaussian
szego spectrum --mask c|causal
szego spectrum rope --backend cuda:b|cuda:bf16
szego spectrum -n |
szego spectrum nothing|
szego verify L3|L3 L3c
szego reproduce --preset |full mechanism mechanism-curvature mechanism-full mechanism-length mechanism-replication quick small
szego train --task |count distance
szego train --set model.mask=|model.mask=causal model.mask=none
szego train --set model.wid|model.width=
szego export results --to i|ipynb
szego bench train:rope:st|train:rope:step
szego info --format j|json
szego completion z|zsh
szego spectrum rope --columns n,theo|n,theorem
szego spectrum rope --columns=theo|--columns=theorem
szego help spe|specs spectrum
szego help specs al|alibi
szego help --m|--man
END

"$program" completion bash >szego.bash
"$program" completion | cmp -s - szego.bash && verdict=ok || verdict='not ok'
report "$verdict" "bash is the shell if none is named"

# readline splits words at these characters, and replaces what follows the last of them.
cat >try.bash <<'END'
source ./szego.bash
COMP_WORDBREAKS=$1
while IFS='|' read -r line words; do
    COMP_LINE=$line COMP_POINT=${#line}
    _szego
    word=${line##* }
    [ -z "$1" ] || kept=${word%"${word##*[$1]}"}
    echo "$line|$(printf '%s\n' "${COMPREPLY[@]/#/${kept-}}" | sort | tr '\n' ' ' | sed 's/ *$//')"
done <expected
END
for breaks in ' :=' ' =' ''; do
    verdict=ok
    bash ./try.bash "$breaks" 2>&1 | diff expected - >difference || verdict='not ok'
    sed 's/^/# /' difference
    report "$verdict" "bash, words broken at '$breaks'"
done

name='zsh'
if ! command -v zsh >/dev/null; then
    report ok "$name # SKIP zsh is not installed"
else
    "$program" completion zsh >_szego
    # What zsh's completion system gives to the function, and what takes its answers.
    cat >try.zsh <<'END'
compdef() { registered=$2 }
compadd() { while [ "$1" != -- ]; do shift; done; shift; answers+=("$@") }
_files() { }
source ./_szego
[ "$registered" = szego ] || echo "not registered"
while IFS='|' read -r line expected; do
    words=("${(@s: :)line}") CURRENT=${#words} PREFIX=${words[-1]} answers=()
    _szego
    echo "$line|${(j: :)${(@o)answers}}"
done <expected
END
    verdict=ok
    LC_ALL=C zsh -f ./try.zsh 2>&1 | diff expected - >difference || verdict='not ok'
    sed 's/^/# /' difference
    report "$verdict" "$name"
fi
echo "1..$number"
exit $failed
