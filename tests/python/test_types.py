#!/usr/bin/python3
"""mypy --strict on the Python of docs/how-to/python.md, the tutorial and examples/, and on uses that are wrong: each
gives the error that stands beside it. SZG_TEST_PYRIGHT names a pyright, which is asked too, in its strict mode.
usage: test_types.py PROGRAM SOURCE"""
import ast
import builtins
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import typing

from peer import PACKAGE, Tap, scratch, skip

SOURCE = pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, PACKAGE)
try:
    import szego
    from szego import choices, compute, layout
    from szego.capture_hf import Capture
    from szego.notebook.write import FORMS
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
MYPY = ["/usr/bin/mypy"] if os.path.exists("/usr/bin/mypy") else [sys.executable, "-m", "mypy"]
if subprocess.run([*MYPY, "--version"], capture_output=True, check=False).returncode:
    skip("Debian's mypy is needed")

tap = Tap()
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: What blocks of a page use and do not make. A block that uses `found` of the one before it says of which kind.
IMPORTS = {"szego": "import szego", "np": "import numpy as np", "Capture": "from szego.capture_hf import Capture"}
GIVEN = {"found": "szego.Spectrum", "step": "szego.CapturedStep", "stacked": "szego.Stack[szego.Contraction]",
         "path": "str",
         **dict.fromkeys(("model", "peft_model", "inputs", "ax", "polars", "pyarrow", "tokens", "labels"), "Any"),
         **dict.fromkeys(("q", "k", "a", "b", "lags", "matrix", "stack", "content", "coupled", "array"), "NDArray[np.float64]")}
HEAD = "from typing import Any\nimport numpy as np\nfrom numpy.typing import NDArray\nimport szego\n"
#: What mypy does not look into: it would take minutes, and Debian's have no types.
OTHERS = "pandas", "matplotlib", "torch", "transformers", "scipy", "flint", "polars", "pyarrow", "huggingface_hub"


def with_given(block):
    """The block after the names that it uses and does not make."""
    tree = ast.parse(block)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)} | {
        one.asname or one.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))
        for one in node.names} | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)} | {
            node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    used = {node.id for node in names} - made - set(dir(builtins))
    unknown = used - set(GIVEN) - set(IMPORTS)
    tap.ok(f"names of the block {block.splitlines()[0]!r}", not unknown, f"GIVEN lacks {unknown}")
    return "\n".join([*(line for name, line in IMPORTS.items() if name in used),
                      *(f"from given import {name}" for name in GIVEN if name in used), block])


def code():
    """The Python that users copy, by a module's name."""
    for path in sorted((SOURCE / "examples").glob("*.py")):
        yield f"example_{path.stem}", path.read_text("utf-8")
    for page in ("how-to/python", "tutorial"):
        for k, block in enumerate(BLOCK.findall((SOURCE / f"docs/{page}.md").read_text("utf-8"))):
            yield f"{page.replace('/', '_').replace('-', '_')}_{k}", with_given(block)
    book = json.loads((SOURCE / "examples/tutorial.ipynb").read_text("utf-8"))
    yield "notebook", "\n".join("".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code")


#: A wrong use, or a call of reveal_type, and words of the error or note on its line.
WRONG = (
    ('szego.spectrum("nope", 8, question="eigenvalue")', "No overload"),
    ('szego.spectrum("nope", 8, want="ends")', "No overload"),
    ('szego.spectrum("nope")', 'incompatible type "str"'),
    ('szego.spectrum("nope", 8, lags="full")', "No overload"),
    ("szego.spectrum(array, hermitain=True)", "No overload"),
    ('szego.symbol("nope", 8, convention="fejér")', "convention"),
    ('szego.spectra("nope")', 'incompatible type "str"'),
    ('szego.spectra(array, question="values")', "question"),
    ('szego.logits(array, array, "nope", part="both")', "part"),
    ('szego.logits_statistics(array, array, "nope", part="both")', "part"),
    ('szego.logits_statistics(array, array, "nope", precision="single")', "precision"),
    ('szego.factored(array, array, want="some")', "want"),
    ("szego.contraction(array, array)", "Missing positional argument"),
    ('szego.checkpoint("m").kernel("meen")', "Literal['meen']"),
    ('szego.checkpoint("m", stack="decode")', "stack"),
    ('szego.checkpoint("m", context="longest")', "context"),
    ('szego.kernel("m", stack="decode")', "stack"),
    ('szego.export("out/", to="parquet")', "Literal['parquet']"),
    ('szego.plot.kernel(None, kind="meen")', "Literal['meen']"),
    ('szego.plot.kernel_map(None, kind="lag")', "Literal['lag']"),
    ('szego.plot.contraction(None, column="widths")', "column"),
    ('szego.plot.curves(None, column="losses")', "column"),
    ('Capture(None).spectra(kind="coupling")', "kind"),
    ('step.logits(kind="coupling")', "kind"),
    # What comes back.
    ('szego.spectrum("nope", 8).eigenvalue', 'no attribute "eigenvalue"'),
    ('szego.spectrum("nope", 8)["spectrum_summary"]', "No overload"),
    ('szego.spectrum("nope", 8)[0:2].append', 'no attribute "append"'),
    ('szego.spectrum("nope", 8).range.low', 'no attribute "low"'),
    ('szego.spectrum("nope", 8).kind == "eigenvalues"', "Non-overlapping"),
    ("szego.spectra(array)[0:1].eigenvalue", 'no attribute "eigenvalue"'),
    ("szego.factored(array, array).eigenvalues.hi", 'no attribute "hi"'),
    ('szego.logits(array, array, "nope").singular_values.hi', 'no attribute "hi"'),
    ('szego.contraction(array, array, "nope").width.hi', 'no attribute "hi"'),
    ('szego.logits(array, array, "nope")[0, 3]', "No overload"),
    ('szego.load("out/")["t"]["c"].columns', 'no attribute "columns"'),
    ('szego.run("verify")["t"].query("x")', 'no attribute "query"'),
    ('szego.checkpoint("m")[0, 1].sigma_max', 'no attribute "sigma_max"'),
    ('szego.checkpoint("m")["checkpoint_summary"].singular_values', 'no attribute "singular_values"'),
    ('szego.checkpoint("m")[0]', "No overload"),
    ('szego.report("out/").read', 'no attribute "read"'),
    ('szego.train({}).accuracy', 'no attribute "accuracy"'),
    ('szego.encodings.rope(dim=64, pairing="halves")', "pairing"),
    ("szego.rope(dim=64, bas=1e4)", "No overload"),
    ('szego.rope(dim=64, pairing="halves")', "No overload"),
    ("szego.rope(like={}, dim=64)", "No overload"),
    ('szego.run_spectrum("nope", 8, all={})', "No overload"),
    ('szego.encodings.rope(dim=64, bas=1e4)', 'Unexpected keyword argument "bas"'),
    ('szego.encodings.file()', "Missing named argument"),
    ('szego.encodings.rop(dim=64)', 'no attribute "rop"'),
    ('szego.encodings.rope(dim=64).head', 'no attribute "head"'),
    ('szego.verify("L1").verdicts["L1"].holds', 'no attribute "holds"'),
    ('reveal_type(szego.spectrum("nope", 8).eigenvalues)', '"numpy.ndarray[Any, numpy.dtype[Any]]"'),
    ('reveal_type(szego.contraction(array, array, "nope"))', "Union[szego.results.Contraction, szego.stack.Stack[szego.results"),
    ('reveal_type(szego.load("out/"))', 'Results[szego.tables.Table]"'),
    ('reveal_type(szego.load("out/", frames=True)["t"])', '"Any"'),
    ('reveal_type(szego.checkpoint("m")[0, -1])', '"szego.head.Head"'),
    ('reveal_type(szego.judge("out/"))', 'Results[szego.tables.Table]"'),
    ("reveal_type(stacked[0:1])", "Stack[szego.results.Contraction]"),
)


def wrong():
    return "\n".join([*IMPORTS.values(), "from given import array, stacked, step",
                      *(line for line, _ in WRONG), ""])


def said_of(place, modules):
    """{module: {line: what mypy says}} of the modules, checked at once."""
    (place / "given.pyi").write_text(HEAD + "".join(f"{name}: {kind}\n" for name, kind in GIVEN.items()), "utf-8")
    for name, text in modules.items():
        (place / f"{name}.py").write_text(text, "utf-8")
    (place / "mypy.ini").write_text("[mypy]\nstrict = True\nfollow_imports = silent\nallow_redefinition = True\n" + "".join(
        f"[mypy-{name}.*]\nfollow_imports = skip\nignore_missing_imports = True\n" for name in OTHERS), "utf-8")
    done = subprocess.run([*MYPY, "--config-file", "mypy.ini", "--cache-dir", "cache", "--no-error-summary", "--no-pretty",
                           "--hide-error-context", *(f"{name}.py" for name in modules)], cwd=place, text=True,
                          capture_output=True, check=False, timeout=250, env={**os.environ, "MYPYPATH": PACKAGE})
    tap.ok("mypy ran", done.returncode == 1 and not done.stderr, f"{done.returncode}: {done.stderr}{done.stdout[:2000]}")
    found = {name: {} for name in modules}
    for line in done.stdout.splitlines():
        match = re.fullmatch(r"(\w+)\.py:(\d+): (.*)", line)
        if match and match[1] in found:
            found[match[1]].setdefault(int(match[2]), []).append(match[3])
        elif not line.endswith("defined here"):  # a note on an error of ours
            tap.ok("a message on our code", False, line)
    return found


def check_words():
    """Words of the library, and what is allowed at run time, are those of the types."""
    for of, words in ((choices.Question, layout.QUESTIONS), (choices.Want, layout.WANTS), (choices.Part, layout.PARTS),
                      (choices.Convention, layout.CONVENTIONS), (choices.Positions, layout.POSITIONS),
                      (choices.Lags, compute._LAGS), (choices.Exported, FORMS)):
        tap.ok(f"words: {', '.join(words)}", typing.get_args(of) == tuple(words), str(of))
    stacks = set(re.findall(r'_STACK\(type, "(\w+)"', (SOURCE / "lib/checkpoint/family.c").read_text("utf-8")))
    tap.ok("words: stacks", set(typing.get_args(choices.StackName)) == stacks, str(stacks))


def check_encodings():
    """The written types are those of the library's list."""
    made = subprocess.run([sys.executable, SOURCE / "tools/encoding-types"], capture_output=True, text=True, check=True).stdout
    path = pathlib.Path(PACKAGE, "szego/encoding_types.pyi")
    tap.ok("types of encodings are the library's", path.read_text("utf-8") == made,
           f"write them again: tools/encoding-types > {path.relative_to(SOURCE)}")


def bare(name, owner):
    """Functions of a class or a module without a type of an argument or of their answer. __getitem__ has overloads."""
    for key, one in vars(owner).items():
        one = getattr(one, "fget", None) or getattr(one, "__func__", one)
        own = getattr(one, "__module__", "").startswith("szego") and inspect.isfunction(one)
        if own and (key[0] != "_" or key in ("__init__", "__iter__", "__len__", "__array__", "__enter__", "__exit__")):
            signature = inspect.signature(one)
            if signature.return_annotation is signature.empty or any(
                    of.annotation is of.empty for of in list(signature.parameters.values())[inspect.isclass(owner):]):
                yield f"{name}.{key}"


def check_annotations():
    classes = {base for name in szego.__all__ if inspect.isclass(getattr(szego, name))
               for base in getattr(szego, name).__mro__ if base.__module__.startswith("szego")} | {Capture}
    for one in (szego, szego.columns, *sorted(classes, key=repr)):
        found = list(bare(one.__name__, one))
        tap.ok(f"{one.__name__}: every signature has types", not found, str(found))


def check_figures():
    try:
        from szego import plot  # pylint: disable=import-outside-toplevel
        from szego.figures import curves, toeplitzness  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        print(f"# words of figures: not compared: {error}")
        return
    tap.ok("plot: every signature has types", not list(bare("plot", plot)), str(list(bare("plot", plot))))
    tap.ok("words: columns of contraction", typing.get_args(choices.ContractionColumn) == tuple(plot._CONTRACTIONS))
    tap.ok("words: columns of curves", set(typing.get_args(choices.CurveColumn)) == {
        one.y.column for one in curves.SECTION.figures})
    tap.ok("words: columns of heads", set(typing.get_args(choices.HeadColumn)) == {
        one.value for one in toeplitzness.SECTION.figures if one.marks == plot.record.CELLS})
    tap.ok("words: columns of the monitor", typing.get_args(choices.MonitorColumn) == tuple(plot.monitor_records.RECORDS))
    tap.ok("words: kernels", set(typing.get_args(choices.KernelKind)) == set(plot.positional_records.KERNELS))


def check_pyright(place, modules):
    """Of code that needs transformers its types are not asked, and those of Matplotlib's show() are its own."""
    pyright = os.environ.get("SZG_TEST_PYRIGHT")
    if not pyright:
        print("# pyright is not asked: SZG_TEST_PYRIGHT")
        return
    (place / "pyrightconfig.json").write_text(json.dumps({
        "typeCheckingMode": "strict", "extraPaths": [PACKAGE], "exclude": ["cache"], "reportUnusedExpression": False}), "utf-8")
    done = subprocess.run([pyright, "--outputjson", "--pythonpath", sys.executable], cwd=place, text=True,
                          capture_output=True, check=False, timeout=250)
    faults = {}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        name, line = pathlib.Path(one["file"]).stem, one["range"]["start"]["line"]
        if one["severity"] == "error" and "plt.show()" not in modules[name].splitlines()[line]:
            faults.setdefault(name, {}).setdefault(line, []).append(one["message"])
    for name, text in modules.items():
        if name != "wrong" and "transformers import" not in text:
            tap.ok(f"{name}: no errors of pyright", not faults.get(name), str(faults.get(name)))
    for at, (line, _) in enumerate(WRONG, len(modules["wrong"].splitlines()) - len(WRONG)):
        if not line.startswith("reveal_type"):
            tap.ok(f"pyright tells: {line}", at in faults["wrong"])


check_words()
check_encodings()
check_annotations()
check_figures()
MODULES = dict(code())
tap.ok("code was found", len(MODULES) > 15, str(list(MODULES)))
with scratch() as folder:
    SAID = said_of(pathlib.Path(folder), {**MODULES, "wrong": wrong()})
    check_pyright(pathlib.Path(folder), {**MODULES, "wrong": wrong()})
for module in MODULES:
    tap.ok(f"{module}: no errors", not SAID[module], "; ".join(
        f"{MODULES[module].splitlines()[line - 1]}: {' '.join(said)}" for line, said in SAID[module].items()))
for number, (line, words) in enumerate(WRONG, 5):
    said = SAID["wrong"].pop(number, [])
    tap.ok(f"told: {line}", any(words in one for one in said), str(said))
tap.ok("nothing else is told", not SAID["wrong"], str(SAID["wrong"]))
tap.finish()
