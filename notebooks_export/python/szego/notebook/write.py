"""`szego export`: where an export goes, what is read, and which writer makes it."""
import argparse
import os

from .. import native
from ..errors import ArgumentError, DataError
from ..figures.rows import Tables
from ..figures.words import count
from ..files import check_folder, names_folder
from ..folders import load_readable
from ..publish import tell_written
from .archive import write_npz
from .joined import write_csv

#: The ending that each form's name has, and its place below the folder.
FORMS = {"npz": (".npz", "export.npz"), "csv": ("/", "export/"), "ipynb": (".ipynb", "export.ipynb")}


def _path(folder, to, output):
    ending, standard = FORMS[to]
    if output is None:
        return os.path.join(os.fspath(folder), standard)
    output = os.fspath(output)
    fits = names_folder(output) if to == "csv" else output.endswith(ending) and len(output) > len(ending)
    if not fits:
        also = ", which writes a folder" if to == "csv" else ""
        raise ArgumentError(f"output {output}: end it in {ending} for the form {to}{also}", "SZG_EINVAL")
    return output


def _check_names(results):
    """Names of folders may be of any bytes; CSV and JSON are UTF-8, and readers refuse others."""
    for text in (*results.provenance, *results.skipped):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise DataError(f"{text}: a name that is not UTF-8 cannot be written as CSV: rename the folder, or "
                            "write npz") from None


def export(folder, to, output=None):
    """Writes every table of every result in `folder` and below it, joined by command and table.

    to: "npz" (one file for numpy.load), "csv" (a folder with one CSV file per table and manifest.json), "ipynb" (a Jupyter
    notebook that shows the figures of the HTML page, and the npz that it loads beside it). output: a file or folder of
    the form's ending; None: export.npz, export/ or export.ipynb in `folder`. The answer: the path and the Results. A
    result that cannot be read, or is a copy of another one, is left out, and the manifest names it. DataError: the
    folder holds no result that can be read, or a number does not fit an array.
    """
    if to not in FORMS:
        raise ArgumentError(f"to={to!r}: npz, csv or ipynb", "SZG_EINVAL")
    path = _path(folder, to, output)
    results = load_readable(folder)
    library = native.library()
    about = library.szg_version().decode(), library.szg_commit().decode()
    if to == "csv":
        _check_names(results)
        write_csv(results, path, os.fspath(folder), *about)
        return path, results
    write_npz(results, path[: -len(".ipynb")] + ".npz" if to == "ipynb" else path, *about)
    if to == "ipynb":
        from .ipynb import write_notebook  # pylint: disable=import-outside-toplevel
        write_notebook(results, Tables(results), path, os.fspath(folder), *about)
    return path, results


def main(arguments):
    """`szego export`: writes the export, and tells what it lacks. Returns the exit code 0; what is refused is raised, for
    the launcher to tell (publish.py): DataError too where a result was left out and the export has the rest."""
    parser = argparse.ArgumentParser(prog="szego export", description="Writes a folder of results for other programs.")
    parser.add_argument("folder", help="a folder that a command wrote with -o DIR/, or one above it")
    parser.add_argument("--to", required=True, choices=FORMS, help="the form of the export")
    parser.add_argument("-o", "--output", help="a file or folder of that form")
    parser.add_argument("-q", "--quiet", action="store_true", help="no notes")
    given = parser.parse_args(arguments)
    check_folder(given.folder)
    path, results = export(given.folder, given.to, given.output)
    note = f"wrote {path}: {count(len(results), 'table', 'tables')} of " \
           f"{count(len(results.provenance), 'result', 'results')}"
    tell_written(None if given.quiet else note, results, path)
    return 0
