"""Every table that no section has drawn from."""
from .drawing import Heading, Listing, Paragraph
from .record import Section
from .words import count

SHOWN = 10


def blocks(tables, drawn=()):
    """Blocks on the tables whose names are not among `drawn`, those of tables that a section's blocks came from."""
    left = [tables.rows(name) for name in tables if name not in drawn]
    if not left:
        yield Paragraph("There are none: a section above draws from every table of this folder.")
    for rows in left:
        columns = len(rows.source.names)
        yield Heading(rows.table)
        yield Paragraph(f"{count(len(rows), 'row', 'rows')}, {count(columns, 'column', 'columns')}.", sources=[rows])
        if len(rows):
            yield Listing(rows, rows.source.names, most=SHOWN)


#: A page calls `blocks` itself, with the names of the tables that its sections have drawn from.
SECTION = Section("others", "Other tables", compose=lambda section, tables: blocks(tables),
                  is_present=lambda tables: True)
