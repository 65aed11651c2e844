#!/usr/bin/env python3
"""The two code paths of certificates share no step but ball arithmetic: neither calls the other, and what
both call is Arb's, memory, and the making of a matrix.
usage: paths.py LIBSZG_THEORY [NM]"""
import collections
import pathlib
import re
import subprocess
import sys

MAKING = {"enclose_quantity", "enclose_exact", "criterion"}
CHECKING = {"recheck_quantity", "recheck_exact"}
SHARED = {"szgi_ball_caches", "szgi_ball_accumulate", "szgi_ball_matrix_add_polar", "szgi_ball_matrix_close", "szgi_ball_matrix_entry", "szgi_ball_matrix_open",
          "szgi_interval_subtract", "szgi_memory_free", "szgi_memory_take", "szgi_phase_ratio"}


def symbols(library, nm):
    """Of each object of the archive, thin or not: what it defines, what it uses."""
    text = subprocess.run([nm, "--extern-only", "-A", library], capture_output=True, text=True, check=True).stdout
    defined, used = collections.defaultdict(set), collections.defaultdict(set)
    for line in text.splitlines():
        place, rest = line.rsplit(":", 1)
        kind, name = rest.split()[-2:]
        stem = re.sub(r"(\.c)?\.o$", "", pathlib.PurePath(re.split("[:/]", place)[-1]).name)
        (used if kind == "U" else defined)[stem].add(name)
    return defined, used


def main():
    defined, used = symbols(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "nm")
    missing = (MAKING | CHECKING) - set(defined)
    if missing:
        sys.exit(f"paths: {sys.argv[1]} has no {', '.join(sorted(missing))}: mend the lists in {sys.argv[0]}")
    made, checked = set().union(*(defined[x] for x in MAKING)), set().union(*(defined[x] for x in CHECKING))
    makes, checks = set().union(*(used[x] for x in MAKING)), set().union(*(used[x] for x in CHECKING))
    faults = [f"the checking path calls {name} of the making one" for name in sorted(checks & made)]
    faults += [f"the making path calls {name} of the checking one" for name in sorted(makes & checked)]
    both = {name for name in makes & checks if name.startswith("szg")} - SHARED
    faults += [f"both paths call {name}" for name in sorted(both)]
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main()
