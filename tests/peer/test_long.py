#!/usr/bin/python3
"""szego bench extremes and density: the answers of the program and of SciPy.
usage: test_long.py PROGRAM"""
import csv
import math
import os
import subprocess
import sys

from peer import EPS, Tap, skip

try:
    import scipy  # noqa: F401
except ImportError as error:
    skip(f"{error}: Debian's python3-scipy is needed")

tap = Tap()
result = subprocess.run([sys.argv[1], "bench", "-q", "--quick", "--pairs", "1", "--format", "csv", "extremes", "density"],
                        env={**os.environ, "SZEGO_PYTHON": sys.executable}, capture_output=True, text=True)
rows = list(csv.DictReader(result.stdout.splitlines()))
tap.ok("the benchmark runs", result.returncode == 0, result.stderr)
tap.ok("every row is measured", len(rows) == 4 and all(row["verdict"] == "measured" for row in rows), str(rows))
# Rayleigh quotients of vectors with residuals below 1e-11 T are right to rounding: of transforms of length 2 n,
# 8 (log2(2 n) + 2) EPS each (three on either side), of numbers whose sum of moduli is the largest value.
for row in rows[:2]:
    bound = 2 * 3 * 8 * (math.log2(2 * int(row["n"])) + 2) * EPS
    tap.close(f"eigenvalues of {row['input']}", float(row["difference"] or "nan"), 0, bound)
# Two estimates, each with a standard error of sqrt(2/n) at most; 128 moments beyond seven of it: 1e-10.
n = int(rows[3]["n"])
tap.close("moments", float(rows[3]["difference"] or "nan"), 0, 7 * math.sqrt(2) * math.sqrt(2 / n))
tap.ok("they are estimates", float(rows[3]["difference"] or "nan") > 1e-2 * math.sqrt(2 / n))
tap.finish()
