#!/bin/sh
# Every table of every command: a column whose name says that it holds ends of enclosures (lo, hi,
# lower or upper, alone or between underscores) says so in the manifest too, where printers look.
# usage: ends.sh PROGRAM CASES. Prints TAP.
set -eu
PATH=$(dirname "$(realpath "$1")"):$PATH
cases=$(realpath "$2")
. "$(dirname "$0")/../support/scratch.sh"
folder=$(scratch)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# One result a command, with every kind of table that it has.
{
    szego spectrum --pe alibi:heads=2 --pe rope:dim=8 -n 16 --all -o spectrum/
    szego spectrum --pe rope:dim=8 --content gaussian:seed=1 --part ratio -n 16 --all -o ratio/
    szego symbol --pe alibi:heads=2 -o symbol/
    szego kernel alibi:heads=2 -n 16 -o kernel/
    szego verify -o verify/
    szego verify --check verify/certificates.csv -o check/
    szego checkpoint "$cases/checkpoint-rotary" -o checkpoint/
    szego diff "$cases/checkpoint-rotary" "$cases/checkpoint-rotary" --spectra -o diff/
    szego diff rope:dim=8 alibi:heads=2 -n 16 -o encodings/
    szego train "$cases/tiny.json" --capture every=3 --export-data data/ -o train/
    szego capture --checkpoint train/run-0/checkpoint.safetensors --data data/test.jsonl --dump \
        -o capture/
    szego logits capture/logits -o logits/
    szego predict --checkpoint train/run-0/checkpoint.safetensors --data data/test.jsonl -o predict/
    szego ablate train/run-0 -o ablate/
    sh -eu "$cases/reproduce/run" # leaves out/
    szego bench --quick rotary-kernel -o bench/
    szego info -o info/
    szego export . --to csv -o export/
} >log 2>&1 </dev/null || { cat log; echo "Bail out! a command failed"; exit 1; }

number=0 failed=0
judge() { # VERDICT SENTENCE
    number=$((number + 1))
    [ "$1" = ok ] || failed=1
    echo "$1 $number - $2"
}

# Reads manifests, a member a line: prints a word on each column.
cat >columns.awk <<'END'
function value(line) { sub(/^[^:]*: "/, "", line); sub(/",?$/, "", line); return line }
/^          "name": / { name = value($0); end = "none" }
/^          "end": / { end = value($0) }
/^        }/ && name != "" {
    want = name ~ /(^|_)(lo|lower)(_|$)/ ? "lower" : name ~ /(^|_)(hi|upper)(_|$)/ ? "upper" : ""
    if (want != "") print (want == end ? "marked" : "unmarked"), name, end
    name = ""
}
END
for command in $(szego --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    # A page, a script: no tables. Those of judge are the Python package's.
    case $command in report | completion | judge) continue ;; esac
    found=$(grep -rl --include=manifest.json "^  \"command\": \"$command\"" . || true)
    if [ -z "$found" ]; then
        judge 'not ok' "$command: has no result here: add its command line above"
        continue
    fi
    echo "$found" | xargs awk -f columns.awk >columns
    cat columns >>all
    if grep -q ^unmarked columns; then
        grep ^unmarked columns | sed 's/^/# /'
        judge 'not ok' "$command: a column is not marked"
    else
        judge ok "$command: $(wc -l <columns) columns of ends, all marked"
    fi
done
# The tables of today that have such columns: none of them may be missed.
for name in symbol_min_lo symbol_max_hi_coupled min_lo max_f_hi left_lo right_hi \
    base_symbol_lo symbol_change_hi lo hi; do
    if grep -q " $name " all; then
        judge ok "$name was seen"
    else
        judge 'not ok' "$name was not seen"
    fi
done
echo "1..$number"
exit $failed
