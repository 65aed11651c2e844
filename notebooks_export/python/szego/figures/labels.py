"""What axes, legends and hover texts call columns and measures."""
from . import names

#: Measures of runs that no table has as a column.
MEASURES = {"contraction": "ratio of widths", "curvature": "largest eigenvalue of the Hessian",
            "curvature_adamw": "largest eigenvalue, preconditioned", "gradient_share": "worst head's share of the gradient norm"}


def words(column, table):
    """The words for a column of a table; its name where no table has it."""
    return names.label(column, table)


def axis(column, table):
    """The words with the unit: "lag (positions)"."""
    name, unit = words(column, table), names.unit(column, table)
    return f"{name} ({unit})" if unit and unit != name else name


def measure(name):
    """The words for what hypotheses, relations and courses compare: a column of `arms`, or one of MEASURES."""
    return MEASURES.get(name) or words(name, "arms")
