"""A page: sections, their blocks as HTML, the tables behind them, what was run."""
import base64
import functools
import hashlib
import json
import os
import re

import jinja2
import numpy as np
from markupsafe import Markup

from ..figures import compose, labels, others, tabular, words
from ..figures.drawing import Drawing, Finding, Grid, Heading, Listing, Paragraph
from ..figures.rows import Rows
from . import embed, svg
from .text import prose, text

SUBJECT = "Positional encodings and the spectra of attention logits"
HERE = os.path.dirname(__file__)
STYLES, SCRIPTS = ("page.css", "figure.css"), ("frame.js", "report.js", "figures.js")
#: Bytes, compressed, of the tables that no section draws from.
OTHERS = 4 << 20
#: Tables that are told of a page without other findings.
TOLD = 8


@functools.lru_cache(maxsize=1)
def _environment():
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(os.path.join(HERE, "templates")), autoescape=True,
                              undefined=jinja2.StrictUndefined)
    made.filters.update(text=text, prose=prose)
    return made


def _asset(name):
    with open(os.path.join(HERE, "assets", name), encoding="utf-8") as file:
        return file.read()


class Embedded:
    """The tables in the page: each once, by the name of its element."""

    def __init__(self, tables, results):
        self.tables, self.results, self.made, self._data = tables, results, {}, {}

    def data(self, name):
        """The table's bytes."""
        if name not in self._data:
            self._data[name] = embed.table_bytes(self.results[name], self.results.docs.get(name, {}),
                                                 self.results.ends.get(name, {}))
        return self._data[name]

    def add(self, name):
        """The table's place; its bytes are made once."""
        if name not in self.made:
            plain = len(name) < 64 and re.fullmatch("[a-z0-9_]+", name)
            table, docs = self.results[name], self.results.docs.get(name, {})
            data = self.data(name)
            self.made[name] = {"id": name if plain else f"unnamed-{len(self.made)}", "name": name,
                               "rows": self.tables[name].size, "kilobytes": -(-len(data) * 4 // 3 // 1000),
                               "bytes": Markup(embed.element(data)),
                               "columns": [{"name": column, "type": embed.kind(table[column]),
                                            "doc": docs.get(column, "")} for column in table]}
        return self.made[name]

    def links(self, sources):
        """One link a table to the rows of these sources."""
        by_table = {}
        for rows in sources:
            if rows.table in self.tables:
                by_table.setdefault(rows.table, []).append(rows.index)
        made = []
        for name, parts in by_table.items():
            place = self.add(name)
            index = np.unique(np.concatenate(parts))
            runs = embed.runs(index, place["rows"])
            whole = runs is None and len(index) < place["rows"]
            made.append({"id": place["id"], "name": name, "runs": runs, "drawn": len(index) if whole else None,
                         "count": place["rows"] if whole else len(index)})
        return made


class _Part:
    """A block of a section that waits for its figure."""

    def __init__(self, block, identity, number=None):
        self.block, self.id, self.number, self.opens = block, identity, number, []


class Page:
    """What a page says, in order; `drawings` are drawn by whoever has time, and given back to `html`."""

    def __init__(self, results, tables, sections, folder, version):
        self.results, self.tables = results, tables
        self.folder, self.version = folder, version
        self.embedded = Embedded(tables, results)
        self.findings, self.sections, self.drawings = [], [], []
        self.templates = _environment()
        self.parts = self.templates.get_template("parts.html").module
        for section in sections:
            if section.present(tables):
                self._add_section(section)
        self._add_others()
        if not self.findings:
            self._find_rows()

    # ---- What there is ----

    def _add_section(self, section):
        found = {"id": section.id, "title": section.title, "figures": [], "headings": 0}
        found["waiting"] = self._waiting(found, compose.section_blocks(section, self.tables))
        self.sections.append(found)

    def _add_others(self):
        """The tables that no section has drawn from, while there is room for them."""
        left = OTHERS

        def fits(name):
            nonlocal left
            size = len(self.embedded.data(name))
            if size > left:
                return False
            left -= size
            return True

        drawn = self.drawn_from()
        if all(name in drawn for name in self.tables if self.tables[name].size):
            return
        found = {"id": others.SECTION.id, "title": others.SECTION.title, "figures": [], "headings": 0}
        found["waiting"] = self._waiting(found, others.blocks(self.tables, drawn, fits))
        self.sections.append(found)

    def _waiting(self, section, blocks):
        """A part for each block that is no finding; those that a row of a grid opens to are parts of it."""
        made = []
        for block in blocks:
            if isinstance(block, Finding):
                last = section["figures"][-1] if section["figures"] and not block.anchor else None
                anchor = block.anchor or (last["id"] if last else section["id"])
                self._find(block.text, anchor, f"Figure {last['number']}" if last else section["title"])
                continue
            if isinstance(block, Drawing):
                self.drawings.append(block)
                part = _Part(block, f"{section['id']}-{len(section['figures']) + 1}", len(self.drawings))
                section["figures"].append({"id": part.id, "number": part.number, "title": block.title or "figure"})
                for sentence in block.findings:
                    self._find(sentence, part.id, f"Figure {part.number}")
            else:
                section["headings"] += isinstance(block, Heading)
                part = _Part(block, f"{section['id']}-part-{section['headings']}")
            part.opens = [self._waiting(section, opened) for opened in getattr(block, "opens", ())]
            made.append(part)
        return made

    def _find(self, sentence, anchor, label):
        self.findings.append({"text": sentence, "anchor": anchor, "label": label})

    def _find_rows(self):
        """What the tables hold, on a page whose figures say nothing."""
        for name in [name for name in self.tables if self.tables[name].size][:TOLD]:
            section = next(one for one in self.sections if name in self.drawn_from([one]))
            self._find(others.finding(self.tables.rows(name), self.results.ends.get(name, {})), section["id"],
                       section["title"])

    def drawn_from(self, sections=None):
        """Names of the tables that some block of the sections (None: of all) shows rows of."""
        sections = self.sections if sections is None else sections
        waiting, names = [part for section in sections for part in section["waiting"]], set()
        while waiting:
            part = waiting.pop()
            names.update(rows.table for rows in _sources(part.block))
            waiting += [inner for opened in part.opens for inner in opened]
        return names

    # ---- HTML ----

    def html(self, pictures):
        """The page; pictures: of each drawing, in order, a dict of svg, marks, given, drawn."""
        for section in self.sections:
            section["parts"] = list(self._grouped(section["waiting"], pictures))
        scripts = [{"text": Markup(script), "hash": _hash(script)} for script in map(_asset, SCRIPTS)]
        return self.templates.get_template("page.html").render(
            name=os.path.basename(os.path.realpath(self.folder)), subject=SUBJECT, model=self._model(), folder=self.folder,
            version=self.version, bad=self.results.skipped, findings=self.findings,
            sections=self.sections, data=list(self.embedded.made.values()), results=self._results(), scripts=scripts,
            styles=Markup(svg.style_sheet() + "".join(map(_asset, STYLES))))

    def _grouped(self, waiting, pictures):
        """Parts as HTML; figures that follow each other stand side by side where there is room."""
        run = []
        for part in waiting + [None]:
            if part is not None and part.number:
                run.append(self._figure(part, pictures[part.number - 1]))
                continue
            if run and getattr(part and part.block, "beside", False):
                run[-1] = self.parts.beside(run[-1], self._grid(part.block))
                continue
            if run:
                yield Markup('<div class="grid">\n' + "\n".join(run) + "\n</div>")
                run = []
            if part is not None:
                yield self._ledger(part, pictures) if part.opens else self._block(part)

    def _figure(self, part, picture):
        block = part.block
        one = {**picture, "id": part.id, "number": part.number, "title": block.title, "caption": block.caption,
               "remark": block.remark, "wide": len(block.panels) > 2 or (block.width or 0) > 5,
               "svg": Markup(picture["svg"])}
        return self.parts.figure(one, self.embedded.links(block.sources))

    def _block(self, part):
        block = part.block
        if isinstance(block, Paragraph):
            return self.parts.paragraph(block, self.embedded.links(block.sources))
        if isinstance(block, Heading):
            return self.parts.heading(part.id, block)
        if isinstance(block, Listing):
            return self._listing(block)
        if isinstance(block, Grid):
            return self._grid(block)
        raise TypeError(f"{type(block).__name__} is no block of a page")

    def _listing(self, block):
        name, columns, more = block.rows.table, tabular.listed_columns(block), tabular.unlisted(block)
        docs, ends = self.results.docs.get(name, {}), self.results.ends.get(name, {})
        head = [{"text": labels.axis(column, name), "number": not block.rows.is_text(column),
                 "doc": ": ".join(filter(None, (column, docs.get(column))))} for column in columns]
        shown = [{"cls": None, "head": None, "cells": cells} for cells in tabular.listed_cells(block, ends)]
        table = self.parts.table(head, shown, more, self.embedded.links([block.rows]) if block.linked else [])
        return self.parts.folded(block.folded, table) if block.folded else table

    def _grid(self, block):
        head = [{"text": name, "number": number, "doc": None}
                for name, number in zip(block.head, tabular.grid_numbers(block))]
        shown = [{"cls": block.classes[i] if block.classes else None, "head": block.heads[i] if block.heads else None,
                  "cells": cells} for i, cells in enumerate(tabular.grid_cells(block))]
        return self.parts.table(head, shown, 0, self.embedded.links(block.sources))

    def _ledger(self, part, pictures):
        """A grid whose rows open; readers choose rows by the texts of one column."""
        block = part.block
        texts = [cells[block.chosen_by] for cells in block.cells]
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        formulas = list(block.formulas) or [False] * len(block.head)
        roles = dict(zip(texts, block.classes))
        chips = [{"text": text, "count": texts.count(text), "place": place, "role": roles[text]}
                 for text, place in places.items()]
        rows = [{"id": block.ids[i], "place": places[texts[i]], "role": block.classes[i], "id_text": cells[0],
                 "verdict": texts[i], "cells": list(zip(cells, formulas))[1:block.chosen_by],
                 "parts": list(self._grouped(part.opens[i], pictures))} for i, cells in enumerate(block.cells)]
        return self.parts.ledger(block, chips, rows, self.embedded.links(block.sources[:1]))

    def _model(self):
        """The name of the one checkpoint that the page is about; None: it is about something else too."""
        if {provenance.get("command") for provenance in self.results.provenance.values()} != {"checkpoint"}:
            return None
        sources = {text for name in self.tables for text in self.tables[name].texts("source")} - {None}
        if len(sources) != 1:
            return None
        types = self.tables.rows("checkpoint_architecture").where("property", "model_type")
        return words.checkpoint(sources.pop()) or (types.text("value") if len(types) else None)

    def _results(self):
        made = []
        for path, provenance in self.results.provenance.items():
            arguments = provenance.get("arguments")
            shown = " ".join(map(_json, arguments[:200])) if isinstance(arguments, list) else _json(arguments)
            if isinstance(arguments, list) and len(arguments) > 200:
                shown += f" \N{HORIZONTAL ELLIPSIS} ({len(arguments) - 200} more)"
            made.append({"path": path, "command": provenance.get("command", ""), "arguments": shown,
                         "facts": [(key, _json(provenance.get(key))) for key in ("version", "commit", "backend",
                                                                                 "seed")]})
        return made


def _sources(block):
    if isinstance(block, Listing):
        return [block.rows]
    return [rows for rows in getattr(block, "sources", ()) if isinstance(rows, Rows)]


def _json(value):
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _hash(script):
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
