"""szego beside NumPy and SciPy for the same questions: `python3 -m szego.bench [--markdown] [--only TEXT] [repeats]`.

The calls are timed in turn in one process, and a ratio is the median over rounds of a call of each, so that what else
the machine does meets all of them. Rows of one thread: szego's pool and OpenBLAS have one (OPENBLAS_NUM_THREADS=1).
Rows of all threads: szego has one for each processor, OpenBLAS what it takes by itself. The certified range of a
symbol, which NumPy and SciPy lack, is asked for in one row. SciPy's column is empty if SciPy is missing, or has no such
call.

A second table, `--only monitor` alone, has what szego.Monitor costs a training in PyTorch, in processor time; it is
left out without PyTorch.
"""
import argparse
import functools
import json
import os
import subprocess
import sys
import time
from typing import Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

from . import batch, bench_monitor, compute

#: Questions of which a round takes milliseconds, tens of them, and more: share of the repeats in percent.
QUICK, SLOW, LONG = 100, 10, 4
Row = Tuple[str, int, Callable, Callable, Optional[Callable]]


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def compared(calls: List[Callable], repeats: int) -> Tuple[np.ndarray, np.ndarray]:
    """Median seconds of each call, and the median ratio of the first to each; the first round is dropped."""
    rounds = np.array([[_seconds(call) for call in calls] for _ in range(repeats + 1)])[1:]
    return np.median(rounds, axis=0), np.median(rounds[:, :1] / rounds, axis=0)


def _toeplitz(column: np.ndarray) -> np.ndarray:
    lag = np.arange(len(column))
    return column[np.abs(lag[:, None] - lag)]


def _scipy():
    try:
        import scipy.linalg  # pylint: disable=import-outside-toplevel
        return scipy.linalg
    except ImportError:
        return None


def _arrays(threads: Optional[int], linalg) -> Iterator[Row]:
    spectrum = functools.partial(compute.spectrum, certify=False, threads=threads)
    general = np.random.default_rng(1).standard_normal((128, 128))
    symmetric = (general + general.T) / 2
    hermitian = symmetric + 1j * (general - general.T)
    for name, matrix in (("symmetric 2 x 2", symmetric[:2, :2].copy()), ("symmetric 128 x 128", symmetric),
                         ("Hermitian 128 x 128", hermitian)):
        yield (name, QUICK, functools.partial(spectrum, matrix),
               functools.partial(np.linalg.eigvalsh, matrix), linalg and functools.partial(linalg.eigvalsh, matrix))
    yield ("singular values 128 x 128", QUICK, lambda: spectrum(general, question="singular"),
           lambda: np.linalg.svd(general, compute_uv=False), linalg and (lambda: linalg.svdvals(general)))


def _kernels(threads: Optional[int], linalg) -> Iterator[Row]:
    spectrum = functools.partial(compute.spectrum, certify=False, threads=threads)
    column = np.random.default_rng(2).standard_normal(512)
    rope = np.cos(np.outer(np.arange(512), 10000.0 ** (-np.arange(32) / 32))).mean(1)
    few = np.exp(-np.arange(16) / 3)
    for name, certify in (("Toeplitz, 16 coefficients", False), ("Toeplitz, 16, with certified range", True)):
        yield (name, QUICK, functools.partial(spectrum, few, certify=certify),
               lambda: np.linalg.eigvalsh(_toeplitz(few)), linalg and (lambda: linalg.eigvalsh(linalg.toeplitz(few))))
    for name, source, known in (("Toeplitz, 512 coefficients", (column,), column),
                                ("rope:dim=64, n = 512", ("rope:dim=64", 512), rope)):
        yield (name, SLOW, functools.partial(spectrum, *source), lambda known=known: np.linalg.eigvalsh(_toeplitz(known)),
               linalg and (lambda known=known: linalg.eigvalsh(linalg.toeplitz(known))))
    second = np.zeros(1000)
    second[:2] = 2, -1
    diagonals = np.full(1000, 2.0), np.full(999, -1.0)
    yield ("second difference, n = 1000", LONG, lambda: spectrum([2, -1], 1000),
           lambda: np.linalg.eigvalsh(_toeplitz(second)),
           linalg and (lambda: linalg.eigh_tridiagonal(*diagonals, eigvals_only=True)))
    decaying = np.exp(-np.arange(1000) / 100)
    yield ("least and largest, n = 1000", LONG, lambda: spectrum(decaying, want="range"),
           lambda: np.linalg.eigvalsh(_toeplitz(decaying))[[0, -1]],
           linalg and (lambda: [linalg.eigvalsh(linalg.toeplitz(decaying), subset_by_index=[i, i]) for i in (0, 999)]))


def _batches(threads: Optional[int]) -> Iterator[Row]:
    for n in (64, 128):
        general = np.random.default_rng(n).standard_normal((256, n, n))
        symmetric = (general + general.transpose(0, 2, 1)) / 2
        yield (f"256 symmetric {n} x {n}", LONG, functools.partial(batch.spectra, symmetric, threads=threads),
               functools.partial(np.linalg.eigvalsh, symmetric), None)
        yield (f"singular values, 256 of {n} x {n}", LONG,
               functools.partial(batch.spectra, general, question="singular", threads=threads),
               functools.partial(np.linalg.svd, general, compute_uv=False), None)


def questions(threads: Optional[int]) -> Iterator[Row]:
    """(what is asked, share of the repeats in percent, ours, NumPy's, SciPy's or None)."""
    linalg = _scipy()
    yield from _arrays(threads, linalg)
    yield from _kernels(threads, linalg)
    yield from _batches(threads)


def measure(threads: Optional[int], repeats: int, only: str) -> Iterator[Dict]:
    """A row for each question whose name has the text `only`, as soon as it is known; milliseconds."""
    for name, share, *calls in questions(threads):
        if only not in name:
            continue
        medians, ratios = compared([call for call in calls if call], max(1, repeats * share // 100))
        yield {"question": name, "threads": "all" if threads is None else str(threads),
               "ms": (1e3 * medians).tolist(), "ratios": ratios[1:].tolist()}


def _child(threads: Optional[int], repeats: int, only: str, table: str) -> Iterator[Dict]:
    """The rows of a table by a process of its own: OpenBLAS reads its number of threads when it is loaded."""
    environment = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_NUM_THREADS",
                                                                                    "OMP_NUM_THREADS")}
    if threads:
        environment["OPENBLAS_NUM_THREADS"] = str(threads)
    command = [sys.executable, "-m", "szego.bench", "--rows", str(threads or 0), "--table", table, "--only", only,
               str(repeats)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        yield from map(json.loads, child.stdout)
    if child.returncode:
        raise SystemExit(child.returncode)


ARRAYS, MONITOR = "arrays", "monitor"
HEADINGS = {
    ARRAYS: ("question", "threads", "szego, ms", "NumPy, ms", "SciPy, ms", "szego / NumPy", "szego / SciPy"),
    MONITOR: (f"szego.Monitor, every = {bench_monitor.EVERY}", "threads", "watched, ms", "alone, ms", "observed, ms",
              "watched / alone", "")}


def _cells(row: Dict) -> List[str]:
    milliseconds = [f"{value:.3g}" if value < 100 else f"{value:.0f}" for value in row["ms"]] + ["", ""]
    digits = 4 if row["question"] == bench_monitor.NAME else 2
    ratios = [f"{value:.{digits}f}" for value in row["ratios"]] + ["", ""]
    return [row["question"], row["threads"], *milliseconds[:3], *ratios[:2]]


def _line(cells, markdown: bool) -> str:
    if markdown:
        return f"| {' | '.join(cells)} |"
    return f"{cells[0]:32} {cells[1]:>7} {cells[2]:>10} {cells[3]:>10} {cells[4]:>10} {cells[5]:>14} {cells[6]:>14}"


def _rows(table: str, threads: Optional[int], repeats: int, only: str) -> Iterator[Dict]:
    if table == MONITOR:
        return bench_monitor.measure(threads, max(1, repeats * LONG // 100))
    return measure(threads, repeats, only)


def _print(table: str, given: argparse.Namespace) -> bool:
    """Whether the table has a row: without one its headings are left out too."""
    found = False
    for row in (row for threads in (1, None) for row in _child(threads, given.repeats, given.only, table)):
        if not found:
            print(_line(HEADINGS[table], given.markdown))
            if given.markdown:
                print(_line(["---", "---"] + ["---:"] * 5, True))
        found = True
        print(_line(_cells(row), given.markdown), flush=True)
    return found


def _repeats(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rounds, 1 or more")
    return int(text)


def main(arguments: List[str]) -> int:
    """The table, on standard output."""
    parser = argparse.ArgumentParser(prog="python3 -m szego.bench", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("repeats", nargs="?", type=_repeats, default=200, help="rounds of a quick question (200)")
    parser.add_argument("--markdown", action="store_true", help="the table as docs/how-to/python.md has it")
    parser.add_argument("--only", default="", metavar="TEXT", help="questions whose name has this text, or monitor, the second table (all)")
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--table", choices=list(HEADINGS), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.rows is not None:
        for row in _rows(given.table, given.rows or None, given.repeats, given.only):
            print(json.dumps(row), flush=True)
        return 0
    asked = [MONITOR] if given.only == MONITOR else [ARRAYS] if given.only else list(HEADINGS)
    printed = [_print(table, given) for table in asked]
    if any(printed):
        return 0
    missing = "PyTorch is missing" if asked == [MONITOR] else "no question has this text in its name"
    parser.error(f"--only {given.only}: {missing}")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
