"""Runs the program and reads its JSON."""
import functools
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Union, overload

from .arguments import folder_name, keywords, spec as as_spec, text, unknown_keyword
from . import native
from .choices import Option, Path
from .errors import ArgumentError, DataError, ProgramError
from .folders import load, read_json
from .tables import TYPES, Column, Joined, Results, Table, collect

if TYPE_CHECKING:
    from pandas import DataFrame


def program() -> str:
    """Path of szego: the environment variable SZEGO, the program in the package's folder, which is of the
    same version (pip installs it there), or what PATH finds."""
    bundled = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "szego")
    found = os.environ.get("SZEGO") or (bundled if os.path.exists(bundled) else shutil.which("szego"))
    if not found:
        raise ProgramError("the program szego is not in PATH: install it (meson install), or set the "
                           "environment variable SZEGO to its path")
    return found


def environment() -> Dict[str, str]:
    """Of the program: commands that this package carries out run under this interpreter, unless SZEGO_PYTHON names
    another one."""
    return {"SZEGO_PYTHON": sys.executable, **os.environ} if sys.executable else dict(os.environ)


@keywords
def info() -> Dict[str, Optional[str]]:
    """What computes in this process: the library and its version, commit, blas, simd, core (OpenBLAS's kernels) and
    core_remedy: None, or the OPENBLAS_CORETYPE that OpenBLAS needs to use this processor's instructions."""
    library = native.library()
    asked = {"version": "szg_version", "commit": "szg_commit", "blas": "szg_backend_blas", "simd": "szg_backend_simd",
             "core": "szg_backend_blas_core", "core_remedy": "szg_backend_blas_remedy"}
    return {"library": library._name,  # pylint: disable=protected-access
            **{name: text(getattr(library, function)()) for name, function in asked.items()}}


@overload
def run(*arguments: object, frames: Literal[False] = ...) -> Results[Table]: ...
@overload
def run(*arguments: object, frames: Literal[True]) -> "Results[DataFrame]": ...
@overload
def run(*arguments: object, frames: bool) -> Results[Any]: ...


@keywords
def run(*arguments: object, frames: bool = False) -> Results[Any]:
    """One command, `szego.run("symbol", "--pe", "alibi:heads=8")`: its tables as load() gives them,
    `result` always ".". A failure raises ProgramError with the exit code and what the program said. Otherwise its notes,
    how the axes of a dump were read for one, are the result's `messages`, and its warnings are SzegoWarnings too.

    With "-o", "DIR/" the program writes the folder, and its tables are those of `load`: a folder has more of them."""
    folder = _output(list(map(str, arguments)))
    done = _done([program(), *map(str, arguments), *([] if folder else ["--format", "json"])])
    results = load(folder, frames) if folder else _results(read_json(done.stdout, "szego --format json"), frames)
    results.messages = _messages(done.stderr)
    native.warn(message[len(_WARNS):] for message in results.messages if message.startswith(_WARNS))
    return results


_SAYS, _WARNS = "szego: ", "warning: "


def _messages(said: bytes) -> List[str]:
    """The program's messages, a line each."""
    lines = said.decode("utf-8", "replace").splitlines()
    return [line[len(_SAYS):] for line in lines if line.startswith(_SAYS)]


def _output(words: List[str]) -> Optional[str]:
    """The folder that the option -o names; None: there is no such option."""
    path = None
    for word, following in zip(words, [*words[1:], ""]):
        if word == "--":
            break
        found = re.fullmatch(r"-q?o(.+)?|--ou[a-z]*(?:=(.*))?", word, re.DOTALL)
        if found:
            path = next((one for one in found.groups() if one is not None), following)
    if path is not None and not (path.endswith("/") or os.path.isdir(path)):
        raise ArgumentError(f"output {path}: the answer is the tables: leave it out, or name a folder, which ends in /, to "
                            "keep the files too", "SZG_EINVAL")
    return path


def _done(command: List[str]) -> subprocess.CompletedProcess:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              env=environment())
    except OSError as error:
        raise ProgramError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        words = [word for word in command[1:] if word not in ("--format", "json")]
        raise ProgramError(f"szego {' '.join(words)}: exit code {done.returncode}: {said}",
                           done.returncode, said)
    return done


@functools.lru_cache
def _options(path: str, command: str) -> List[str]:
    """The command's options as keywords, from its own help."""
    said = _done([path, command, "--help"]).stdout.decode("utf-8", "replace")
    found = re.findall(r"^ {2,6}(?:-\w, )?--([\w-]+)", said, re.MULTILINE)  # texts are indented further
    return [name.replace("-", "_") for name in found if name not in ("format", "help", "usage")]


@overload
def run_spectrum(spec: str, n: Union[int, str], *, frames: Literal[False] = ..., **options: Option) -> Results[Table]: ...
@overload
def run_spectrum(spec: str, n: Union[int, str], *, frames: Literal[True], **options: Option) -> "Results[DataFrame]": ...
@overload
def run_spectrum(spec: str, n: Union[int, str], *, frames: bool, **options: Option) -> Results[Any]: ...


def run_spectrum(spec: str, n: Union[int, str], *, frames: bool = False, **options: Option) -> Results[Any]:
    """`szego spectrum SPEC -n N`, run as a program: its tables, with all its options.

        szego.run_spectrum("rope:dim=64", 512, all=True)["spectrum_eigenvalues"]["re"]
        szego.run_spectrum("rope:dim=64", "256,512", part="ratio")["spectrum_contraction"]

    n: an order, or several as a text. options: those of the command, with underscores for hyphens: True is a flag, a
    list repeats its option, None and False leave it out; k=4 is --k 4. frames: pandas DataFrames. KeywordError: the
    command has no such option; ProgramError: it failed.
    """
    as_spec(spec)
    return run("spectrum", spec, "-n", n, *_words("spectrum", "run_spectrum", options, ["spec", "n", "frames"]), frames=frames)


@overload
def ablate(*paths: Path, frames: Literal[False] = ..., **options: Option) -> Results[Table]: ...
@overload
def ablate(*paths: Path, frames: Literal[True], **options: Option) -> "Results[DataFrame]": ...
@overload
def ablate(*paths: Path, frames: bool, **options: Option) -> Results[Any]: ...


def ablate(*paths: Path, frames: bool = False, **options: Option) -> Results[Any]:
    """`szego ablate PATH...`, run as a program: accuracy without each head of trained runs, and its deposit.

        szego.ablate("runs/run-0/")["ablate_ablation"]["accuracy"]

    paths: checkpoints of `szego train` or szego.train, folders of runs, or folders of such. options: those of the command
    (method="cumulative", split="all"), as of run_spectrum. KeywordError, ProgramError likewise.
    """
    return run("ablate", *_words("ablate", "ablate", options, ["frames"]), "--",
               *(folder_name(one, "path") for one in paths), frames=frames)


def _words(command: str, function: str, options: Dict[str, Option], own: List[str]) -> List[object]:
    """The command's options as its arguments. own: further keywords of the function, for the nearest one."""
    known = _options(program(), command)
    arguments: List[object] = []
    for name, value in options.items():
        if name not in known:
            raise unknown_keyword(function, name, [*own, *known])
        if isinstance(value, (list, tuple)) and not value:
            raise ArgumentError(f"{name}={value!r}: the list is empty; leave the option out", "SZG_EINVAL")
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not False and one is not None:
                arguments += [option] if one is True else [option, one]
    return arguments


def _results(root, frames: bool) -> Results:
    if not isinstance(root, dict) or not isinstance(root.get("provenance"), dict):
        raise DataError("szego --format json: no object with provenance")
    provenance = root.pop("provenance")
    results, found = Results(), {}
    results.provenance["."] = provenance
    for name, rows in root.items():
        found[f"{provenance.get('command')}_{name}"] = joined = Joined()
        joined.add(".", len(rows), _columns(rows))
    collect(found, results, frames)
    results.docs.clear()
    return results


def _columns(rows: List[dict]) -> List[Column]:
    """JSON's numbers say their type: a real has a point or an exponent, an integer has none."""
    for row in rows:
        _restore(row)
    names = list(rows[0]) if rows else []
    columns = []
    for name in names:
        cells = [row.get(name) for row in rows]
        kinds = {"integer" if isinstance(cell, int) else "real" if isinstance(cell, float) else "text"
                 for cell in cells if cell is not None}
        kind = max(kinds, key=TYPES.index) if kinds else "real" if name != "note" else "text"
        texts = [cell if cell is None or isinstance(cell, str) else repr(cell) for cell in cells]
        columns.append(Column(name, kind, "", texts))
    return columns


def _restore(row: Dict[str, object]):
    """Puts NaN and infinities, which JSON lacks, back where the row's `not_finite` says that they were."""
    for name, text in (row.pop("not_finite", None) or {}).items():
        if name not in row or row[name] is not None or text not in ("nan", "inf", "-inf"):
            raise DataError(f"szego --format json: not_finite: {name}: {text!r} beside {row.get(name)!r}")
        row[name] = float(text)
