"""Several encodings as one DataFrame."""
from typing import TYPE_CHECKING, Iterable, Iterator, Optional, Union

import numpy as np

from .arguments import keywords
from .compute import spectrum
from .display import plain
from .encodings import Encoding
from .errors import ArgumentError
from .tabled import column
from .tables import Table

if TYPE_CHECKING:
    from pandas import DataFrame


@keywords
def frame(specs: Union[str, Iterable[str]], n: int, *, threads: Optional[int] = None) -> "DataFrame":
    """A pandas DataFrame of the n x n matrices of encodings: a row for each encoding, head and matrix.

        szego.frame(["rope:dim=64", "alibi:heads=8"], 512).sort_values("lambda_max")

    lambda_min, lambda_max: the least and the largest eigenvalue, empty where some are not real. symbol_min_lo,
    symbol_max_hi: the certified range, which holds every eigenvalue; empty where the matrix is not Toeplitz. zeros, rank
    (empty: unknown), trace, frobenius, residual, solver and theorem: as of the Spectrum. SzegoError: pandas is missing.
    """
    if isinstance(specs, bytes) or not isinstance(specs, Iterable):
        raise ArgumentError(f"specs={plain(repr(specs))}: a SPEC such as \"rope:dim=64\", or a list of them, is needed",
                            "SZG_EINVAL")
    rows = [row for spec in ([specs] if isinstance(specs, str) else specs) for row in _rows(Encoding(spec), n, threads)]
    names = rows[0] if rows else ()
    return Table({name: column([row[name] for row in rows]) for name in names}).frame()


def _rows(encoding: Encoding, n: int, threads: Optional[int]) -> Iterator[dict]:
    for head in range(encoding.heads):
        for matrix in range(encoding.matrices):
            found = spectrum(encoding, n, head=head, matrix=matrix, threads=threads)
            real, known = np.isrealobj(found.values), found.range is not None
            yield {"source": str(encoding), "head": head, "matrix": matrix, "n": found.n,
                   "lambda_min": float(found.values[0]) if real else None,
                   "lambda_max": float(found.values[-1]) if real else None,
                   "symbol_min_lo": found.range.lo if known else None, "symbol_max_hi": found.range.hi if known else None,
                   **{name: getattr(found, name) for name in ("zeros", "rank", "trace", "frobenius", "residual", "solver")},
                   "theorem": found.theorem.name}
