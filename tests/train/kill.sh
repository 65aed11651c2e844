#!/bin/sh
# Kills `szego train` at instants that nothing fixes, lets it go on with --resume each time, and
# compares weights and logs with a run that nothing disturbed. Prints TAP.
# usage: kill.sh PROGRAM
set -eu
szego=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
set -- train --quiet --threads 2 --seed 3 --set model.vocabulary=40 --set model.width=32 \
    --set model.hidden=32 --set model.layers=2 --set model.heads=4 --set model.max_length=24 \
    --set data.examples=1500 --set data.between_max=10 --set data.side_max=4 \
    --set data.longest=20 --batch 32 --epochs 8 --set loop.checkpoint_every=5 \
    --learning-rate 0.002 --capture every=40,layers=0,heads=0
"$szego" "$@" -o "$folder/whole/"
attempts=0 code=137
while [ "$code" -eq 137 ] && [ "$attempts" -lt 15 ]; do
    attempts=$((attempts + 1))
    "$szego" "$@" --resume -o "$folder/killed/" &
    process=$!
    # Later with each attempt, so that the run comes to its end, and by chance.
    sleep "$(awk -v s="$attempts" 'BEGIN { srand(); srand(srand() + s); print 0.03 + 0.01 * s + 0.1 * rand() }')"
    kill -KILL "$process" 2>/dev/null || true
    code=0
    wait "$process" 2>/dev/null || code=$?
done
[ "$code" -eq 0 ] || { code=0; "$szego" "$@" --resume -o "$folder/killed/" || code=$?; }
verdict=ok
[ "$code" -eq 0 ] || verdict='not ok'
for file in metrics.csv contraction.csv checkpoint.safetensors; do
    cmp -s "$folder/whole/run-3/$file" "$folder/killed/run-3/$file" || verdict='not ok'
done
echo "# $attempts processes; the last one's exit status is $code"
echo "$verdict 1 - weights and logs are those of a run that nothing disturbed"
ls "$folder/whole/run-3" >"$folder/whole.txt"
ls "$folder/killed/run-3" >"$folder/killed.txt"
verdict=ok
cmp -s "$folder/whole.txt" "$folder/killed.txt" || verdict='not ok'
echo "$verdict 2 - nothing unfinished is left"
echo 1..2
