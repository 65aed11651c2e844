#!/bin/sh
# A case that crashes or hangs fails alone; where there are no children, the cases that it hid are
# counted as failed. Prints TAP.
# usage: broken.sh PROGRAM COUNT_TESTS
set -u
program=$1 count_tests=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
number=0 failed=0

# same NAME WANT GOT
same() {
    number=$((number + 1)) verdict=ok
    [ "$2" = "$3" ] || verdict='not ok' failed=1
    echo "$verdict $number - $1"
    [ "$verdict" = ok ] || echo "# want: $2; got: $3"
}
# verdicts FILE : o for each ok, n for each not ok.
verdicts() {
    sed -n 's/^ok .*/o/p; s/^not ok .*/n/p' "$1" | tr -d '\n'
}

CK_FORK=yes CK_TIMEOUT_MULTIPLIER=0.01 "$program" >"$folder/out" 2>&1
same 'a crash and a time limit end their cases alone' onnoo "$(verdicts "$folder/out")"

# As meson logs a program that died after one of its five cases.
mkdir "$folder/meson-logs"
CK_FORK=no "$program" >"$folder/out" 2>/dev/null
same 'without children a crash ends the program' o "$(verdicts "$folder/out")"
log_of() { # FILE : as meson notes what a program of one case printed
    python3 - "$folder" "$1" <<'END'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
test = {"name": "szego:support / broken", "result": "ERROR", "duration": 1.0,
        "stdout": pathlib.Path(sys.argv[2]).read_text()}
(folder / "meson-logs/testlog.json").write_text(json.dumps(test) + "\n")
(folder / "meson-logs/testlog.junit.xml").write_text(
    '<testsuites><testsuite name="szego:support / broken" tests="1" errors="0" failures="0" skipped="0"/>'
    '</testsuites>')
END
}
log_of "$folder/out"
same 'what it hid is counted as failed' '1 passed, 4 failed, 0 skipped' \
    "$("$count_tests" "$folder" | tail -n 1)"

# A test of a tool quotes another program's output: its cases are not the test's own.
cat >"$folder/quoting" <<'END'
not ok 1 - the tool fails
# # test_spectra: SZG_TEST_SEED=1, OpenBLAS core Haswell, SIMD level avx2, cases: 15
# not ok 7 - the reason
1..1
END
log_of "$folder/quoting"
"$count_tests" "$folder" >"$folder/counted"
same 'quoted cases are not counted, the one that was told is' '1 passed, 1 failed, 0 skipped' \
    "$(tail -n 1 "$folder/counted")"
same 'the reason is shown' 1 "$(grep -c '^    # not ok 7 - the reason$' "$folder/counted")"

# A case's name with an escape sequence, as meson writes it.
junit=$folder/meson-logs/testlog.junit.xml
printf '%s\033[2J\357\277\277\355\240\200%s' \
    "<?xml version='1.0' encoding='utf-8'?><testsuites><testsuite name=\"szego:support / broken\" tests=\"2\"><testcase name=\"" \
    '"/><testcase name="b"/></testsuite></testsuites>' >"$junit"
python3 - "$folder" <<'END'
import json, pathlib, sys
test = {"name": "szego:support / broken", "result": "OK", "duration": 1.0, "stdout": ""}
(pathlib.Path(sys.argv[1]) / "meson-logs/testlog.json").write_text(json.dumps(test) + "\n")
END
same 'a name that XML cannot hold ends no count' '2 passed, 0 failed, 0 skipped' \
    "$("$count_tests" "$folder" 2>&1 | tail -n 1)"
echo '<testsuites><testsuite' >"$junit"
"$count_tests" "$folder" /dev/null >"$folder/counted" 2>&1
same 'a report that was cut off is named and counts as failed' '1 0 passed, 2 failed, 0 skipped' \
    "$(grep -c 'testlog.junit.xml: .*run the tests of' "$folder/counted") $(tail -n 1 "$folder/counted")"
echo "1..$number"
exit $failed
