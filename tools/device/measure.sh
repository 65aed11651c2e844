# shellcheck shell=sh
# Sourced by tools/device-run: logs that are capped while they are written, verdicts that are there
# at once, one item of `szego bench` at a time.
# shellcheck disable=SC2154 # results, home, summary, deadline, quick, patience, szego: the sourcing
# script's

most_log=4000000 # bytes of one log; the end of what does not fit is kept too, up to a tenth of that

# tell TEXT : a line of the summary.
tell() {
    printf '%s\n' "$*" | tee -a "$summary" >&2
}
left_out() {
    omitted="${omitted:+$omitted; }$*" omissions=$((omissions + 1))
}

# capped LOG : standard input, added to the log as it comes.
capped() {
    size=$(stat -c %s "$1" 2>/dev/null || echo 0)
    if [ "$size" -lt "$most_log" ]; then
        stdbuf -o0 head -c $((most_log - size)) >>"$1"
    fi
    rest=$(mktemp "$home/rest.XXXXXX")
    tail -c $((most_log / 20)) >"$rest"
    if [ -s "$rest" ] && [ "$size" -lt "$most_log" ]; then
        { printf '\n... the log is full; the end of what came then:\n' && cat "$rest"; } >>"$1"
    fi
    rm -f "$rest"
}

# bounded SECONDS COMMAND... : as long as that, and as the stage has time left.
bounded() {
    time=$1
    shift
    now=$(date +%s)
    [ "$time" -le $((deadline - now)) ] || time=$((deadline - now))
    [ "$time" -gt 0 ] || {
        echo "no time left for: $*" >&2
        return 124
    }
    timeout -k 5 "$time" "$@" </dev/null
}

# within SECONDS LOG COMMAND... : likewise, and what it says is added to the log.
within() {
    time=$1 log=$2
    shift 2
    echo 1 >"$home/code"
    {
        printf '\n$ %s\n' "$*"
        bounded "$time" "$@" 2>&1
        echo $? >"$home/code"
    } | capped "$log"
    return "$(cat "$home/code")"
}

words_of() { # EXIT STATUS
    case $1 in
    0) echo ok ;;
    4) echo 'not measured whole: see its row' ;;
    124 | 137) echo cut ;;
    *) echo "FAILED ($1)" ;;
    esac
}

rows_in() {
    [ ! -f "$1" ] || sed 1d "$1" | wc -l
}

# find_ratio ROWS ITEM : whether the item's rows after the first so many are compared with a rival;
# $why they are not.
find_ratio() {
    why=$(bounded 20 tools/device/find-ratio "$results/bench.csv" "$1" "$2" 2>&1) && return
    said=$(tail -n 50 "$results/bench.log" | sed -n 's/.*warning: \(.*\); .* columns stay empty$/\1/p' | tail -n 1)
    why="no ratio: ${said:-$why}"
    return 1
}

# item SECONDS BACKEND [OPTION]... ITEM : its rows in bench.csv, its verdict in the summary.
rivalled='' # whether it fails without a ratio
item() {
    most=$(($1 * patience)) backend=$2
    shift 2
    before=$(rows_in "$results/bench.csv") started=$(date +%s) code=0
    before=${before:-0}
    # shellcheck disable=SC2086 # no word where it is empty
    within $((most + 15)) "$results/bench.log" "$szego" bench -q $quick --limit "$most" \
        --backend "$backend" --append -o "$results/bench.csv" "$@" || code=$?
    after=$(rows_in "$results/bench.csv") verdict_of=$(words_of $code)
    if [ -n "$rivalled" ] && [ "$code" -eq 0 ]; then
        for name in "$@"; do :; done # the last word
        find_ratio "$before" "$name" || code=1 verdict_of="FAILED ($why)"
    fi
    tell "   $* $backend: $verdict_of, $((${after:-0} - before)) rows, $(($(date +%s) - started)) s"
    [ "$code" -eq 0 ]
}

# end_reader PROCESS : two seconds for what it still has to read, until $home/heard is there; whoever
# is left behind may hold the other end for good.
end_reader() {
    for _ in $(seq 20); do
        [ ! -e "$home/heard" ] || break
        sleep 0.1
    done
    [ -e "$home/heard" ] || kill "$1" 2>/dev/null
    wait "$1"
}

# item_with_rival SECONDS BACKEND [OPTION]... ITEM : PyTorch's standard error in rival.log. It may be
# started twice, or open its output anew: the pipe is held open until the item has ended.
item_with_rival() {
    rm -f "$home/rival" "$home/heard"
    mkfifo "$home/rival" || return
    exec 3<>"$home/rival"
    {
        capped "$results/rival.log"
        : >"$home/heard"
    } <"$home/rival" >/dev/null 2>&1 3>&- &
    reader=$!
    seconds_of=$1 backend_of=$2 item_failed=''
    shift 2
    rivalled=1
    item "$seconds_of" "$backend_of" --rival-log "$home/rival" "$@" 3>&- || item_failed=1
    rivalled=''
    exec 3>&-
    end_reader "$reader"
    [ -z "$item_failed" ]
}
