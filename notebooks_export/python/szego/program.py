"""Runs the program and reads its JSON."""
import os
import shutil
import subprocess
from typing import Dict, List

from .errors import DataError, ProgramError
from .folders import read_json
from .tables import TYPES, Column, Joined, Results, collect


def program() -> str:
    """Path of szego: the environment variable SZEGO, the program in the package's folder, which is of the
    same version (pip installs it there), or what PATH finds."""
    bundled = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "szego")
    found = os.environ.get("SZEGO") or (bundled if os.path.exists(bundled) else shutil.which("szego"))
    if not found:
        raise ProgramError("the program szego is not in PATH: install it (meson install), or set the "
                           "environment variable SZEGO to its path")
    return found


def run(*arguments, frames: bool = False) -> Results:
    """One command, `szego.run("symbol", "--pe", "alibi:heads=8")`: its tables as load() gives them,
    `result` always ".". A failure raises ProgramError with the exit code and what the program said."""
    command = [program(), *map(str, arguments), "--format", "json", "--quiet"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise ProgramError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise ProgramError(f"szego {' '.join(command[1:-3])}: exit code {done.returncode}: {said}",
                           done.returncode, said)
    return _results(read_json(done.stdout, "szego --format json"), frames)


def spectrum(pe: str, n: int, frames: bool = False, **options) -> Results:
    """`szego spectrum --pe PE -n N`: options are the command's with underscores for hyphens; True is a
    flag, a list repeats its option.

        szego.spectrum("rope:dim=64", 512, all=True)["spectrum_eigenvalues"]["re"]
    """
    arguments: List[object] = ["spectrum", "--pe", pe, "-n", n]
    for name, value in options.items():
        option = ("-" if len(name) == 1 else "--") + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not False and one is not None:
                arguments += [option] if one is True else [option, one]
    return run(*arguments, frames=frames)


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
