"""What the runs of an experiment show: Table 1, the sweep, switches, arms, hypotheses, relations, courses by step.

    found = szego.judge("mechanism/")                  # a folder of `szego reproduce -o`
    found["reproduce_hypotheses"]["p_holm"]
    szego.judge.write("mechanism/", preset="mechanism")    # an unpacked runs.tar.xz, which has no manifest

It reads runs/ below the folder, and needs SciPy. docs/how-to/reproduce.md describes the tables.
"""
import argparse
import os
import shutil
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Literal, Optional, Tuple, overload

try:
    import scipy  # noqa: F401 # pylint: disable=unused-import
except ImportError as _error:
    from ..errors import MissingPackageError
    raise MissingPackageError("szego.judge needs SciPy: apt install python3-scipy, or pip install scipy") from _error
# pylint: disable=wrong-import-position
from ..arguments import keywords
from ..choices import Path
from ..display import screen
from ..errors import ArgumentError, DataError
from ..files import check_folder, names_folder
from ..folders import is_there
from ..publish import progress_line, say
from ..tables import Joined, Results, Table, collect
from .accuracies import sweep, table1
from .arms import arms
from .by_step import by_step
from .hypotheses import hypotheses
from .lengths import length_arms
from .plan import check_preset, read_plan
from .relations import relations
from .rows import Rows
from .runs import Runs
from .switches import switches
from .written import write_folder

__all__ = ["judge", "write", "main"]


@keywords
def judge(folder: Path, *, preset: Any = None, frames: bool = False) -> Results[Any]:
    """The tables of the runs in a folder, as `szego.load` gives those that are written: by reproduce_TABLE.

    folder: what `szego reproduce -o` wrote, or an unpacked runs.tar.xz: runs/EXPERIMENT/TASK/ENCODING/run-SEED/ below
        it have finished.json, the logs, and the ablations and length.csv that the preset asks for. Runs that are not
        finished count as missing.
    preset: which runs were to be made, and what is asked of them. None: the one in the folder's manifest.json. A
        folder without a manifest needs it: a name of those that are installed ("mechanism"), the path of a file, or
        a dict. It is checked by the library, as `szego reproduce` checks it.
    frames: pandas DataFrames instead of dicts of arrays.

    Tables: table1; sweep, switches, length_arms where the preset has them; arms, hypotheses, pairs with hypotheses;
    relations, relation_arms, relation_runs; by_step. Source: docs/how-to/reproduce.md. DataError names the file, the
    field and what to do: a folder without runs, a finished run without its log, a column that is missing, a run that
    is another one than its folder says or lies in two.
    """
    check_preset(preset)
    return _results(*_judged(os.fspath(folder), preset), frames)


@keywords
def write(folder: Path, *, output: Optional[Path] = None, preset: Any = None) -> Results[Table]:
    """As judge(), and writes the tables and the manifest as `szego reproduce` does: into the folder itself, whose other
    tables stay, or into the folder `output`."""
    check_preset(preset)
    provenance, tables = _judged(os.fspath(folder), preset)
    write_folder(os.fspath(folder if output is None else output), tables, provenance)
    return _results(provenance, tables, False)


def main(arguments: List[str]) -> int:
    """`szego judge`: prints the tables that a person reads first, or writes all of them (-o). Returns the exit code 0;
    what is refused is raised, for the launcher to tell (publish.py), and a wrong option exits with 2. The program has
    checked the preset."""
    parser = argparse.ArgumentParser(prog="szego judge", description="Judges the runs of an experiment.")
    parser.add_argument("folder", help="what `szego reproduce -o` wrote, or an unpacked runs.tar.xz")
    parser.add_argument("--preset", help="the preset of the runs, if the folder has no manifest: a name or a file")
    parser.add_argument("-o", "--output", help="the folder that receives all tables; it may be the same one")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    given = parser.parse_args(arguments)
    if given.output is not None and not names_folder(given.output):
        raise ArgumentError(f"output {given.output}: end it in / for the folder that receives the tables", "SZG_EINVAL")
    check_folder(given.folder, "name a folder that `szego reproduce -o DIR/` wrote, or one that runs.tar.xz was "
                 "unpacked in")
    provenance, tables = _judged(given.folder, given.preset, progress_line(None if given.quiet else sys.stderr))
    if given.output is not None:
        removed = write_folder(given.output, tables, provenance)
        if removed and not given.quiet:
            say(f"{given.output}: removed tables of before, which this preset does not ask for: {', '.join(removed)}")
    else:
        width = shutil.get_terminal_size((80, 24)).columns  # as the program has it
        print("\n\n".join(screen(table.name, table.shown, {column.name: column for column in table.columns()}, width)
                          for table in tables if table.shown and table.rows))
    return 0


def _judged(folder: str, preset, tell: Callable[[str], None] = lambda text: None) -> Tuple[dict, List[Rows]]:
    """(how the tables came about, the tables that the preset asks for). tell: shows a line, "" at the end."""
    if not is_there(folder):
        raise DataError(f"{folder}: no such folder")
    if not os.path.isdir(folder):
        raise DataError(f"{folder}: is not a folder: name the one that `szego reproduce` wrote")
    plan = read_plan(folder, preset)
    try:
        runs = Runs(folder, plan, tell)
        tell("judging")
        made = _tables(runs)
    finally:
        tell("")
    same = plan.provenance.get("preset") == plan.document
    provenance = plan.provenance if same else {"version": _version(), "command": "reproduce", "preset": plan.document}
    return provenance, made


def _tables(runs: Runs) -> List[Rows]:
    found = (table1(runs), sweep(runs), switches(runs), arms(runs), *hypotheses(runs), length_arms(runs),
             *relations(runs), by_step(runs))
    return [table for table in found if table is not None]


def _version() -> str:
    from .. import __version__  # pylint: disable=import-outside-toplevel # it is complete by now
    return __version__


def _results(provenance: dict, tables: List[Rows], frames: bool) -> Results:
    results = Results()
    found: Dict[str, Joined] = {}
    results.provenance["."] = provenance
    for table in tables:
        found[f"reproduce_{table.name}"] = joined = Joined()
        joined.add(".", len(table.rows), table.columns())
    return collect(found, results, frames)


class _Judge(types.ModuleType):
    """szego.judge(folder) is szego.judge.judge(folder)."""

    if TYPE_CHECKING:
        write = staticmethod(write)

    @overload
    def __call__(self, folder: Path, *, preset: Any = ..., frames: Literal[False] = ...) -> Results[Table]: ...
    @overload
    def __call__(self, folder: Path, *, preset: Any = ..., frames: bool) -> Results[Any]: ...

    def __call__(self, folder, **how):
        return judge(folder, **how)


sys.modules[__name__].__class__ = _Judge
