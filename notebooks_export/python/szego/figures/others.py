"""Every table that no section has drawn from."""
from .drawing import Heading, Listing, Paragraph
from .record import Section
from .words import clipped, count

SHOWN = 10


def _where(rows):
    """Where the rows of a table are that a page has no room for."""
    first = rows.text("result") or "its result"
    return (" Its rows are not in this page, which they would make too large: they are in the CSV files of the folder, the "
            f"first ones in that of {clipped(first)}.")


def blocks(tables, drawn=(), fits=lambda name: True):
    """Blocks on the tables whose names are not among `drawn`, those of tables that a section's blocks came from.
    fits: whether there is room for the table whose name is given."""
    left = [tables.rows(name) for name in tables if name not in drawn]
    if not left:
        yield Paragraph("There are none: a section above draws from every table of this folder.")
    for rows in left:
        columns, room = len(rows.source.names), fits(rows.table)
        yield Heading(rows.table)
        yield Paragraph(f"{count(len(rows), 'row', 'rows')}, {count(columns, 'column', 'columns')}."
                        + ("" if room else _where(rows)), sources=[rows] if room else [])
        if len(rows):
            yield Listing(rows, rows.source.names, most=SHOWN, linked=False, folded="its first rows")


#: A page calls `blocks` itself, with the names of the tables that its sections have drawn from.
SECTION = Section("others", "Other tables", compose=lambda section, tables: blocks(tables),
                  is_present=lambda tables: True)
