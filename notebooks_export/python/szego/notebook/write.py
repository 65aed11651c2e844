"""`szego export`: where an export goes, what is read, and which writer makes it."""
import os
import sys
import warnings

from .. import native
from ..errors import ArgumentError
from ..figures.rows import Tables
from ..folders import load
from .archive import write_npz
from .joined import write_csv

#: The ending that each form's name has, and its place below the folder.
FORMS = {"npz": (".npz", "export.npz"), "csv": ("/", "export/"), "ipynb": (".ipynb", "export.ipynb")}


def _path(folder, to, output):
    ending, standard = FORMS[to]
    if output is None:
        return os.path.join(os.fspath(folder), standard)
    output = os.fspath(output)
    fits = output.endswith("/") or os.path.isdir(output) if to == "csv" else \
        output.endswith(ending) and len(output) > len(ending)
    if not fits:
        also = ", which writes a folder" if to == "csv" else ""
        raise ArgumentError(f"output {output}: end it in {ending} for --to {to}{also}", "SZG_EINVAL")
    return output


def export(folder, to, output=None):
    """Writes every table of every result in `folder` and below it, joined by command and table.

    to: "npz" (one file for numpy.load), "csv" (a folder with a CSV file a table and manifest.json), "ipynb" (a Jupyter
    notebook that shows the figures of the HTML page, and the npz that it loads beside it). output: a file or folder of
    the form's ending; None: export.npz, export/ or export.ipynb in `folder`. The answer: the path and the Results. A
    result that cannot be read is left out with a warning, and the manifest names it. DataError: the folder holds no
    result, or a number does not fit an array.
    """
    if to not in FORMS:
        raise ArgumentError(f"to={to!r}: npz, csv or ipynb", "SZG_EINVAL")
    path = _path(folder, to, output)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = load(folder, strict=False)
    library = native.library()
    about = library.szg_version().decode(), library.szg_commit().decode()
    if to == "csv":
        write_csv(results, path, os.fspath(folder), *about)
        return path, results
    write_npz(results, path[: -len(".ipynb")] + ".npz" if to == "ipynb" else path, *about)
    if to == "ipynb":
        from .ipynb import write_notebook  # pylint: disable=import-outside-toplevel
        write_notebook(results, Tables(results), path, os.fspath(folder), *about)
    return path, results


def main(arguments):
    """`szego export FOLDER FORM [OUTPUT]`: 0, or 3 where a result could not be read."""
    folder, to, *rest = arguments
    path, results = export(folder, to, rest[0] if rest else None)
    tables, count = len(results), len(results.provenance)
    print(f"szego: note: wrote {path}: {tables} table{'' if tables == 1 else 's'} of {count} "
          f"result{'' if count == 1 else 's'}", file=sys.stderr)
    for message in results.skipped:
        print(f"szego: warning: left out: {message}", file=sys.stderr)
    if results.skipped:
        print(f"szego: bad data: {len(results.skipped)} of the results could not be read and are not in {path}; the rest "
              "is complete", file=sys.stderr)
    return 3 if results.skipped else 0
