"""Eigenvalues at the ends of long kernels' spectra, and which of them their errors tell apart."""
import numpy as np

from . import heads, words
from .record import LOG, POINTS, Axis, Column, Figure, Rule, Section

TABLE = "spectrum_extremes"


def _resolved(rows):
    return int((rows.numbers("resolved") == 1).sum())


def _name(drawing):
    heads.name_series(drawing, drawing.panels[0], "eigenvalues")


def _say_resolved(drawing):
    resolved, count = _resolved(drawing.rows), len(drawing.rows)
    if resolved == count:
        return f"{'All' if count > 1 else 'The'} {f'{count} values are' if count > 1 else 'value is'} resolved."
    if not resolved:
        return "No value is resolved: each may be the same eigenvalue as a neighbour."
    rest = count - resolved
    return (f"{resolved} of {words.count(count, 'value', 'values')} {'is' if resolved == 1 else 'are'} resolved; the other "
            f"{'one' if rest == 1 else rest} may be the same eigenvalue as a neighbour.")


def _say_errors(drawing):
    """The largest error beside the least gap, as a value is resolved by both."""
    error, gap = (values[np.isfinite(values)] for values in map(drawing.rows.numbers, ("error", "gap")))
    parts = [f"The largest error is {words.upper(error.max(), 2)}"] if len(error) else []
    parts += [f"the least gap is {words.number(gap.min())}"] if len(gap) else []
    return f"{words.capital(', '.join(parts))}. {_say_resolved(drawing)}" if parts else _say_resolved(drawing)


def _say_finding(drawing):
    """The outermost value and its error, and how many are resolved."""
    rows = drawing.rows.known("value")
    if not len(rows):
        return []
    values = rows.numbers("value")
    least = rows.text("end") == "least"
    at = int(values.argmin() if least else values.argmax())
    error = rows.number("error", at)
    head = words.key(rows.pick([at]), ("head", "n"))
    within = f", known to within {words.upper(error, 2)}" if error == error else ""
    of = ", ".join(filter(None, (words.source_of_values(rows), head)))
    total = words.count(len(drawing.rows), "value", "values")
    return (f"{of}: the {rows.text('end')} eigenvalue is {words.number(values[at])}{within}; "
            f"{_resolved(drawing.rows)} of {total} at this end are resolved.")


def _at_end(end):
    return dict(tables=(TABLE,), where=("end", end), marks=POINTS, figure_by=("result", "source", "matrix"),
                group_by=("result", "source"), subject=words.source_of_values, x=Axis("index", label="place from the end"))


def _values(end):
    title = f"the {end} eigenvalues"
    return Figure(f"extremes-{end}", **_at_end(end), needs=("index", "value"),
                  undone=f"{title} are not drawn, as none is known to 1e-10 of the norm", series_by=("head", "n"),
                  outliers=True, y=Axis("value", label="eigenvalue"),
                  rules=(Rule("certified bounds of the end", "lo", colour="certified"),
                         Rule(None, "hi", colour="certified")), prepare=_name,
                  hover=("error", "gap", "resolved"), title=title, caption=_say_resolved, finding=_say_finding)


def _errors(end):
    return Figure(f"extremes-{end}-errors", **_at_end(end), needs=("index", "error"),
                  columns=(Column("error", "error"), Column("gap", "gap")), y=Axis(label="distance", scale=LOG),
                  hover=("head", "n", "resolved"), title=f"error and gap of the {end} eigenvalues",
                  caption=_say_errors)


SECTION = Section(
    "extremes", "Ends of the spectrum", (TABLE,),
    "An eigenvalue lies within its error of each point. A value is resolved if its error is at most a tenth of the gap "
    "to its neighbour and 1e-10 of the norm; two values that are not resolved may be the same eigenvalue. Values are "
    "drawn where the error is at most 1e-10 of the norm; errors and gaps are drawn for all.",
    (_values("least"), _values("largest"), _errors("least"), _errors("largest")), most=16)
