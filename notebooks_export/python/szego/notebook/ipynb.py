"""A notebook that draws the page's figures with NumPy and Matplotlib alone: it carries the modules that do so."""
import collections
import json
import os

from .. import columns
from ..errors import ArgumentError, MissingPackageError
from ..figures import subjects
from ..figures.words import count
from ..files import whole_file
from ..markup import escaped, visible
from .archive import dtype

try:
    import nbformat
except ImportError as _error:
    raise MissingPackageError("a notebook needs nbformat: apt install python3-nbformat, or pip install "
                              "nbformat") from _error

RESULTS_SHOWN, NAME_SHOWN, TEXT_SHOWN = 100, 200, 600
FIGURES = os.path.join(os.path.dirname(__file__), "..", "figures")
#: What every subject needs, in the order of their imports.
COMMON = ("names", "labels", "words", "rows", "record", "drawing", "unplaced", "compose", "colours", "thin", "draw",
          "tabular", "jupyter")
_MARKDOWN = str.maketrans({**{c: f"&#{ord(c)};" for c in "`*_{}[]()+-.!|~:/@^=%"},
                           # MathJax reads what is shown: an element of its own keeps it from a formula.
                           **{c: f"<span>&#{ord(c)};</span>" for c in "$\\"}, "\n": " ", "\t": " "})

LOAD = '''import dataclasses
import json
import sys
import types

import numpy as np
import matplotlib.pyplot as plt

FILE = {file}  # beside this notebook
archive = np.load(FILE, max_header_size=10**6)
manifest = json.loads(archive["manifest"].item())
np.set_printoptions(floatmode="unique")  # the end of an enclosure that is rounded may lie inside it

figures = types.ModuleType("szego_figures")
figures.__path__ = []
sys.modules["szego_figures"] = figures


def module(name, source):
    """A module of this notebook: `from szego_figures import NAME`. Change its source and run the cell again."""
    made = types.ModuleType(f"szego_figures.{{name}}")
    made.__package__ = "szego_figures"
    sys.modules[made.__name__] = made
    exec(compile(source, f"{{name}}.py", "exec"), made.__dict__)
    setattr(figures, name, made)


def show(section):
    """Shows a section's figures, sentences and tables; the cell above has its introduction."""
    tables = figures.rows.Tables({{name: archive[name] for name in archive.files if name != "manifest"}})
    ends = {{table["name"]: {{column["name"]: column["end"] for column in table["columns"] if "end" in column}}
            for table in manifest["tables"]}}
    section = dataclasses.replace(section, intro=None)
    blocks = figures.compose.section_blocks(section, tables)
    figures.jupyter.show(blocks, ends)
    if not blocks:
        print("These results have nothing that can be shown here.")


sorted(archive.files)'''

ARRAYS = """The numbers are beside this notebook in {file}, one structured array per table, whose elements are the rows
and whose fields are the columns. The notebook needs only NumPy and Matplotlib. No cell has run yet: *Run all cells*.

- `archive["verify_claims"]["verdict"]` is a column of a table. Arrays are named after the command and the table.
- `<f8` are real numbers, exact to the last bit. A cell that does not apply is NaN.
- If the manifest gives a column an `end`, `lower` or `upper`, its numbers are ends of enclosures: print all their
  digits, as NumPy does below, or round outwards.
- `<i8` are integers. If a cell of an integer column does not apply, the column is `<f8` and the cell is NaN; every
  value is still exact.
- `|S` are texts, UTF-8 bytes: `.decode()`. A cell that does not apply and an empty text are both `b""`.
- `result` is the folder that a row comes from; `note` is a remark about the row.
- `manifest` is a JSON text with the provenance of every result, and with this list."""

#: The module `names` of a notebook, where no tables.json is.
NAMES = '''"""Label and unit of a column: COLUMN, or TABLE.COLUMN where that table's differs from the others'."""
NAMES = {{
{lines}
}}


def label(column, table):
    return _name(column, table)[0]


def unit(column, table):
    return _name(column, table)[1]


def _name(column, table):
    return NAMES.get(f"{{table}}.{{column}}") or NAMES.get(column, (column, ""))
'''


def markdown(value, characters=NAME_SHOWN):
    """A text from a file in a cell of text: nothing in it is markup or a formula."""
    return escaped(visible(value, characters)).translate(_MARKDOWN)


def _code(value, characters=NAME_SHOWN):
    return f"<code>{markdown(value, characters)}</code>"


def _title(results, folder, version, commit):
    read = count(len(results.provenance), "result", "results")
    lines = [f"# Results of {_code(folder)}", "",
             f"Written by szego {version} ({commit}) from {read}; the whole provenance of each, its command "
             "line and its configuration, is in `manifest[\"results\"]`.", "",
             "| folder | command | version | commit | backend |", "|---|---|---|---|---|"]
    for path, provenance in list(results.provenance.items())[:RESULTS_SHOWN]:
        facts = [provenance.get(key) for key in ("command", "version", "commit", "backend")]
        lines.append("| " + " | ".join(_code(fact if isinstance(fact, str) else "") for fact in [path, *facts]) + " |")
    if len(results.provenance) > RESULTS_SHOWN:
        lines += ["", f"{count(len(results.provenance) - RESULTS_SHOWN, 'more is', 'more are')} in the manifest."]
    if results.skipped:
        lines += ["", f"{count(len(results.skipped), 'result was', 'results were')} left out:", ""]
        lines += [f"- {markdown(message, TEXT_SHOWN)}" for message in results.skipped[:RESULTS_SHOWN]]
    return "\n".join(lines)


def _arrays(results, file):
    lines = ["## How to read the arrays", "", ARRAYS.format(file=_code(file))]
    for name, table in results.items():
        docs = results.docs.get(name, {})
        rows = count(len(next(iter(table.values()))), "row", "rows")
        lines += ["", f"### `{name}`: {rows}", "", "| column | dtype | |", "|---|---|---|"]
        lines += [f"| {_code(column)} | {_code(dtype(cells))} | {markdown(docs.get(column, ''), TEXT_SHOWN)} |"
                  for column, cells in table.items()]
    return "\n".join(lines)


def names(tables):
    """The source of the module `names` for these tables, {name: its columns}, and for measures."""
    measured = {"arms": [one["name"] for one in columns.tables()["arms"]["columns"]]}
    found = {}
    for table, column in [(table, one) for table, own in {**tables, **measured}.items() for one in own]:
        name, common = [(columns.label(column, of), columns.unit(column, of)) for of in (table, None)]
        found[column if name == common else f"{table}.{column}"] = name
    return NAMES.format(lines="\n".join(f"    {key!r}: {name!r}," for key, name in sorted(found.items())
                                        if name != (key, "")))


def _file(name):
    with open(os.path.join(FIGURES, f"{name}.py"), encoding="utf-8") as file:
        return file.read()


def _module(name, source):
    if "'''" in source:
        raise ValueError(f"figures/{name}.py has ''' in it, which ends its text in a notebook")
    return f"module({name!r}, r'''\n{source}''')"


def _needed(name, found):
    """The module and those that it imports from the package, before it."""
    import ast  # pylint: disable=import-outside-toplevel
    for node in ast.walk(ast.parse(_file(name))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            for other in [node.module] if node.module else [alias.name for alias in node.names]:
                if other not in found and other != name:
                    _needed(other, found)
    if name not in found:
        found.append(name)
    return found


def _short(module):
    return module.__name__.rpartition(".")[2]


def cells(results, tables, folder, file, version, commit):
    """The notebook's cells, in the order in which they run."""
    made = [("title", _title(results, folder, version, commit)), ("readme", _arrays(results, file)),
            ("load-text", "## Loading\n\nThe cells below depend on this one and on the next: run them, then any of the "
             "others. `archive` holds the arrays, `manifest` what they mean."),
            ("load", LOAD.format(file=json.dumps(file)), True)]
    present = [(module, section) for module in subjects.modules() for section in subjects.sections_of(module)
               if section.present(tables)]
    needed = [_needed(_short(module), []) for module, _ in present]
    users = collections.Counter(name for each in needed for name in each)
    # A cell of a section depends on no other section's: what two of them need is carried before both.
    shared = [*COMMON, *(name for name in users if users[name] > 1 and name not in COMMON)]
    made.append(("figures", "\n\n".join(
        _module(name, names(results) if name == "names" else _file(name)) for name in shared), True))
    for (module, section), each in zip(present, needed):
        intro = f"\n\n{section.intro}" if section.intro else ""
        made.append((f"{section.id}-text", f"## {section.title}{intro}"))
        own = [one for one in each if one not in shared]
        place = "SECTION" if hasattr(module, "SECTION") else f"SECTIONS[{module.SECTIONS.index(section)}]"
        made.append((section.id, "\n\n".join([*map(_module, own, map(_file, own)),
                                              f"show(figures.{_short(module)}.{place})"]), True))
    return made


def write_notebook(results, tables, path, source, version, commit):
    """FILE.ipynb, nbformat 4.5, not executed."""
    file = os.path.basename(path)[: -len(".ipynb")] + ".npz"
    try:
        file.encode("utf-8")
    except UnicodeEncodeError:
        raise ArgumentError(f"{path!r}: a notebook, whose text is UTF-8, has to name the npz beside it: give the file a "
                            "name in UTF-8", "SZG_EINVAL") from None
    book = nbformat.v4.new_notebook(metadata={"kernelspec": {"display_name": "Python 3", "language": "python",
                                                             "name": "python3"}, "language_info": {"name": "python"}})
    book.nbformat_minor = 5
    for identity, source_text, *code in cells(results, tables, source, file, version, commit):
        make = nbformat.v4.new_code_cell if code else nbformat.v4.new_markdown_cell
        cell = make(source_text)
        cell["id"] = identity
        book.cells.append(cell)
    nbformat.validate(book)
    with whole_file(path) as written:
        written.write(nbformat.writes(book) + "\n")
