"""Results of this process as tables of the program: the same names and columns, so that the same figures show them."""
from typing import TYPE_CHECKING, Callable, Dict, Optional

import numpy as np

from . import columns
from .tables import Results, Table

if TYPE_CHECKING:
    from .results import Contraction, Range, Spectrum, Symbol


def rows(count: int, **columns) -> dict:
    """Columns of one length; a single value stands in every row."""
    made = {}
    for name, value in columns.items():
        array = np.asarray(value)
        made[name] = array if array.ndim else np.full(count, value, object if isinstance(value, str) else array.dtype)
    return made


def _end_columns(found: "Optional[Range]", prefix: str = "") -> dict:
    if found is None:
        return {**{prefix + name: np.nan for name in ("min_lo", "min_hi", "max_lo", "max_hi")}, "bound_of": ""}
    return {**{prefix + name: getattr(found, name) for name in ("min_lo", "min_hi", "max_lo", "max_hi")},
            "bound_of": found.bounds.replace(" ", "_")}


def of_spectrum(one: "Spectrum", key: dict, symbol: "Optional[Symbol]" = None) -> Dict[str, dict]:
    """The tables of `szego spectrum --all`: the zeros by structure are one row."""
    zero = one.values == 0
    listed = np.repeat(one.values, one.multiplicity - np.where(zero, one.zeros, 0))
    values = np.append(listed, np.zeros(int(one.zeros > 0)))
    times = np.append(np.ones(len(listed), np.int64), np.full(len(values) - len(listed), one.zeros, np.int64))
    known = one.values[np.isfinite(one.values)]
    ends = (known.real.min(), known.real.max()) if len(known) and not known.imag.any() else (np.nan, np.nan)
    of = "sigma" if one.kind == "singular" else "lambda"
    tables = {
        "spectrum_eigenvalues": rows(len(values), **key, kind=one.kind, re=values.real, im=values.imag,
                                      multiplicity=times, zeros=one.zeros),
        "spectrum_summary": rows(1, **key, solver=one.solver, **{
            **{f"{name}_{end}": np.nan for name in ("sigma", "lambda") for end in ("min", "max")},
            f"{of}_min": ends[0], f"{of}_max": ends[1]}, **_end_columns(one.range, "symbol_"))}
    if symbol is not None:
        tables["spectrum_samples"] = rows(len(symbol.values), **key, convention=symbol.convention,
                                           re=symbol.values.real, im=symbol.values.imag)
    return tables


def of_symbol(one: "Symbol", key: dict) -> Dict[str, dict]:
    key = {**key, "convention": one.convention}
    tables = {"symbol_samples": rows(len(one.values), **key, theta=one.theta, re=one.values.real,
                                      im=one.values.imag)}
    if one.range is not None:
        tables["symbol_range"] = rows(1, **key, **_end_columns(one.range), theta_min=one.range.theta_min,
                                       theta_max=one.range.theta_max)
    return tables


def of_contraction(found: "Contraction") -> Dict[str, dict]:
    """The eigenvalues of both matrices, in a table of no command."""
    return {"contraction_spectra": rows(found.n, source=found.source, **{
        name: np.real(getattr(found, name).eigenvalues.eigenvalues) for name in ("content", "coupled")})}


def saved(tables_of: Callable[..., Dict[str, dict]], one) -> Results:
    """The tables of a result as those of a folder, with what their columns mean."""
    made, name = Results(), ""
    for name, table in tables_of(one, {"result": ".", "source": one.source, "n": one.n}).items():
        made[name] = Table(table)
        made.docs[name] = {column: columns.meaning(column, name) for column in table}
    made.provenance["."] = {"command": name.partition("_")[0]}
    return made
