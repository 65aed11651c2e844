#!/bin/bash
# What the program says of itself: no line of help is wider than the terminal, each example runs, man
# pages format without a warning. Prints TAP.
# usage: help.sh PROGRAM CASES
set -u
program=$(realpath "$1") cases=$(realpath "$2")
. "$(dirname "$0")/../support/scratch.sh"
work=$(scratch)
trap 'rm -rf "$work"' EXIT
ln -s "$program" "$work/szego"
export PATH=$work:$PATH LC_ALL=C
cd "$work" || exit 1
number=0 failed=0

report() { # VERDICT NAME
    number=$((number + 1))
    [ "$1" = ok ] || failed=1
    echo "$1 $number - $2"
}

commands=$(szego help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\)  .*/\1/p')
topics=$(szego help | sed -n 's/^  szego help \([a-z]*\)  .*/\1/p')

# ---- Width ----

# pages: everything that the program can say of itself.
pages() {
    szego help
    for name in $commands; do
        szego "$name" --help
        szego "$name" --usage
    done
    for name in $topics; do szego help "$name"; done
}
for width in 24 40 60 80 132; do
    verdict=ok
    COLUMNS=$width pages >pages
    awk -v width=$width 'length($0) > width { print "# " FILENAME ": " $0; bad = 1 } END { exit bad }' pages ||
        verdict='not ok'
    # A page of such a width is still a page.
    [ "$(wc -l <pages)" -ge 400 ] || verdict='not ok'
    report "$verdict" "no line is longer than $width"
done
verdict=ok
for name in $topics; do
    COLUMNS=80 szego help "$name" | sed '1,/:$/d' | grep -n '^[^ ]' | sed "s/^/# $name: /" >flush
    [ -s flush ] && verdict='not ok' && cat flush
done
report "$verdict" "lists hang below their terms"

# ---- Examples ----

# Inputs of the examples, and a configuration that trains in a moment.
mkdir model
families=$cases/../../data/families/llama
cp "$families/config.json" "$families/model.safetensors" model/
mkdir training
cp -r model training/checkpoint-100
cp -r model training/checkpoint-200
array() { # FILE SHAPE BYTES: small integers
    printf '\223NUMPY\001\000\107\000%-70s\n' \
        "{'descr': '|i1', 'fortran_order': False, 'shape': $2, }" >"$1"
    head -c "$3" /dev/zero | tr '\0' '\1' >>"$1"
}
array q.npy '(2, 16)' 32
array k.npy '(2, 16)' 32
array logits.npy '(3, 3)' 9
cp "$cases/tiny.json" .
cat >toy.json <<'END'
{"name": "toy", "about": "for a test", "seeds": [1],
 "config": {"model": {"vocabulary": 20, "width": 8, "hidden": 8, "layers": 1, "heads": 2, "max_length": 16},
            "data": {"examples": 40, "between_max": 4, "side_max": 2, "longest": 10}, "loop": {"epochs": 1}},
 "tasks": {"distance": {}},
 "experiments": [{"name": "text", "profile": "text", "encodings": ["rope"]}]}
END

# What makes an example short; the line itself is run as it is printed.
shortened() {
    case $1 in
    'szego train '*) echo "tiny.json --epochs 50 --limit-steps 100 --set data.words=10 --set data.count_max=6 \
        --set data.triggers=2 --set model.latent_query=4 --set model.latent_kv=4" ;;
    'szego reproduce '*-o*) echo "--preset ./toy.json" ;;
    'szego bench '*--list*) ;;
    'szego bench '*) echo "--quick --no-rival" ;;
    esac
}

examples() { # COMMAND
    COLUMNS=1000 szego "$1" --help | sed -n '/^Examples:/,/^$/s/^  \([^ ]\)/\1/p'
}

# Later ones read what earlier ones wrote; the others are in no order.
order='train predict ablate capture logits reproduce judge report export'
for name in $commands; do
    case " $order " in *" $name "*) ;; *) order="$order $name" ;; esac
done
for name in $order; do
    verdict=ok
    examples "$name" >lines
    count=$(wc -l <lines)
    { [ "$count" -ge 2 ] && [ "$count" -le 3 ]; } || verdict='not ok'
    while IFS= read -r line; do
        bash -c "$line $(shortened "$line")" >out 2>err </dev/null && continue
        code=$?
        verdict='not ok'
        echo "# $line: exit $code"
        sed 's/^/# /' err
    done <lines
    report "$verdict" "examples of $name"
done

# ---- Man pages ----

verdict=ok
pages_of_man="- $commands $topics"
for name in $pages_of_man; do
    [ "$name" = - ] && name=
    # shellcheck disable=SC2086 # no name: the program's own page
    szego help --man $name >page || verdict='not ok'
    groff -ww -man -Tutf8 page 2>&1 >/dev/null | sed "s/^/# $name: /" >warnings
    # A date would make two builds of one source differ.
    if command -v mandoc >/dev/null; then
        mandoc -T lint page | grep -v 'missing date' | sed "s/^/# $name: /" >>warnings
    fi
    [ -s warnings ] && verdict='not ok' && cat warnings
done
if command -v groff >/dev/null; then
    report "$verdict" "man pages are formatted without a warning"
else
    report ok "man pages are formatted without a warning # SKIP groff is not installed"
fi
# Both forms of a page name the same options.
verdict=ok
for name in $commands; do
    szego help --man "$name" | sed -n 's/\\-/-/g; s/^\.B \(-[^=]*\).*/\1/p' | grep -o -e '--[a-z-]*' | sort >roff
    COLUMNS=1000 szego help "$name" | sed -n 's/^ *\(-[a-z], \)*\(--[a-z-]*\).*/\2/p' | sort >text
    { [ "$(wc -l <roff)" -ge 5 ] && cmp -s roff text; } || verdict='not ok'
done
report "$verdict" "man pages have the options of --help"
echo "1..$number"
exit $failed
