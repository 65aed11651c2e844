"""Every table that no section has drawn from; and what is said of tables of which nothing else is."""
import numpy as np

from . import labels
from .drawing import Heading, Listing, Paragraph
from .record import Section
from .words import clipped, count, key, number

SHOWN, TOLD = 10, 3


def _where(rows):
    """Where the rows of a table are that a page has no room for."""
    first = rows.text("result") or "its result"
    return (" Its rows are not in this page, which they would make too large: they are in the CSV files of the folder, "
            f"the first ones in that of {clipped(first)}.")


def _say_bench(rows):
    """How often and by what ratio this program is faster than what people use now."""
    ratio = rows.numbers("ratio")
    timed = np.flatnonzero(np.isfinite(ratio))
    if not len(timed):
        return None
    ends = [timed[choose(ratio[timed])] for choose in (np.argmax, np.argmin)]
    said = [f"{number(ratio[i])} times with {_case(rows.pick([i]))}" for i in dict.fromkeys(ends)]
    faster = int((ratio[timed] > 1).sum())
    goals = rows.texts("met")[rows.texts("met").astype(bool)]
    met = f" {int((goals == 'yes').sum())} of {count(len(goals), 'goal is', 'goals are')} met." if len(goals) else ""
    return (f"szego is faster than the rival in {faster} of {count(len(timed), 'timed case', 'timed cases')}: "
            f"{' to '.join(said[::-1])}.{met}")


def _case(row):
    return ", ".join(filter(None, (clipped(row.text("item")), clipped(row.text("input")), key(row, ("n",)))))


def _say_info(rows):
    """The program and the machine."""
    known = dict(zip(rows.texts("key"), rows.texts("value")))
    parts = [f"{name} {clipped(known[name])}" for name in ("backend", "processors", "memory", "devices") if known.get(name)]
    return f"szego {clipped(known['version'])}: {', '.join(parts)}." if known.get("version") and parts else None


def _say_encodings(rows):
    """How far the spectra of encodings are apart, and which are farthest."""
    shift = rows.numbers("shift")
    if not np.isfinite(shift).any():
        return None
    row = rows.pick([int(np.nanargmax(np.where(np.isfinite(shift), shift, np.nan)))])
    names = [clipped(row.text(column) or "unnamed") for column in ("source", "base")]
    beside = "; " + key(row, ("head", "n")) if key(row, ("head", "n")) else ""
    return (f"The spectra of {names[0]} and {names[1]} are at most {number(row.number('shift'))} apart, eigenvalue by "
            f"eigenvalue{beside}.")


#: Tables without a section whose sentence is more than the extent of their columns.
SENTENCES = {"bench_bench": _say_bench, "info_info": _say_info, "diff_diff_encodings": _say_encodings}


def finding(rows, ends):
    """What a table without a figure says; else "power: 12 rows; median 0.1 to 0.7", the extent of a few columns of reals.
    ends: the columns that hold certified ends, which are not rounded here."""
    said = SENTENCES[rows.table](rows) if rows.table in SENTENCES else None
    return said or _extent(rows, ends)


def _extent(rows, ends):
    parts = []
    for column in rows.source.names:
        values = rows.numbers(column)[~np.isnan(rows.numbers(column))]
        if column in ends or rows.source.is_whole(column) or not len(values) or not np.isfinite(values).all():
            continue
        least, most = number(values.min()), number(values.max())
        parts.append(f"{clipped(labels.words(column, rows.table))} {least}{f' to {most}' if most != least else ''}")
    return "; ".join([f"{clipped(rows.table)}: {count(len(rows), 'row', 'rows')}", *parts[:TOLD]]) + "."


def blocks(tables, drawn=(), fits=lambda name: True):
    """Blocks on the tables with rows whose names are not among `drawn`, those that a section's blocks came from.
    fits: whether there is room for the table whose name is given."""
    left = [tables.rows(name) for name in tables if name not in drawn and len(tables.rows(name))]
    if not left:
        yield Paragraph("There are none: a section above draws from every table of this folder.")
    for rows in left:
        columns, room = len(rows.source.names), fits(rows.table)
        yield Heading(rows.table)
        yield Paragraph(f"{count(len(rows), 'row', 'rows')}, {count(columns, 'column', 'columns')}."
                        + ("" if room else _where(rows)), sources=[rows] if room else [])
        yield Listing(rows, rows.source.names, most=SHOWN, linked=False, folded="its first rows")


#: A page calls `blocks` itself, with the names of the tables that its sections have drawn from.
SECTION = Section("others", "Other tables", compose=lambda section, tables: blocks(tables),
                  is_present=lambda tables: True)
