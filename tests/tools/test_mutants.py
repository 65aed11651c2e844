#!/usr/bin/env python3
"""tools/mutants on a toy whose every mutant is known: what is tested is killed, what is not survives;
in one go, after an interruption, and again in a tree whose lines have moved."""
import csv
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / "tools"
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "peer"), str(TOOLS)]
# pylint: disable=wrong-import-position
import mutation
from peer import Tap

SOURCE = r"""
#include <stdlib.h>
#include <string.h>
#include "toy.h"

#define NEAR(a, b) ((a) < (b) + 1) /* macros have no places */
enum { SIZE = 4 };
static const double table[SIZE] = {1, 2, 3, 4};

/* Tested; comments have no places: a == 1; */
double toy_sum(int count) {
    enum { INSIDE = 1 };
    static const int zero[2] = {0, 0};
    char text[4] = ";<1\"", quote = '"';
    double *copy = malloc(sizeof table), sum = 0.0;
    (void)text, (void)quote;
    memcpy(copy, table, sizeof table);
    for (int i = 0; i < count; i++)
        sum += copy[i];
    while (sum > 6)
        sum--;
    free(copy);
    return sum + zero[0];
}

int toy_idle(int count) {
    if (count == 7)
        return 5;
    return 6;
}
"""
# (kind, original, replacements, verdict) in the order of the text.
PLACES = [("constant", "0.0", ["1.0"], "killed"),
          ("statement", "(void)text, (void)quote;", [";"], "equal"),
          ("statement", "memcpy(copy, table, sizeof table);", [";"], "killed"),
          ("constant", "0", ["1"], "killed"),
          ("comparison", "<", ["<=", ">="], "killed"),
          ("statement", "sum += copy[i];", [";"], "killed"),
          ("comparison", ">", [">=", "<="], "killed"),
          ("constant", "6", ["7", "5"], "killed"),
          ("statement", "sum--;", [";"], "killed"),
          ("statement", "free(copy);", [";"], "killed"),
          ("statement", "return sum + zero[0];", [";"], "not compilable"),
          ("constant", "0", ["1"], "equal"), # both are 0
          ("comparison", "==", ["!="], "survived"),
          ("constant", "7", ["8", "6"], "survived"),
          ("statement", "return 5;", [";"], "survived"),
          ("constant", "5", ["6", "4"], "survived"),
          ("statement", "return 6;", [";"], "not compilable"),
          ("constant", "6", ["7", "5"], "survived")]
TEST = r"""
#include <stdio.h>
#include "toy.h"
static int cases, failed;
static void ok(const char *name, int good) {
    failed += !good;
    printf("%sok %d - toy_test.c:%s:%s: numbers\n", good ? "" : "not ", ++cases, name, name);
}
int main(void) {
    ok("four", toy_sum(4) == 6);
    ok("three", toy_sum(3) == 6);
    ok("one", toy_sum(1) == 1);
    ok("none", toy_sum(0) == 0);
    printf("1..%d\n", cases);
    return failed != 0;
}
"""
MESON = """project('toy', 'c', default_options: ['buildtype=release'])
lib = static_library('toy', 'lib/toy/toy.c', include_directories: 'lib/toy')
test('toy', executable('test_toy', 'tests/test_toy.c', link_with: lib, include_directories: 'lib/toy'),
  protocol: 'tap', suite: 'toy')
"""


def make_tree(tree, source, test):
    for name, text in {"lib/toy/toy.c": source, "lib/toy/toy.h": "double toy_sum(int);\nint toy_idle(int);\n",
                       "tests/test_toy.c": test, "meson.build": MESON,
                       "meson_options.txt": "option('cuda', type: 'feature')\n"}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    subprocess.run(["git", "init", "-q", tree], check=True)


def run(tree, *arguments):
    done = subprocess.run([TOOLS / "mutants", "--tree", tree, "--folder", tree.parent / "folder", "--grace", "1",
                           *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [{name: value for name, value in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def check(tap, name, good, *details):
    tap.ok(name, good, "" if good else " ".join(map(str, details)))


def check_places(tap):
    found = [(m.kind, m.original, m.replacement) for m in mutation.mutants_of(SOURCE, "lib/toy/toy.c")]
    want = [(kind, original, new) for kind, original, news, _ in PLACES for new in news]
    check(tap, "places", sorted(found) == sorted(want), set(found) ^ set(want), len(found), len(want))
    for text, others in {"0x1fu": ("0x20u", "0x1eu"), "0": ("1",), "1L": ("2L", "0L"), "0.0f": ("1.0f",),
                         "1e-8": ("(2 * 1e-8)", "(1e-8 / 2)"), "0755": ("(0755 + 1)", "(0755 - 1)")}.items():
        got = mutation.other_constants(text)
        check(tap, f"constants near {text}", got == others, got)


def check_run(tap, folder):
    make_tree(folder / "tree", SOURCE, TEST)
    code, out, said = run(folder / "tree", "--seed", "3", "--count", "1000")
    results = folder / "folder" / "results.csv"
    rows = rows_of(results)
    got = sorted((row["kind"], row["original"], row["replacement"], row["verdict"]) for row in rows)
    want = sorted((kind, original, new, verdict) for kind, original, news, verdict in PLACES for new in news)
    check(tap, "every verdict", code == 0 and got == want, code, set(got) ^ set(want), said)
    killers = {row["original"]: row["killer"] for row in rows}
    check(tap, "a leak is told", killers["free(copy);"] == "toy: leak", killers["free(copy);"])
    check(tap, "too long is told", killers["sum--;"] == "toy: ended with processor time", killers["sum--;"])
    check(tap, "a case is told", killers["0.0"].startswith("toy: toy_test.c:"), killers["0.0"])
    check(tap, "the summary", f"all{sum(row['verdict'] == 'killed' for row in rows):16}" in out, out)
    whole = results.read_text()
    results.write_text(whole[:len(whole) // 2])
    code, _, said = run(folder / "tree", "--seed", "3", "--count", "1000")
    check(tap, "the rest after an interruption", code == 0 and rows_of(results) == rows, code, said)
    return results


def check_replay(tap, folder, results):
    """Lines have moved, one has changed, and a case is gone."""
    weak = TEST.replace('    ok("four"', '    if (0) ok("four"')
    moved = SOURCE.replace("return 5;", "return 50;").replace("int toy_idle", "/* moved */\n\nint toy_idle")
    make_tree(folder / "again" / "tree", "\n\n" + moved, weak)
    code, out, said = run(folder / "again" / "tree", "--replay", results)
    new = {row["draw"]: row["verdict"] for row in rows_of(folder / "again" / "folder" / "replay.csv")}
    counted = [row for row in rows_of(results) if row["verdict"] in ("killed", "survived")]
    check(tap, "what did not count is not tried", set(new) == {row["draw"] for row in counted}, said)
    gone = sorted(row["original"] for row in counted if new[row["draw"]] == "gone")
    check(tap, "what changed is gone", gone == ["5", "5", "return 5;"], gone)
    lost = [row["original"] for row in counted if row["verdict"] == "killed" and new[row["draw"]] == "survived"]
    # Without "four" no sum is above 6.
    told = all(f"{original} -> " in out.split("killed before", 1)[-1] for original in lost)
    check(tap, "a weaker suite is told", code == 1 and sorted(lost) == ["6", "sum--;"] and told, code, lost, out)
    code, out, said = run(folder / "tree", "--replay", results)
    check(tap, "the same tree is as strong", code == 0 and "killed -> survived" not in out, code, out, said)


def main():
    tap = Tap()
    check_places(tap)
    with tempfile.TemporaryDirectory() as folder:
        results = check_run(tap, pathlib.Path(folder))
        check_replay(tap, pathlib.Path(folder), results)
    tap.finish()


main()
