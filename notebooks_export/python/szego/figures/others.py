"""Every table that no section has drawn from; and what is said of tables of which nothing else is."""
import numpy as np

from . import labels
from .drawing import Heading, Listing, Paragraph
from .record import Section
from .words import clipped, count, number

SHOWN, TOLD = 10, 3


def _where(rows):
    """Where the rows of a table are that a page has no room for."""
    first = rows.text("result") or "its result"
    return (" Its rows are not in this page, which they would make too large: they are in the CSV files of the folder, "
            f"the first ones in that of {clipped(first)}.")


def finding(rows, ends):
    """"bench: 12 rows; median 0.1 to 0.7": the extent of a few columns of reals. ends: the columns that hold certified
    ends, which are not rounded here."""
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
