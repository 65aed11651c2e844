"""What a notebook shows of a section's blocks: figures, sentences, and tables as HTML."""
import builtins
import html
import re

import matplotlib.pyplot as plt

from . import draw, drawing, labels, tabular, words

#: MathJax reads what is shown: an element of its own keeps it from a formula.
_NO_FORMULA = {ord(c): f"<span>{c}</span>" for c in "$\\"}


def _visible(text):
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _markup(text, formulas):
    """A text between tags; `formulas` in backquotes are set as code."""
    text = html.escape(_visible(text)).translate(_NO_FORMULA)
    return re.sub("`([^`]*)`", r"<code>\1</code>", text) if formulas else text


class Table:
    """Shown as HTML by Jupyter, as lines of text elsewhere. rows: lists of tabular.Cell; numbers, formulas: of each
    column, whether it is set as numbers, and whether it has formulas in `backquotes`."""

    def __init__(self, head, rows, numbers, formulas=()):
        self.head, self.rows, self.numbers = head, rows, numbers
        self.formulas = list(formulas) or [False] * len(head)

    def _line(self, tag, cells, formulas):
        """A row in HTML; a number that is shorter than it is has all its digits where a reader points."""
        made = []
        for cell, number, has_formulas in zip(cells, self.numbers, formulas):
            title = f' title="{_markup(cell.exact, False)}"' if cell.exact else ""
            made.append(f'<{tag} style="text-align:{"right" if number else "left"}"{title}>'
                        f"{_markup(cell.text, has_formulas)}</{tag}>")
        return f"<tr>{''.join(made)}</tr>"

    def _repr_html_(self):
        head = self._line("th", map(tabular.Cell, self.head), [False] * len(self.head))
        return "<table>" + "\n".join([head] + [self._line("td", row, self.formulas) for row in self.rows]) + "</table>"

    def __repr__(self):
        lines = [self.head] + [[cell.text.replace("`", "") if formulas else cell.text
                                for cell, formulas in zip(row, self.formulas)] for row in self.rows]
        lines = [list(map(_visible, line)) for line in lines]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(text.rjust(width) if number else text.ljust(width) for text, width, number in
                                   zip(line, widths, self.numbers)).rstrip() for line in lines) + "\n"


def _show_drawing(block, _ends):
    for sentence in block.findings:
        print(sentence)
    draw.draw(block)
    plt.show()
    print(block.title, block.caption, sep=". ", end="\n\n")


def _show_sentence(block, _ends):
    print(block.text.replace("`", ""), end="\n\n")


def _show_heading(block, _ends):
    print(block.text.upper())


def _show_table(table):
    getattr(builtins, "display", print)(table)  # Jupyter has it in every cell


def _show_listing(block, ends):
    if block.folded:
        print(block.folded)
    columns = tabular.listed_columns(block)
    _show_table(Table([labels.axis(name, block.rows.table) for name in columns], tabular.listed_cells(block, ends.get(block.rows.table, {})),
                      [not block.rows.is_text(name) for name in columns]))
    more = tabular.unlisted(block)
    if more:
        print(f"And {words.count(more, 'more row', 'more rows')}, in archive[{block.rows.table!r}].", end="\n\n")


def _show_grid(block, ends):
    rows = tabular.grid_cells(block)
    _show_table(Table(list(block.head), rows, tabular.grid_numbers(block), block.formulas))
    for row, opened in zip(rows, block.opens):
        print(*([row[0].text] if block.chosen_by is None else [row[0].text, row[block.chosen_by].text]), sep=": ")
        show(opened, ends)


#: How each kind of block is shown.
KINDS = {drawing.Drawing: _show_drawing, drawing.Paragraph: _show_sentence, drawing.Finding: _show_sentence,
         drawing.Heading: _show_heading, drawing.Listing: _show_listing, drawing.Grid: _show_grid}


def show(blocks, ends):
    """Shows a section's blocks in order. ends: {table: {column: "lower" or "upper"}}."""
    for block in blocks:
        KINDS[type(block)](block, ends)
