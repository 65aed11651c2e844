"""szego beside NumPy for the same questions, timed in turn in this process: `python3 -m szego.bench [repeats]`.

A ratio is the median over pairs of calls, one of each, so that what else the machine does meets both. szego's own
pool has one thread; OPENBLAS_NUM_THREADS limits the BLAS of both. The symbol's range is left out, since NumPy has
none.
"""
import sys
import time
from typing import Callable, List, Tuple

import numpy as np

from . import compute


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def compared(ours: Callable, theirs: Callable, repeats: int) -> Tuple[float, float, float]:
    """Median seconds of each, and the median ratio of a pair; the first pair is dropped."""
    pairs = np.array([(_seconds(ours), _seconds(theirs)) for _ in range(repeats + 1)])[1:]
    return (*np.median(pairs, axis=0), float(np.median(pairs[:, 0] / pairs[:, 1])))


def spectrum(*arguments, **options):
    """The call that is timed."""
    return compute.spectrum(*arguments, certify=False, threads=1, **options)


def questions() -> List[Tuple[str, int, Callable, Callable]]:
    """(what is asked, share of the repeats in percent, ours, NumPy's)."""
    draw = np.random.default_rng(1).standard_normal
    general, column = draw((128, 128)), draw(512)
    symmetric = (general + general.T) / 2
    hermitian = symmetric + 1j * (general - general.T)
    lag = np.abs(np.subtract.outer(np.arange(512), np.arange(512)))
    rope = np.cos(np.outer(np.arange(512), 10000.0 ** (-np.arange(32) / 32))).mean(1)
    return [
        ("symmetric 128 x 128", 100, lambda: spectrum(symmetric), lambda: np.linalg.eigvalsh(symmetric)),
        ("Hermitian 128 x 128", 100, lambda: spectrum(hermitian), lambda: np.linalg.eigvalsh(hermitian)),
        ("singular values 128 x 128", 100, lambda: spectrum(general, question="singular"),
         lambda: np.linalg.svd(general, compute_uv=False)),
        ("Toeplitz, 512 coefficients", 10, lambda: spectrum(column),
         lambda: np.linalg.eigvalsh(column[lag])),
        ("rope:dim=64, n = 512", 10, lambda: spectrum("rope:dim=64", 512),
         lambda: np.linalg.eigvalsh(rope[lag])),
    ]


def main(arguments: List[str]) -> int:
    """The table, on standard output."""
    if len(arguments) > 1 or (arguments and not (arguments[0].isdigit() and int(arguments[0]) > 0)):
        print("usage: python3 -m szego.bench [repeats]", file=sys.stderr)
        return 2
    repeats = int(arguments[0]) if arguments else 200
    print(f"{'question':28} {'szego, ms':>10} {'NumPy, ms':>10} {'ratio':>7}")
    for name, share, ours, theirs in questions():
        mine, other, ratio = compared(ours, theirs, max(1, repeats * share // 100))
        print(f"{name:28} {mine * 1e3:10.3f} {other * 1e3:10.3f} {ratio:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
