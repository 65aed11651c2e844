# shellcheck shell=sh
# Sourced by tools/device-run: logs that are capped while they are written, verdicts that are there
# at once, one item of `szego bench` at a time.
# shellcheck disable=SC2154 # results, home, summary, deadline, quick, szego: the sourcing script's

most_log=4000000 # bytes of one log; the end of what does not fit is kept too, up to a tenth of that

# tell TEXT : a line of the summary.
tell() {
    printf '%s\n' "$*" | tee -a "$summary" >&2
}
left_out() {
    omitted="${omitted:+$omitted; }$*" omissions=$((omissions + 1))
}

# capped LOG : standard input, added to the log.
capped() {
    size=$(stat -c %s "$1" 2>/dev/null || echo 0)
    if [ "$size" -lt "$most_log" ]; then
        head -c $((most_log - size)) >>"$1"
    fi
    rest=$(mktemp "$home/rest.XXXXXX")
    tail -c $((most_log / 20)) >"$rest"
    if [ -s "$rest" ] && [ "$size" -lt "$most_log" ]; then
        { printf '\n... the log is full; the end of what came then:\n' && cat "$rest"; } >>"$1"
    fi
    rm -f "$rest"
}

# within SECONDS LOG COMMAND... : as long as that, and as the stage has time left.
within() {
    time=$1 log=$2
    shift 2
    now=$(date +%s)
    [ "$time" -le $((deadline - now)) ] || time=$((deadline - now))
    if [ "$time" -le 0 ]; then
        echo "no time left for: $*" | capped "$log"
        return 124
    fi
    echo 1 >"$home/code"
    {
        printf '\n$ %s\n' "$*"
        timeout -k 5 "$time" "$@" 2>&1 </dev/null
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

# item SECONDS BACKEND [OPTION]... ITEM : its rows in bench.csv, its verdict in the summary.
item() {
    most=$1 backend=$2
    shift 2
    before=$(rows_in "$results/bench.csv") started=$(date +%s) code=0
    # shellcheck disable=SC2086 # no word where it is empty
    within $((most + 15)) "$results/bench.log" "$szego" bench -q $quick --limit "$most" \
        --backend "$backend" --append -o "$results/bench.csv" "$@" || code=$?
    after=$(rows_in "$results/bench.csv")
    tell "   $* $backend: $(words_of $code), $((${after:-0} - ${before:-0})) rows," \
        "$(($(date +%s) - started)) s"
    [ "$code" -eq 0 ]
}

# item_with_rival SECONDS BACKEND [OPTION]... ITEM : PyTorch's standard error in rival.log.
item_with_rival() {
    rm -f "$home/rival"
    mkfifo "$home/rival" || return
    capped "$results/rival.log" <"$home/rival" &
    reader=$!
    seconds_of=$1 backend_of=$2
    shift 2
    verdict_of=0
    item "$seconds_of" "$backend_of" --rival-log "$home/rival" "$@" || verdict_of=1
    : 3<>"$home/rival" # a reader that nobody wrote to goes on
    wait "$reader"
    return "$verdict_of"
}
