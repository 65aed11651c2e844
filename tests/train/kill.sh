#!/bin/sh
# Kills `szego train` at instants that chance chooses, lets it go on with --resume each time until it
# ends, and compares weights and logs with a run that nothing disturbed. The delays scale with the
# time which that run took; a run that ends before it was killed three times is done again with half
# of them. SZG_TEST_SEED repeats the delays, not the scheduler. Prints TAP.
# usage: kill.sh PROGRAM
set -eu
szego=$1 seed=${SZG_TEST_SEED:-20250513}
. "$(dirname "$0")/../support/scratch.sh"
folder=$(scratch)
trap 'rm -rf "$folder"' EXIT
set -- train --quiet --threads 2 --seed 3 --set model.vocabulary=40 --set model.width=32 \
    --set model.hidden=32 --set model.layers=2 --set model.heads=4 --set model.max_length=24 \
    --set data.examples=1500 --set data.between_max=10 --set data.side_max=4 \
    --set data.longest=20 --set intervention.kind=gradient \
    --set intervention.from=0.5 --batch 32 --epochs 8 --set loop.checkpoint_every=5 \
    --learning-rate 0.002 --capture every=40,layers=0,heads=0
echo "# SZG_TEST_SEED=$seed"

begin=$(date +%s.%N)
"$szego" "$@" -o "$folder/whole/"
whole=$(awk -v from="$begin" -v to="$(date +%s.%N)" 'BEGIN { print to - from }')

# What `sleep` takes before kill number $2 of round $1: up to half of the undisturbed run at first,
# later with each kill, so that the run comes to its end.
delay() {
    awk -v seed="$seed" -v round="$1" -v kills="$2" -v whole="$whole" \
        'BEGIN { srand((seed + 101 * round + kills) % 2147483647); rand()
                 printf "%.6f", whole / 2 ^ round * 1.2 ^ kills * rand() }'
}

# Trains until a process ends by itself: `kills` and its exit status `code`.
train_through_kills() {
    kills=0 code=137
    while [ "$code" -eq 137 ]; do
        "$szego" "$@" --resume -o "$folder/killed/" &
        process=$!
        sleep "$(delay "$round" "$kills")"
        kill -KILL "$process" 2>/dev/null || true
        code=0
        wait "$process" 2>/dev/null || code=$?
        [ "$code" -ne 137 ] || kills=$((kills + 1))
    done
}

round=1
train_through_kills "$@"
while [ "$code" -eq 0 ] && [ "$kills" -lt 3 ] && [ "$round" -lt 10 ]; do
    rm -rf "$folder/killed"
    round=$((round + 1))
    train_through_kills "$@"
done
echo "# undisturbed: $whole s; round $round: $kills kills, then exit status $code"
verdict=ok
[ "$kills" -ge 3 ] || verdict='not ok'
echo "$verdict 1 - the run was killed three times"
verdict=ok
[ "$code" -eq 0 ] || verdict='not ok'
for file in metrics.csv contraction.csv checkpoint.safetensors; do
    cmp -s "$folder/whole/run-3/$file" "$folder/killed/run-3/$file" || verdict='not ok'
done
echo "$verdict 2 - weights and logs are those of a run that nothing disturbed"
ls "$folder/whole/run-3" >"$folder/whole.txt"
ls "$folder/killed/run-3" >"$folder/killed.txt"
verdict=ok
cmp -s "$folder/whole.txt" "$folder/killed.txt" || verdict='not ok'
echo "$verdict 3 - nothing unfinished is left"
echo 1..3
