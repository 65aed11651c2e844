#!/usr/bin/python3
"""How results of the Python package show themselves: texts, HTML, frames, and the artists of every figure against
the arrays. usage: test_show.py PROGRAM"""
import copy
import dataclasses
import html
import html.parser
import os
import pickle
import re
import subprocess
import sys
import warnings

from peer import Tap, scratch, skip

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
PACKAGE = os.path.join(ROOT, "notebooks_export", "python")
sys.path[:0] = [PACKAGE, os.path.join(HERE, "..", "browser")]
# pylint: disable=wrong-import-position
import results as made
try:
    import numpy as np
    import szego
    from szego import display
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
UNNEEDED = {"matplotlib", "pandas"} & set(sys.modules)
try:
    import pandas
except ImportError:
    pandas = None
try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    matplotlib = None

PROGRAM = os.path.abspath(sys.argv[1])
os.environ["SZEGO"] = PROGRAM
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")
HOSTILE = ["<script>alert(1)</script>", '"onmouseover="alert(1)', "</td></table><img src=x onerror=alert(1)>", "&lt;",
           "a\nb", "\u202egnp", "\x1b[31m", "x" * 5000]


def refused(name, call, *words, kind=szego.SzegoError):
    tap.refused(name, call, *words, kind=kind)


def table(**columns):
    return szego.Table((name, np.ma.asanyarray(cells) if not isinstance(cells, list) else
                        np.array(cells, object if isinstance(cells[0], str) else None))
                       for name, cells in columns.items())


# ---- Texts and HTML -----------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    """What a browser would make of a piece of HTML."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.open = set(), set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {f"{name}={value}" for name, value in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.open.append("/" + tag)

    def handle_data(self, data):
        self.text.append(data)


TAGS = {"div", "strong", "small", "table", "thead", "tbody", "tr", "th", "td"}
STYLES = {"style=max-width:100%;overflow-x:auto", "style=text-align:left", "style=text-align:left;white-space:nowrap",
          "style=text-align:right;white-space:nowrap"}


def harmless(name, shown):
    """No tag, attribute or colour but those of display.py; one line per text; closed."""
    page = Page(shown)
    tap.ok(f"{name}: tags and attributes", page.tags <= TAGS and page.attributes <= STYLES and not page.open,
           f"{page.tags - TAGS} {page.attributes - STYLES} {page.open}")
    cells = [text for text in page.text if text != "\n"]
    tap.ok(f"{name}: what is printed is printable", all(text.isprintable() for text in cells))
    tap.ok(f"{name}: no link, colour or font", not re.search(r"http|color|font|url|src=[^x]", shown))
    return "".join(page.text)


def check_results(loaded):
    text = repr(loaded)
    lines = text.splitlines()
    tap.ok("a short repr of many tables", len(loaded) > 30 and len(lines) <= 30 and len(text) < 3000,
           f"{len(loaded)} {len(lines)} {len(text)}")
    right = 0
    for line in lines[1:]:
        name, rows, _, columns, _, results, _ = (line.split() + [""] * 7)[:7]
        if name in loaded:
            one = loaded[name]
            wanted = len(one["result"]), len(one), len(set(one["result"]))
            right += (int(rows), int(columns), int(results)) == wanted
    tap.ok("one line per table, its counts", right == display.LINES, str(right))
    tap.ok("the rest is counted", lines[-1].strip() == f"and {len(loaded) - display.LINES} more tables", lines[-1])
    page = harmless("results as HTML", loaded._repr_html_())
    tap.ok("results as HTML: every shown table", all(name in page for name in list(loaded)[:display.LINES]))
    for name, one in loaded.items():
        tap.ok(f"{name}: a short repr", len(repr(one).splitlines()) <= 30 and len(repr(one)) < 6000,
               f"{len(repr(one).splitlines())} {len(repr(one))}")
    many = szego.Results()
    many.update({f"t{index}": table(a=np.arange(3)) for index in range(1000)}, other=3, none=None)
    many.skipped.append("<b>")
    tap.ok("a thousand tables", len(repr(many).splitlines()) <= 30 and "and 978 more tables" in repr(many)
           and "1 result was left out" in repr(many))
    harmless("a thousand tables as HTML", many._repr_html_())
    odd = szego.Results()
    odd.update({"<script>": 3, "b": None, "c": {}, "d": [1]})
    harmless("values that are no tables", odd._repr_html_())
    tap.ok("values that are no tables: repr", len(repr(odd).splitlines()) == 5)


def check_tables():
    hostile = table(**{name: HOSTILE for name in HOSTILE}, note=HOSTILE)
    page = harmless("hostile names and notes", hostile._repr_html_())
    tap.ok("hostile texts are shown as texts", HOSTILE[0] in page and HOSTILE[3] in page)
    lines = repr(hostile).splitlines()
    tap.ok("hostile texts: one line per column", len(lines) == len(hostile) + 1
           and all(line_.isprintable() for line_ in lines)
           and len(repr(hostile)) < 4000, f"{len(lines)}")
    results = szego.Results()
    results.update({name: hostile for name in HOSTILE})
    harmless("hostile names of tables", results._repr_html_())
    for one in (szego.Theorem(*HOSTILE[:2]), szego.Range(0.1, 0.2, 1 / 3, 1, 0, 1, HOSTILE[0], HOSTILE[2])):
        harmless(type(one).__name__, one._repr_html_())
    tap.ok("a range has every digit", "0.3333333333333333" in szego.Range(0, 0, 1 / 3, 1, 0, 0, "", "")._repr_html_())
    large = table(**{f"same{k}": np.zeros(10**5) for k in range(30)}, **{f"c{k}": np.arange(10**5) for k in range(11)})
    page = harmless("a large table", large._repr_html_())
    tap.ok("a large table is cut, with a count", "and 99990 more rows, 29 more columns" in page
           and len(large._repr_html_()) < 20000, page[-60:])
    tap.ok("columns that differ come first", "c0" in page and "c10" in page and "same0" in page and "same1" not in page)
    ends = table(min_lo=np.array([1 / 3]), lambda_min=np.array([1 / 3]))
    tap.ok("ends of enclosures have every digit", all(shown.count(repr(1 / 3)) == 1 and "0.333333" in shown.replace(
        repr(1 / 3), "") for shown in (repr(ends), ends._repr_html_())))
    gaps = table(i=np.ma.array([1, 2, 3], mask=[0, 1, 0]), x=np.array([np.nan, 1, 2.5]), t=["", "b", "c"])
    tap.ok("empty cells are told from NaN", "int64, 1 empty  1, empty, 3" in repr(gaps) and "nan, 1, 2.5" in repr(gaps),
           repr(gaps))
    odd = szego.Table(a=1, b="<b>", c=[1, 2], d=np.zeros((2, 2)), e=None, f=np.zeros(3), g={"a": 1})
    harmless("a dict of anything", odd._repr_html_())
    tap.ok("a dict of anything: repr", len(repr(odd).splitlines()) == 8, repr(odd))
    tap.ok("no rows", "0 rows" in repr(table(a=np.zeros(0))) and "0 rows" in szego.Table()._repr_html_())


def check_objects():
    q, k = rng.standard_normal((2, 24, 8))
    both = szego.contraction(q, k, "rope:dim=8,pairing=half")
    found = szego.spectrum("rope:dim=8", 32)
    stack = szego.spectra(rng.standard_normal((50, 6, 6)))
    for one in (found, found.range, found.theorem, szego.symbol("kms:rho=0.5", 16), both, both.content, stack):
        page = harmless(type(one).__name__, one._repr_html_())
        tap.ok(f"{type(one).__name__}: a few lines", len(page) < 4000 and len(one._repr_html_()) < 8000, str(len(page)))
    tap.ok("a stack of matrices says what is alike once",
           stack._repr_html_().count(html.escape(stack.method[0])) == 1, stack._repr_html_())
    for one in (found, szego.symbol("kms:rho=0.5", 16), both):
        reprs = [repr(dataclasses.replace(one, source=hostile)) for hostile in HOSTILE]
        tap.ok(f"{type(one).__name__}: one short line whatever the source", all(
            text.isprintable() and len(text) < 300 for text in reprs), max(reprs, key=len)[:200])
    page = found._repr_html_()
    tap.ok("a spectrum shows its certified ends whole", repr(found.range.lo) in page and repr(found.range.hi) in page)


def check_calls(folder, loaded):
    """Tables of calls in this process show themselves, and turn into frames, as those of load() do."""
    found = {"verify": szego.verify(), "checkpoint": szego.checkpoint(folder + "-inputs/model"),
             "train": szego.train(made.TRAINING, overrides={"capture.every": 3})}
    for name, one in found.items():
        page = harmless(type(one).__name__, one._repr_html_())
        tap.ok(f"{name}: a few lines", len(page) < 4000 and f"szego.{type(one).__name__}" in page, page[:200])
        said = szego.load(os.path.join(folder, name)) if name == "checkpoint" else loaded  # there are two of them
        tables = sorted(of for of in said if of.split("_")[0] == name and of not in ("train_runs", "verify_checks"))
        tap.ok(f"{name}: the tables that a folder has, each a Table", sorted(one) == tables
               and all(type(one[of]) is szego.Table for of in one), f"{sorted(one)} {tables}")
        for of in one.keys() if pandas is not None else ():
            frame, want = one[of].frame(), said[of].frame()
            same = of != "train_timing" and name != "train" and "source" not in want  # seconds, folders and paths differ
            tap.ok(f"{of}: a frame", list(frame.columns) == list(want.columns) and frame.dtypes.equals(want.dtypes)
                   and len(frame) == len(want) and (not same or frame.drop(columns="result").equals(
                       want.drop(columns="result"))), f"{len(frame)} {len(want)}")
    return found["train"].tables


def check_dicts(loaded):
    """Results and tables are the dicts that they were."""
    for name, again in (("pickle", pickle.loads(pickle.dumps(loaded))), ("copy", copy.copy(loaded)),
                        ("deepcopy", copy.deepcopy(loaded))):
        same = all(np.array_equal(np.ma.filled(again[of][c], again[of][c].dtype.type()), np.ma.filled(
            loaded[of][c], loaded[of][c].dtype.type()), equal_nan=loaded[of][c].dtype.kind == "f")
            for of in loaded for c in loaded[of])
        tap.ok(f"{name}: types, docs, provenance", type(again) is szego.Results and [*again] == [*loaded] and
               (again.docs, again.provenance, again.skipped) == (loaded.docs, loaded.provenance, loaded.skipped) and
               all(type(one) is szego.Table for one in again.values()))
        tap.ok(f"{name}: arrays", same)
    tap.ok("equality", szego.Results() == {} and szego.Table(a=1) == {"a": 1} and szego.Table(a=1) != {"a": 2}
           and copy.copy(loaded) == loaded)
    one = loaded["spectrum_summary"]
    tap.ok("a table is a dict of arrays", isinstance(one, dict) and type(one["n"]) is np.ndarray
           and isinstance(one.copy(), szego.Table) and {**one}.keys() == one.keys())


# ---- Frames -------------------------------------------------------------------------------------


def check_frames(folder, loaded):
    if pandas is None:
        tap.ok("frames # SKIP pandas is missing: Debian's python3-pandas is needed", True)
        return
    whole = szego.load(folder, frames=True)
    for name, one in loaded.items():
        kinds = {column: "Int64" if cells.dtype == np.int64 else str(cells.dtype) for column, cells in one.items()}
        tap.ok(f"{name}: a frame, its types", {c: str(t) for c, t in loaded.frame(name).dtypes.items()} == kinds
               and len(loaded.frame(name)) == len(one["result"]))
        pandas.testing.assert_frame_equal(loaded.frame(name), whole[name])
        pandas.testing.assert_frame_equal(one.frame(), whole[name])
        tap.ok(f"{name}: whole frames are what frames=True gives", whole.frame(name) is whole[name])
    tap.ok("a repr of frames", len(repr(whole).splitlines()) <= 30 and
           repr(whole).splitlines()[1:] == repr(loaded).splitlines()[1:])
    exact = table(i=np.ma.array([2**63 - 1, -2**63, 2**53 + 1], mask=[0, 1, 0]), j=np.array([2**53 + 1, 0, 1]),
                  x=np.ma.array([0.1, 1, np.nan], mask=[0, 1, 0]),
                  t=np.ma.array(np.array(["a", "", ""], object), mask=[0, 0, 1]))
    frame = exact.frame()
    tap.ok("integers keep their digits", frame["i"].iloc[0] == 2**63 - 1 and frame["i"].iloc[2] == 2**53 + 1
           and frame["i"].isna().tolist() == [False, True, False] and frame["j"].iloc[0] == 2**53 + 1)
    tap.ok("empty reals and texts", frame["x"].isna().tolist() == [False, True, True]
           and frame["t"].tolist() == ["a", "", None])
    frame.loc[0, "x"] = 7
    frame.loc[0, "j"] = 7
    tap.ok("a frame of integers is a copy", exact["j"][0] == 2**53 + 1)
    found, symbol = szego.spectrum("rope:dim=64", 512), szego.symbol("kms:rho=0.5", 16)
    frame = found.frame()
    tap.ok("a spectrum as a frame", [*frame] == ["value", "multiplicity"] and frame["multiplicity"].sum() == 512
           and np.array_equal(frame["value"], found.values) and str(frame["multiplicity"].dtype) == "Int64")
    tap.ok("a symbol as a frame", [*symbol.frame()] == ["theta", "value"]
           and np.array_equal(symbol.frame()["value"], symbol.values))
    refused("a table that is not there", lambda: loaded.frame("spectrum_sumary"), "spectrum_summary")


def check_missing(folder):
    """Without pandas and Matplotlib the package is imported, and says what is needed."""
    for name in ("pandas", "matplotlib"):
        with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as file:
            file.write("raise ImportError('none here')\n")
    code = """import szego, numpy
def said(call):
    try: call()
    except szego.SzegoError as error: print(error)
found = szego.spectrum([2.0, -1.0], 9)
said(found.frame)
said(lambda: szego.Table(a=numpy.zeros(1)).frame())
said(lambda: szego.plot)
print(hasattr(szego, "other"), "plot" in dir(szego))
import inspect, pydoc
print(hasattr(szego, "plot"), getattr(szego, "plot", None), "plot" in dict(inspect.getmembers(szego)),
      "spectrum" in pydoc.render_doc(szego))
try: import szego.plot
except ImportError as error: said(lambda: exec("raise error", {"error": error}))
try: szego.plot
except AttributeError as error: said(lambda: exec("raise error", {"error": error}))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([folder, PACKAGE])})
    said = done.stdout.splitlines()
    tap.ok("pandas is missing: it is named", len(said) == 7 and
           all("needs pandas (pip install pandas)" in line for line in said[:2]), done.stdout + done.stderr)
    tap.ok("Matplotlib is missing: it is named", len(said) == 7 and said[3] == "False True" and all(
        "szego.plot needs Matplotlib (pip install matplotlib)" in said[at] for at in (2, 5, 6)), done.stdout + done.stderr)
    tap.ok("Matplotlib is missing: help and getmembers go on", said[4:5] == ["False None False True"],
           done.stdout + done.stderr)
    tap.ok("neither is imported before it is used", not UNNEEDED, str(UNNEEDED))


# ---- Figures ------------------------------------------------------------------------------------


def title(axis):
    """The title of a panel, or else that of its figure."""
    above = axis.figure._suptitle  # pylint: disable=protected-access
    return axis.get_title() or axis.get_title("left") or (above.get_text() if above else "")


def drawn(name, call, *warned):
    """The figures' axes, closed, after a look at what every figure must have. warned: a word of each warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", "warn_", UserWarning)  # Matplotlib's parser with another pyparsing
        axes = [*np.ravel(np.array(call(), dtype=object))]
        figures = list(dict.fromkeys(axis.figure for axis in axes))
        for figure in figures:
            figure.canvas.draw()
    said = [str(one.message) for one in caught]
    tap.ok(f"{name}: warnings are of what is left out", len(said) == len(warned)
           and all(word in text for word, text in zip(warned, said)), str(said))
    tap.ok(f"{name}: titles and labels", all(
        title(a) and any(b.get_xlabel() for b in a.figure.axes) for a in axes))
    for figure in figures:
        check_layout(name, figure)
        plt.close(figure)
    return axes


def check_layout(name, figure):
    renderer = figure.canvas.get_renderer()
    boxes = [axis.get_tightbbox(renderer) for axis in figure.axes]
    # A pixel: what rounding to pixels moves.
    inside = all(box.x0 >= -1 and box.y0 >= -1 and box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1
                 for box in boxes)
    tap.ok(f"{name}: nothing is cut off", inside, str([box.extents.round().tolist() for box in boxes]))
    for axis in figure.axes:
        legend = axis.get_legend()
        if legend:
            box, data = legend.get_window_extent(renderer), axis.get_window_extent(renderer)
            tap.ok(f"{name}: the legend is beside the data", box.x0 >= data.x1)


def nth(axis, i):
    """A line by its place: (x, y)."""
    return axis.lines[i].get_xdata(), axis.lines[i].get_ydata()


def has_line(name, axis, x, y):
    """Whether a line of the panel has these points."""
    tap.ok(name, any(one.get_xydata().shape == (len(x), 2) and np.array_equal(one.get_xydata().T, [x, y])
                     for one in axis.lines), str([one.get_xydata().tolist() for one in axis.lines]))


def equal(name, got, want):
    got, want = np.asarray(got, float), np.asarray(want, float)
    good = got.shape == want.shape and np.array_equal(got, want, equal_nan=True)
    tap.ok(name, good, "" if good else f"{got!r}, want {want!r}")


def near(name, got, want):
    """Up to the rounding of a sum and a quotient: 4 eps of the size."""
    got, want = np.asarray(got, float), np.asarray(want, float)
    good = got.shape == want.shape and (np.abs(got - want) <= 4 * np.finfo(float).eps * np.abs(want)).all()
    tap.ok(name, good, "" if good else f"{got!r}, want {want!r}")


def of(rows, **wanted):
    """Rows of a table, by hand."""
    keep = np.ones(len(rows["result"]), bool)
    for name, value in wanted.items():
        keep &= np.ma.filled(rows[name] == value, False).astype(bool)
    return {name: np.ma.getdata(cells)[keep] for name, cells in rows.items()}


def rules(axis):
    """Heights of the lines across the panel."""
    return [one.get_ydata()[0] for one in axis.lines if list(one.get_xdata()) == [0, 1]]


def circle(axis):
    """(x, y) of the longest line."""
    return max((one.get_xydata().T for one in axis.lines), key=lambda xy: xy.shape[1])


def check_spectrum(loaded):
    axes = drawn("spectrum", lambda: szego.plot.spectrum(loaded), "head 1, which is 0.0625 times head 0")
    tap.ok("spectrum: one figure per source, and one for singular values", len(axes) == 5
           and len({axis.figure for axis in axes}) == 5, str([title(axis) for axis in axes]))
    (axis,) = drawn("spectrum of one source", lambda: szego.plot.spectrum(loaded, source="kms:rho=0.9"))
    values = np.sort(of(loaded["spectrum_eigenvalues"], source="kms:rho=0.9")["re"])
    equal("spectrum: values over the share", nth(axis, 0), ((np.arange(64) + 0.5) / 64, values))
    samples = of(loaded["spectrum_samples"], source="kms:rho=0.9")["re"]
    equal("spectrum: quantiles", nth(axis, 1)[1], np.sort(samples))
    stated = of(loaded["spectrum_range"], source="kms:rho=0.9")
    equal("spectrum: certified range", rules(axis), [stated["min_lo"][0], stated["max_hi"][0]])
    (axis,) = drawn("spectrum of low rank", lambda: szego.plot.spectrum(loaded, source="rope:dim=8"))
    listed = of(loaded["spectrum_eigenvalues"], source="rope:dim=8")["re"]
    above = np.sort(listed[listed != 0])[::-1]
    equal("spectrum of low rank: by rank, without the zeros", nth(axis, 0), (np.arange(1, len(above) + 1), above))
    tap.ok("spectrum of low rank: the axes", (axis.get_yscale(), axis.get_xlabel()) == ("log", "rank"))
    plane, singular = drawn("complex values", lambda: szego.plot.spectrum(loaded, source="relative:seed=3"))
    wanted = of(loaded["spectrum_eigenvalues"], source="relative:seed=3", kind="eigenvalue")
    equal("complex values: the plane", nth(plane, 0), (wanted["re"], wanted["im"]))
    stated = of(loaded["spectrum_range"], source="relative:seed=3")
    near("complex values: the certified circle", np.hypot(*circle(plane)), np.full(181, stated["max_hi"][0]))
    wanted = of(loaded["spectrum_eigenvalues"], source="relative:seed=3", kind="singular")
    equal("complex values: the singular values", nth(singular, 0)[1], np.sort(wanted["re"]))


def check_zeros():
    """Of 6 values 3 are 0 by structure: a row that says so, or, in older results, a count beside the others."""
    same = {"result": ["."] * 4, "source": ["x"] * 4, "kind": ["eigenvalue"] * 4}
    row = table(**same, re=np.array([-1.0, 0, 2, 3]), im=np.zeros(4), n=np.full(4, 6), zeros=np.full(4, 3),
                multiplicity=np.array([1, 3, 1, 1]))
    older = {name: cells[[0, 2, 3]] for name, cells in row.items() if name != "multiplicity"}
    for name, rows in (("a row", row), ("a count", older)):
        (axis,) = drawn(f"zeros: {name}", lambda rows=rows: szego.plot.spectrum({"spectrum_eigenvalues": rows}))
        equal(f"zeros: {name}: the others, by their sizes", nth(axis, 0), ([1, 2, 3], [3, 2, 1]))
    # Three of nine values are not listed, as many as there are zeros in a row.
    part = {**row, "n": np.full(4, 9)}
    refused("zeros are not added twice", lambda: szego.plot.spectrum({"spectrum_eigenvalues": part}),
            "3 values are listed", "3 are said to be 0", "order 9")
    (axis,) = drawn("zeros: a part beside a whole", lambda: szego.plot.spectrum({"spectrum_eigenvalues": {
        name: np.concatenate([cells, np.full(4, "y", object) if name == "source" else part[name]])
        for name, cells in row.items()}}), "which is not the matrix's order 9")
    tap.ok("zeros: the whole one is drawn", title(axis).startswith("x"), title(axis))


def check_spectrum_objects():
    found, symbol = szego.spectrum("kms:rho=0.5", 100), szego.symbol("kms:rho=0.5", 100)
    (axis,) = drawn("a Spectrum", lambda: szego.plot.spectrum(found, symbol=symbol))
    equal("a Spectrum: values", nth(axis, 0), ((np.arange(100) + 0.5) / 100, found.eigenvalues))
    equal("a Spectrum: quantiles", nth(axis, 1)[1], np.sort(symbol.values))
    equal("a Spectrum: certified range", rules(axis), [found.range.lo, found.range.hi])
    rope = szego.spectrum("rope:dim=64", 512)
    (axis,) = drawn("multiplicities", lambda: szego.plot.spectrum(rope))
    equal("multiplicities: the values that are not 0, by rank", nth(axis, 0)[1], rope.values[rope.values != 0][::-1])
    # 0 stands twice by computation alone, and four times in all.
    several = dataclasses.replace(szego.spectrum(np.diag([0.0, 0, 1, 2, 3, 4, 5, 6])), n=10, zeros=2,
                                  multiplicity=np.array([4, 1, 1, 1, 1, 1, 1]))
    (axis,) = drawn("zeros of both kinds", lambda: szego.plot.spectrum(several))
    equal("zeros of both kinds: the others", nth(axis, 0)[1], [6, 5, 4, 3, 2, 1])
    # Of order 2^40 all but eight values are zeros.
    (axis,) = drawn("an order beyond memory", lambda: szego.plot.spectrum(szego.spectrum("rope:dim=8", 2**40)))
    tap.ok("an order beyond memory: values", nth(axis, 0)[1].shape == (8,) and nth(axis, 0)[1].min() > 1e10)
    lags = rng.standard_normal(9)
    one = szego.spectrum(lags, 20, lags="full", question="singular")
    (axis,) = drawn("singular values", lambda: szego.plot.spectrum(one, symbol=szego.symbol(lags, 20, lags="full")))
    equal("singular values", nth(axis, 0)[1], np.sort(one.values))
    equal("singular values: the certified maximum", rules(axis), [one.range.hi])
    tap.ok("singular values: label", axis.get_ylabel() == "singular value")
    ends = szego.spectrum("kms:rho=0.9", 300, want="range")
    refused("the ends alone are no quantiles", lambda: szego.plot.spectrum(ends), "2 values are listed", "order 300")
    refused("values that are all equal", lambda: szego.plot.spectrum(szego.spectrum("nope", 4)),
            "all values are equal", "nope")
    check_several_spectra(found)


def check_several_spectra(found):
    two = [szego.spectrum(lags, 5) for lags in ([2.0, -1.0], [3.0, 1.0])]
    axes = drawn("several spectra", lambda: szego.plot.spectrum([found, *two]))
    tap.ok("several spectra: a figure each, told apart", [title(axis).partition(":")[0] for axis in axes[1:]] == [
        "2 real coefficients", "2 real coefficients (2)"] and len({axis.figure for axis in axes}) == 3,
        str([title(axis) for axis in axes]))
    for axis, one in zip(axes[1:], two):
        equal(f"several spectra: {title(axis)}", nth(axis, 0)[1], one.eigenvalues)
    orders = [szego.spectrum("kms:rho=0.5", n) for n in (8, 16)]
    for axis, one in zip(drawn("two orders", lambda: szego.plot.spectrum(orders)), orders, strict=True):
        equal(f"two orders: a panel of n = {one.n}", nth(axis, 0)[1], one.eigenvalues)
    (axis,) = drawn("ranges of Spectrums", lambda: szego.plot.ranges(
        [found, szego.spectrum("alibi:heads=1", 64), *two]))
    tap.ok("ranges of Spectrums", any(np.allclose(bar_ends(one)[0], found.values[[0, -1]], rtol=1e-12, atol=0)
                                      for one in axis.containers))
    tap.ok("ranges of Spectrums: a row each", len(axis.get_yticklabels()) == 4)


def check_symbol(loaded):
    axes = drawn("symbol", lambda: szego.plot.symbol(loaded), "head 1, which is 0.0625 times head 0")
    tap.ok("symbol: one figure per source", len({axis.figure for axis in axes}) == 2)
    one = of(loaded["symbol_samples"], source="kms:rho=0.9")
    equal("symbol: samples", nth(axes[1], 0), (one["theta"], one["re"]))
    lags = rng.standard_normal(7)
    real, other = szego.symbol(lags, 30, samples=64), szego.symbol(lags, 30, lags="full")
    (axis,) = drawn("a Symbol", lambda: szego.plot.symbol(real))
    equal("a Symbol: samples", nth(axis, 0), (real.theta, real.values))
    equal("a Symbol: certified range", rules(axis), [real.range.lo, real.range.hi])
    dots = [(one.get_xdata()[0], one.get_ydata()[0]) for one in axis.lines if len(one.get_xdata()) == 1]
    equal("a Symbol: where its ends are", dots, [(real.range.theta_min, real.range.lo), (real.range.theta_max,
                                                                                         real.range.hi)])
    (axis,) = drawn("a complex Symbol", lambda: szego.plot.symbol(other))
    lines = [one.get_ydata() for one in axis.lines if len(one.get_xdata()) == len(other.theta)]
    equal("a complex Symbol: its parts", lines[1:], [other.values.real, other.values.imag])
    near("a complex Symbol: modulus", lines[0], np.abs(other.values))
    tap.ok("a Symbol: labels", (axis.get_xlabel(), axis.get_ylabel()) == ("angle, radians", "symbol a"))


def bar_ends(container):
    """[(lo, hi)] of horizontal bars."""
    return [(one.get_x(), one.get_x() + one.get_width()) for one in container]


def check_ranges(loaded):
    (axis,) = drawn("ranges", lambda: szego.plot.ranges(loaded))
    rows, sources = loaded["spectrum_summary"], ["alibi:heads=2", "kms:rho=0.9", "relative:seed=3", "rope:dim=8"]
    wanted = {"computed": [], "certified": []}
    for source in sources:
        one = of(rows, source=source)
        kind = "sigma" if source.startswith("relative") else "lambda"
        wanted["computed"].append((one[f"{kind}_min"].min(), one[f"{kind}_max"].max()))
        ends = one["symbol_min_lo"].min(), one["symbol_max_hi"].max()
        wanted["certified"].append((0, max(map(abs, ends))) if kind == "sigma" else ends)
    drawn_ends = [bar_ends(one) for one in axis.containers]
    for name, ends in wanted.items():
        tap.ok(f"ranges: {name}", any(np.shape(one) == np.shape(ends) and np.allclose(one, ends, rtol=1e-12, atol=1e-12)
                                      for one in drawn_ends), f"{drawn_ends}, want {ends}")
    names = [text.get_text() for text in axis.get_yticklabels()]
    tap.ok("ranges: one row per source", len(names) == 4 and
           all(source in name for source, name in zip(sources, names)), str(names))


def check_contraction(loaded):
    rows = loaded["train_contraction"]
    own = {"train_contraction": rows}
    axes = drawn("contraction", lambda: szego.plot.contraction(own))
    for layer, axis in enumerate(axes):
        for head in range(2):
            one = of(rows, layer=layer, head=head)
            equal(f"contraction: layer {layer}, head {head}", nth(axis, head), (one["step"], one["width_ratio"]))
        equal("contraction: 1", rules(axis), [1])
    tap.ok("contraction: one figure, of the run", len({axis.figure for axis in axes}) == 1 and "rope" in
           axes[0].figure._suptitle.get_text())  # pylint: disable=protected-access
    axis, = drawn("contraction of one layer", lambda: szego.plot.contraction(own, layer=1, column="margin"))
    tap.ok("contraction: another column's label", axis.get_ylabel() == "mean slack")
    steps = np.unique(rows["step"])
    near("contraction: another column, the mean over heads", nth(axis, 0)[1],
         [np.mean(of(rows, layer=1, step=step)["margin"]) for step in steps])
    axis, = drawn("contraction of other ratios", lambda: szego.plot.contraction(own, layer=0, column="norm_ratio"))
    near("contraction: three ratios, means over heads", [nth(axis, i)[1] for i in range(3)], [
        [np.mean(of(rows, layer=0, step=step)[column]) for step in steps]
        for column in ("width_ratio", "norm_ratio", "nuclear_ratio")])
    check_one_step(loaded)
    ratio = rng.uniform(0.5, 2, (3, 2, 3))  # step, head, probe
    step, head, probe = (axis.ravel() for axis in np.indices(ratio.shape))
    probes = {"train_contraction": table(result=["."] * 18, step=step * 10, layer=np.zeros(18, int), head=head,
                                         probe=[str(p) for p in probe], width_ratio=ratio.ravel())}
    axis, = drawn("contraction of probes", lambda: szego.plot.contraction(probes))
    near("contraction: the mean over probes", nth(axis, 1)[1], ratio[:, 1].mean(-1))
    (area, *_) = [one.get_paths()[0].vertices for one in axis.collections]
    equal("contraction: the area of the probes", [[area[area[:, 0] == x, 1].min(), area[area[:, 0] == x, 1].max()]
                                                  for x in (0, 10, 20)],
          np.stack([ratio[:, 0].min(-1), ratio[:, 0].max(-1)], 1))
    last = rows["step"].max()
    (axis,) = drawn("contraction_map", lambda: szego.plot.contraction_map(loaded))
    image = axis.collections[0]
    near("contraction_map: the last step", image.get_array().reshape(-1, 2),
         [[of(rows, layer=layer, head=h, step=last)["width_ratio"][0] for h in range(2)] for layer in range(2)])
    near("contraction_map: the hues meet at 1", [image.norm.vmin * image.norm.vmax], [1])
    refused("contraction_map over steps", lambda: szego.plot.contraction_map(loaded, over="step"), "over='step'",
            "contraction()", kind=szego.ArgumentError)
    q, k = rng.standard_normal((2, 20, 8))
    both = szego.contraction(q, k, "rope:dim=8,pairing=half")
    (axis,) = drawn("a Contraction", lambda: szego.plot.contraction(both))
    for i, one in enumerate((both.coupled, both.content)):
        equal(f"a Contraction: {i}", nth(axis, i), ((np.arange(20) + 0.5) / 20, np.sort(one.eigenvalues.eigenvalues)))
    tap.ok("a Contraction: its names and ratio", [text.get_text() for text in axis.figure.legends[0].get_texts()] == [
        "with the encoding", "content alone"] and f"{both.width:.4g}" in title(axis).replace("\n", " ")
        and "Hermitian part" in title(axis).replace("\n", " "), title(axis))


def check_one_step(loaded):
    """Runs of one step have a map, and say why they have no course; one without a change has neither."""
    rows = of(loaded["train_contraction"], step=loaded["train_contraction"]["step"].max())
    (axis,) = drawn("contraction of one step", lambda: szego.plot.contraction({"capture_contraction": rows}))
    near("contraction of one step: the map", axis.collections[0].get_array().ravel(),
         rows["width_ratio"][np.lexsort([rows["head"], rows["layer"]])])
    refused("the course of one step", lambda: szego.plot.contraction({"capture_contraction": rows}, column="margin"),
            "there is one step")
    step = np.repeat([0, 10], 4)
    ratio = rng.uniform(0.5, 2, 8)
    two = table(result=["."] * 16, encoding=["rope"] * 8 + ["nope"] * 8, step=np.tile(step, 2), layer=np.zeros(16, int),
                head=np.tile(np.arange(4), 4), width_ratio=np.concatenate([ratio, np.ones(8)]))
    (axis,) = drawn("contraction without a change", lambda: szego.plot.contraction({"train_contraction": two}),
                    "every ratio is 1 up to rounding: nope")
    equal("contraction without a change: the other run", nth(axis, 3)[1], ratio[[3, 7]])


def check_training(loaded):
    axes = drawn("curves", lambda: szego.plot.curves(loaded))
    rows = loaded["reproduce_curves"]
    one = of(rows, experiment="text", task="distance", encoding="rope", split="test")
    has_line("curves", axes[0], one["epoch"], one["accuracy"])
    runs = of(loaded["reproduce_runs"], experiment="text", task="distance")
    near("curves: the label ceiling", max(rules(axes[0])), runs["ceiling"].mean())
    own = {name: loaded[name] for name in ("train_metrics", "train_runs")}
    axis, *_ = drawn("curves of train", lambda: szego.plot.curves(own))
    tap.ok("curves of train: the label ceiling", any(np.isclose(at, loaded["train_runs"]["label_ceiling"]).any()
                                                     for at in rules(axis)), str(rules(axis)))
    axis, *_ = drawn("loss of train", lambda: szego.plot.curves(own, column="loss"))
    tap.ok("loss: label and no ceiling", axis.get_ylabel() == "cross-entropy (nats)" and not rules(axis))
    one = of(loaded["train_metrics"], split="train", task=loaded["train_metrics"]["task"][0])
    has_line("loss: training", axis, one["epoch"], one["loss"])
    drawn("sweep", lambda: szego.plot.sweep(loaded))
    heads, mean, spread = np.arange(3), rng.uniform(0, 1, 3), rng.uniform(0, 0.1, 3)
    three = {"reproduce_sweep": table(result=["."] * 3, experiment=["e"] * 3, task=["count"] * 3, rotated_heads=heads,
                                      accuracy=mean, spread=spread, seeds=np.array([3, 3, 1]))}
    (axis,) = drawn("sweep of seeds", lambda: szego.plot.sweep(three))
    equal("sweep", nth(axis, 0), [heads, 100 * mean])
    near("sweep: a standard deviation to both sides, of one seed none",
         [segment[:, 1] for segment in axis.collections[0].get_segments()],
         np.stack([100 * (mean - spread), 100 * (mean + spread)], 1)[:2])
    check_table1(loaded)
    check_ablation(loaded)


def check_table1(loaded):
    axes = drawn("table1", lambda: szego.plot.table1(loaded))
    one = of(loaded["reproduce_table1"], experiment="text")
    for task, axis in (("1", axes[0]), ("2", next(a for a in axes[1:] if "Task count" in title(a)))):
        equal(f"table1: task {task}", [nth(axis, i)[1] for i in range(4)],
              [one[column + task] for column in ("task", "paper", "ceiling", "length")])
        tap.ok("table1: names", [text.get_text() for text in axis.get_xticklabels()] == list(one["encoding"]))
    seeds = {"reproduce_table1": table(result=[".", "."], experiment=["e", "e"], encoding=["rope", "nope"],
                                       task1=np.array([90.0, 50.0]), spread1=np.array([2.0, 3.0]),
                                       seeds1=np.array([3, 1]))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # task 2 has no column
        axis = szego.plot.table1(seeds)
    equal("table1: a standard deviation to both sides, of one seed none",
          [segment[:, 1] for segment in axis.collections[0].get_segments()], [(88, 92)])
    plt.close(axis.figure)


def check_ablation(loaded):
    axis = drawn("ablation", lambda: szego.plot.ablation(loaded, encoding="rope", task="distance"))[0]
    table_of = loaded["reproduce_ablation"]
    rows = of(table_of, encoding="rope", task="distance", experiment="text")
    whole = np.ma.getmaskarray(table_of["head"])[(table_of["encoding"] == "rope") & (table_of["task"] == "distance")
                                                 & (table_of["experiment"] == "text")]
    points = np.sort(np.concatenate([one.get_ydata() for one in axis.lines if list(one.get_xdata()) != [0, 1]]))
    equal("ablation: each head and each whole layer", points, np.sort(rows["accuracy"]))
    tap.ok("ablation: both kinds are there", whole.any() and not whole.all())
    near("ablation: every head there", rules(axis), [(rows["accuracy"] + rows["drop"]).mean()])
    refused("ablation: its loss", lambda: szego.plot.ablation(loaded, column="drop"), "column='drop'", "accuracy",
            kind=szego.ArgumentError)


def check_claims(loaded):
    rows = loaded["verify_claims"]
    (axis,) = drawn("claims", lambda: szego.plot.claims(loaded))
    verdicts = [text.get_text().split(": ") for text in axis.get_xticklabels()]
    dots = np.concatenate([one.get_xydata() for one in axis.lines])
    for k, (verdict, count) in enumerate(verdicts):
        at = np.flatnonzero(rows["verdict"] == verdict)
        equal(f"claims: {verdict}", np.sort(dots[dots[:, 0] == k, 1]), at)
        tap.ok(f"claims: {verdict}: how many", int(count) == len(at))
        (colour,) = {one.get_color() for one in axis.lines if one.get_xdata()[0] == k}
        tap.ok(f"claims: {verdict}: its colour", colour == {"fails": "#b3261e", "holds": "#00735a"}.get(
            verdict, "#6b717d"), colour)
    tap.ok("claims: every verdict", {verdict for verdict, _ in verdicts} == set(rows["verdict"])
           and [text.get_text() for text in axis.get_yticklabels()] == list(rows["id"]))
    tap.ok("claims: how many", title(axis) == f"{len(rows['id'])} claims: verdicts", title(axis))
    odd = table(result=["a", "a", "a", "b"], id=["x", "y", "", "x"], verdict=["holds", "", "fails", "$1$"])
    first, second = drawn("claims of two results", lambda: szego.plot.claims({"verify_claims": odd}),
                          "2 rows without a place")
    tap.ok("claims of two results: each is named", (title(first), title(second)) == (
        "3 claims of a: verdicts", "1 claim of b: verdicts"), f"{title(first)}, {title(second)}")
    rows = loaded["verify_lemma"]
    axes = drawn("lemma", lambda: szego.plot.lemma(loaded))
    near_ones = {"verify_lemma": {name: cells[rows["max_g_lo"] < 50] for name, cells in rows.items()}}
    plain = drawn("lemma of like sizes", lambda: szego.plot.lemma(near_ones))
    tap.ok("lemma: maxima and widths, a figure each", len({axis.figure for axis in axes}) == 2)
    for what, axis, ratio in (("max", axes[0], True), ("max", plain[0], False), ("width", plain[1], False)):
        mine = rows if ratio else near_ones["verify_lemma"]
        f, g = ((mine[f"{what}_{side}_lo"] + mine[f"{what}_{side}_hi"]) / 2 for side in "fg")
        keep = np.isfinite(f + g)
        want = np.stack([g, f / g if ratio else f], 1)[keep]
        got = np.concatenate([one.get_xydata() for one in axis.lines if one.get_linestyle() == "None"])
        order = [np.lexsort(of_.T) for of_ in (got, want)]
        tap.ok(f"lemma, {what}: middles", got.shape == want.shape and np.allclose(got[order[0]], want[order[1]],
                                                                                  rtol=1e-12, atol=0))
    check_counterexamples(loaded)


def check_counterexamples(loaded):
    samples, certificates = loaded["verify_samples"], loaded["verify_certificates"]
    axes = drawn("counterexamples", lambda: szego.plot.counterexamples(loaded))
    pairs = list(dict.fromkeys(zip(samples["id"], samples["certificate"])))
    tap.ok("counterexamples: one figure per claim, one panel per certificate", len(axes) == len(pairs)
           and len({axis.figure for axis in axes}) == len(set(samples["id"])), f"{len(axes)} {pairs}")
    for (name, place), axis in zip(pairs, axes):
        one = of(samples, id=name, certificate=place)
        has_line(f"counterexamples: g of {name}, {place}", axis, one["theta"], one["g"])
        if of(certificates, id=name)["phases"][place]:
            has_line(f"counterexamples: f of {name}, {place}", axis, one["theta"], one["f"])
    (axis,) = drawn("one counterexample", lambda: szego.plot.counterexamples(loaded, id="L2", certificate=1))
    one = of(samples, id="L2", certificate=1)
    has_line("one counterexample: f", axis, one["theta"], one["f"])
    some = {**loaded, "verify_samples": {name: np.concatenate([cells, cells[:1]]) for name, cells in samples.items()}}
    some["verify_samples"]["certificate"][-1] = 99
    drawn("a sample of no certificate", lambda: szego.plot.counterexamples(some, id=samples["id"][0]),
          "1 sample is of no certificate")
    ten = [f"{samples['id'][0]}{i}" for i in range(10)]
    many = {name: {column: np.concatenate([cells] * 10)
                   for column, cells in of(loaded[name], id=samples["id"][0]).items()}
            for name in ("verify_samples", "verify_certificates")}
    for rows in many.values():
        rows["id"] = np.repeat(np.array(ten, object), len(rows["id"]) // 10)
    axes = drawn("many counterexamples", lambda: szego.plot.counterexamples(many), f"Left out: {ten[8]}",
                 f"Left out: {ten[9]}")
    tap.ok("many counterexamples: eight figures", len({axis.figure for axis in axes}) == 8)
    refused("samples without certificates", lambda: szego.plot.counterexamples({"verify_samples": samples}),
            "samples are of no certificate")


def check_checkpoint(both):
    loaded = {name: {column: cells[rows["result"] == "checkpoint"] for column, cells in rows.items()}
              for name, rows in both.items() if name.startswith("checkpoint_")}
    rows = loaded["checkpoint_summary"]
    (axis,) = drawn("toeplitzness", lambda: szego.plot.toeplitzness(loaded, column="sigma_max"))
    near("toeplitzness: layer by head", axis.collections[0].get_array().reshape(2, 2),
         [[of(rows, layer=layer, head=head)["sigma_max"][0] for head in range(2)] for layer in range(2)])
    share = rng.uniform(0, 1, (3, 2))
    layer, head = (axis.ravel() for axis in np.indices(share.shape))
    (axis,) = drawn("toeplitzness of a position term", lambda: szego.plot.toeplitzness({"checkpoint_summary": table(
        result=["."] * 6, source=["models/gpt"] * 6, matrix=["position"] * 6, layer=layer, head=head,
        toeplitzness=share.ravel())}))
    cells = axis.collections[0]
    near("toeplitzness: layer by head, from 0 to 1", [*cells.get_array().ravel(), *cells.get_clim()],
         [*share.ravel(), 0, 1])
    tap.ok("toeplitzness: labels", (axis.get_xlabel(), axis.get_ylabel()) == ("head", "layer") and "gpt" in title(axis),
           title(axis))
    refused("no toeplitzness in a rotary model", lambda: szego.plot.toeplitzness(loaded), "no numbers")
    alone = {"checkpoint_summary": {name: cells for name, cells in rows.items() if name != "toeplitzness"}}
    refused("no column of it either", lambda: szego.plot.toeplitzness(alone), "column='toeplitzness'", "sigma_max")
    refused("a column of no figure", lambda: szego.plot.toeplitzness(loaded, column="rank"), "column='rank'",
            "toeplitzness, sigma_max, effective_rank, stable_rank", kind=szego.ArgumentError)
    axes = drawn("heads", lambda: szego.plot.heads(loaded))
    matrices = list(dict.fromkeys(loaded["checkpoint_spectra"]["matrix"]))
    tap.ok("heads: one figure per matrix, one panel per layer", len(axes) == 2 * len(matrices)
           and len({axis.figure for axis in axes}) == len(matrices), f"{len(axes)} {matrices}")
    for at, axis in enumerate(axes):
        for head in range(2):
            values = of(loaded["checkpoint_spectra"], layer=at % 2, head=head, matrix=matrices[at // 2],
                        kind="singular")["re"]
            values = np.sort(values[values > 0])[::-1]
            equal(f"heads: {matrices[at // 2]}, layer {at % 2}, head {head}", np.array(nth(axis, head))[:, :len(values)],
                  (np.arange(1, len(values) + 1), values))
    check_positional(loaded)
    cells, *axes = drawn("rotary", lambda: szego.plot.rotary(loaded))
    rows = loaded["checkpoint_frequencies"]
    pairs = np.unique(rows["pair"])
    near("rotary: layer by pair, the mean over heads", cells.collections[0].get_array().reshape(2, len(pairs)),
         [[of(rows, layer=layer, pair=pair)["energy"].mean() for pair in pairs] for layer in range(2)])
    for layer, axis in enumerate(axes):
        for head in range(2):
            one = of(rows, layer=layer, head=head)
            equal(f"rotary: layer {layer}, head {head}", nth(axis, head), (one["theta"], one["energy"]))


def check_positional(loaded):
    """Kernels over the lag and shares of heads, all of them within chance or all beyond."""
    heads = loaded["checkpoint_heads"]
    within, beyond = ({**loaded, "checkpoint_heads": {**heads, "mean_p": np.full(4, p), "self_p": np.full(4, p)}}
                      for p in (0.5, 0.001))
    refused("no kernel is beyond chance", lambda: szego.plot.kernel(within), "kernel: nothing to draw")
    refused("a kernel of another name", lambda: szego.plot.kernel(loaded, kind="both"), "mean or self", kind=szego.ArgumentError)
    axes = drawn("kernel", lambda: szego.plot.kernel(beyond, kind="self"))
    order = np.argsort(-heads["self_share"], kind="stable")
    for i, axis in zip(order, axes):
        layer, head = heads["layer"][i], heads["head"][i]
        rows = of(loaded["checkpoint_kernel"], layer=layer, head=head)
        weights = 1 / (1 + rows["lag"])
        mean = np.sum(weights * rows["self"]) / np.sum(weights)
        x, y = nth(axis, 1)
        tap.ok(f"kernel: layer {layer}, head {head}", (x == rows["lag"]).all() and np.allclose(
            y, (rows["self"] - mean) / heads["self_noise"][i], rtol=1e-9, atol=1e-12), str(y))
        tap.ok("kernel: its title is the head and the share", axis.get_title() ==
               f"layer {layer} head {head}: " + format(float(f"{heads['self_share'][i]:.2g}"), "g"), axis.get_title())
    maps = drawn("kernel_map", lambda: szego.plot.kernel_map(loaded))
    tap.ok("kernel_map: a row a head with a share", [len(axis.images[0].get_array()) for axis in maps] == [2, 4])
    for tables, grey in ((within, True), (beyond, False)):
        (axis,) = drawn("shares", lambda tables=tables: szego.plot.shares(tables, kind="self"))
        tap.ok("shares: grey within chance", (np.ma.getmaskarray(axis.collections[0].get_array()) == grey).all())
    parts = drawn("layers", lambda: szego.plot.layers(loaded, kind="self"))
    rows = of(loaded["checkpoint_layers"], kernel="self")
    for i, column in enumerate(("part_null", "part")):
        near(f"layers: {column}", nth(parts[0], i), (rows["layer"], rows[column]))


def check_captured():
    """The lag's share and means by lag of captured logits, and ratios beside the band of chance."""
    share = np.array([0.5, 0.02, 0.3, 0.04])
    made = {"logits_lag_shares": table(result=["."] * 4, source=["d.npy"] * 4, layer=[0, 0, 1, 1], head=[0, 1, 0, 1],
                                       draws=[199] * 4, lag_share=share, lag_null=np.full(4, 0.05),
                                       lag_p=np.array([0.005, 0.5, 0.005, 0.6]), lag_peak=[1] * 4, note=[""] * 4),
            "logits_lags": table(result=["."] * 6, source=["d.npy"] * 6, layer=[0] * 3 + [1] * 3, head=[0] * 6, lag=[1, 2, 3] * 2,
                                 mean=np.arange(6.0), error=np.full(6, 0.25), low=np.full(6, -1.0), high=np.full(6, 1.0))}
    (axis,) = drawn("shares of captured logits", lambda: szego.plot.shares(made))
    grid = axis.collections[0].get_array()
    tap.ok("captured: grey within chance", np.ma.getmaskarray(grid).ravel().tolist() == [False, True, False, True], str(grid))
    for axis, y in zip(drawn("kernels of captured logits", lambda: szego.plot.kernel(made, kind="lag")), ([0, 1, 2], [3, 4, 5])):
        equal("captured: means by lag", nth(axis, 1), ([1, 2, 3], y))
    refused("captured: no head is beyond chance", lambda: szego.plot.kernel(made, head=1), "no head's share is beyond chance")
    made = {"logits_contraction": table(result=["."] * 2, source=["d"] * 2, layer=[0] * 2, head=[0, 1], content_kind=["same_qk"] * 2,
                                        width_ratio=np.array([0.7, 0.9]), norm_ratio=np.ones(2), nuclear_ratio=np.ones(2)),
            "logits_bands": table(result=["."] * 2, source=["d"] * 2, layer=[0] * 2, head=[0, 1], draws=[39] * 2,
                                  width_low=np.full(2, 0.8), width_high=np.full(2, 1.2), note=[""] * 2)}
    for name in ("contraction_map", "contraction"):
        (axis,) = drawn(name, lambda name=name: getattr(szego.plot, name)(made))
        tap.ok(f"{name}: grey within its band", np.ma.getmaskarray(axis.collections[0].get_array()).ravel().tolist() == [False, True])


def check_long():
    """Densities with errors and resolution, and ends of spectra, some of them not resolved."""
    at = np.linspace(0.5, 9.5, 28)
    made = table(result=["."] * 28, source=["models/a.npy"] * 28, matrix=["coefficients"] * 28, head=[0] * 28, n=[100] * 28,
                 **{"lambda": at}, density=1 / at, error=np.full(28, 0.2), resolution=at / 10)
    (axis,) = drawn("density", lambda: szego.plot.density({"spectrum_density": made}))
    equal("density: the line", nth(axis, 0), (at, 1 / at))
    (area, *_), spans = axis.collections, [one.get_segments() for one in axis.collections if hasattr(one, "get_segments")]
    ends = area.get_paths()[0].vertices
    near("density: the area is one error to either side, and not below the least density",
         [ends[:, 1].min(), ends[:, 1].max()], [1 / at[-1], 1 / at[0] + 0.2])
    near("density: bars are the resolution", [segment[1][0] - segment[0][0] for segment in spans[0]],
         [(segment[1][0] + segment[0][0]) / 10 for segment in spans[0]])
    tap.ok("density: seven bars", len(spans[0]) == 7, str(len(spans[0])))
    value, error, gap = np.array([1.0, 2, 4]), np.array([1e-9, 1e-12, 1e-12]), np.array([1e-10, 1e-3, 1e-2])
    ends = table(result=["."] * 6, source=["a"] * 6, matrix=["kernel"] * 6, head=[0] * 6, n=[9] * 6,
                 end=["least"] * 3 + ["largest"] * 3, index=[0, 1, 2] * 2, value=np.tile(value, 2),
                 error=np.tile(error, 2), gap=np.tile(gap, 2), resolved=[0, 1, 1] * 2)
    axes = drawn("extremes", lambda: szego.plot.extremes({"spectrum_extremes": ends}))
    tap.ok("extremes: values, and errors and gaps, of either end", len({axis.figure for axis in axes}) == 4)
    for axis in axes:
        distances = axis.get_ylabel() == "distance"
        equal(f"{title(axis)}: over the place", nth(axis, 0), ([0, 1, 2], error if distances else value))
        if distances:
            equal(f"{title(axis)}: the gap", nth(axis, 1), ([0, 1, 2], gap))
    figure, some = plt.subplots(2, 2)
    tap.ok("extremes: the caller's axes, of several figures", [*szego.plot.extremes(
        {"spectrum_extremes": ends}, some)] == [*some.ravel()] and all(axis.lines for axis in some.ravel()))
    refused("extremes: too few axes", lambda: szego.plot.extremes({"spectrum_extremes": ends}, some[0]), "4 panels",
            "ax= 2", kind=szego.ArgumentError)
    plt.close(figure)
    many = table(result=["."] * 40, source=[f"a{i // 4}" for i in range(40)], matrix=["coefficients"] * 40,
                 head=[0] * 40, n=[9] * 40, **{"lambda": np.tile(np.arange(4.0), 10)}, density=np.arange(1, 41) / 7,
                 error=np.zeros(40), resolution=np.full(40, 0.1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        szego.plot.density({"spectrum_density": many})
    tap.ok("density: figures left out are counted, at the caller's line",
           any("2 more figures are left out" in str(one.message) and one.filename == __file__ for one in caught),
           str([str(one.message) for one in caught]))
    plt.close("all")


def check_arguments(folder, loaded):
    figure, axis = plt.subplots()
    tap.ok("ax: the caller's", szego.plot.sweep(loaded, axis) is axis and plt.get_fignums() == [figure.number]
           and axis.has_data())
    plt.close(figure)
    figure, axes = plt.subplots(1, 2)
    own = {"train_contraction": loaded["train_contraction"]}
    tap.ok("ax: as many as panels", [*szego.plot.contraction(own, axes)] == [*axes])
    refused("ax: too few", lambda: szego.plot.contraction(own, axes[0]), "2 panels", "ax= 1",
            kind=szego.ArgumentError)
    plt.close(figure)
    refused("a column that no table has", lambda: szego.plot.sweep(loaded, sauce=1), "sauce", "rotated_heads",
            kind=szego.ArgumentError)
    refused("rows that are not there", lambda: szego.plot.sweep(loaded, experiment="none"), "nothing to draw", "none")
    refused("a column without numbers", lambda: szego.plot.curves(loaded, column="note"), "note", "accuracy",
            kind=szego.ArgumentError)
    refused("a keyword of no figure", lambda: szego.plot.spectrum(loaded, form="steps"), "unknown keyword 'form'",
            kind=szego.ArgumentError)
    refused("a column of no contraction", lambda: szego.plot.contraction(loaded, column="step"), "column='step'",
            "norm_ratio", kind=szego.ArgumentError)
    refused("tables of another command", lambda: szego.plot.sweep({"a": {}}), "reproduce_sweep")
    refused("a Spectrum has no claims", lambda: szego.plot.claims(szego.spectrum("nope", 4)), "Spectrum",
            kind=szego.ArgumentError)
    refused("no tables", lambda: szego.plot.symbol(3), "int", kind=szego.ArgumentError)
    refused("a list of others", lambda: szego.plot.symbol([szego.spectrum([2.0, -1.0], 5)]), "Spectrum",
            kind=szego.ArgumentError)
    one, both = szego.spectrum("kms:rho=0.5", 4), szego.compare(np.diag([3.0, 1, -2]), np.eye(3))
    refused("a symbol that is none", lambda: szego.plot.spectrum(one, symbol=one), "symbol=", "szego.symbol",
            kind=szego.ArgumentError)
    for call in (lambda ax: szego.plot.spectrum(one, ax=ax), lambda ax: szego.plot.contraction(both, ax=ax)):
        for ax in (3, "axes", [None], matplotlib.figure.Figure()):
            refused(f"axes that are {type(ax).__name__}", lambda call=call, ax=ax: call(ax), "ax=", "Axes",
                    kind=szego.ArgumentError)
    refused("a symbol beside tables", lambda: szego.plot.spectrum(loaded, symbol=szego.symbol("nope", 4)), "symbol=",
            kind=szego.ArgumentError)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        szego.plot.spectrum([szego.spectrum([2.0, -1.0], 4)] * 15)
    tap.ok("what is left out is counted, at the caller's line",
           any("3 more figures are left out" in str(one.message) and one.filename == __file__ for one in caught))
    plt.close("all")
    check_chosen()
    if pandas is not None:
        frames = szego.load(folder, frames=True)
        for name in ("contraction", "ablation", "table1", "curves", "ranges"):
            got, want = (drawn(f"{name} of {kind}", lambda one=one: getattr(szego.plot, name)(one))
                         for kind, one in (("frames", frames), ("arrays", loaded)))
            tap.ok(f"{name}: frames are drawn as arrays", len(got) == len(want) and all(
                np.array_equal(g.get_xydata(), w.get_xydata(), equal_nan=True)
                for a, b in zip(got, want) for g, w in zip(a.lines, b.lines)))


def check_chosen():
    """COLUMN=VALUE: numbers by their value, texts as they are, "" for an empty cell."""
    rows = table(result=["."] * 5, source=["a", "a", "b", "b", "c"], head=np.ma.array([0, 1, 2**53, 2**53 + 1, 7], mask=[
        0, 0, 0, 0, 1]), rho=np.array([0.5, 1 / 3, np.nan, 2, 0.5]))
    for where, want in (({"head": 1}, [1]), ({"head": "1"}, [1]), ({"head": 1.0}, [1]), ({"head": [0, 2**53 + 1]}, [0, 3]),
                        ({"head": ""}, [4]), ({"head": np.arange(2)}, [0, 1]), ({"rho": 1 / 3}, [1]), ({"rho": ""}, [2]),
                        ({"rho": "0.5"}, [0, 4]), ({"source": "b"}, [2, 3]), ({"source": ["a", "c"], "rho": 0.5}, [0, 4]),
                        ({"head": "none"}, []), ({"head": 7}, [])):
        got = szego.plot._chosen("spectrum", {"t": {**rows, "at": np.arange(5)}}, where)["t"]["at"]
        tap.ok(f"rows with {where}", list(got) == want, str(got))


def check_figures(folder, loaded, trained):
    if matplotlib is None:
        tap.ok("figures # SKIP Matplotlib is missing: Debian's python3-matplotlib is needed", True)
        return
    plt.show = lambda *_, **__: tap.ok("nothing is shown", False)
    for check in (check_spectrum, check_symbol, check_ranges, check_contraction, check_training, check_claims,
                  check_checkpoint):
        check(loaded)
    check_zeros()
    check_spectrum_objects()
    for name in ("curves", "contraction", "contraction_map"):
        drawn(f"{name} of a run in this process", lambda name=name: getattr(szego.plot, name)(trained))
    check_captured()
    check_long()
    check_arguments(folder, loaded)


with scratch() as place:
    results_folder = os.path.join(place, "results")
    made.make(PROGRAM, results_folder)
    everything = szego.load(results_folder)
    check_results(everything)
    check_tables()
    check_objects()
    trained_here = check_calls(results_folder, everything)
    check_dicts(everything)
    check_frames(results_folder, everything)
    check_missing(place)
    check_figures(results_folder, everything, trained_here)
tap.finish()
