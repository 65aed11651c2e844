"""Pages and exports of folders of results, as functions; `szego report` and `szego export` write the same."""
from typing import Optional

from . import native
from .arguments import folder_name, integer, keywords
from .choices import Exported, Path


@keywords
def report(folder: Path, output: Optional[Path] = None, *, workers: int = 1) -> str:
    """Draws every result in a folder and below it into one HTML page; answers its path.

        found.save("out/"); szego.report("out/")              # out/report.html

    output: a file that ends in .html, or a folder; None: report.html in `folder`. workers: processes that draw; 1: this
    one. What you have set for Matplotlib changes no page. A result that cannot be read is left out: the page names it, and
    a SzegoWarning. DataError: none can be read.
    MissingPackageError: Matplotlib or Jinja2 is missing.
    """
    from .page import report as write  # pylint: disable=import-outside-toplevel # it needs more than NumPy
    import matplotlib  # pylint: disable=import-outside-toplevel
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        path, results = write(folder_name(folder), output and folder_name(output, "output"),
                              workers=integer(workers, "workers", 1))
    native.warn(f"left out: {message}" for message in results.skipped)
    return path


@keywords
def export(folder: Path, to: Exported = "npz", output: Optional[Path] = None) -> str:
    """Writes every table of every result in a folder and below it, joined by command and table; answers the path.

    to: "npz" (one file for numpy.load), "csv" (a folder, which szego.load reads too) or "ipynb" (a notebook that shows the
    figures). output: a file or folder of that form; None: export.npz, export/ or export.ipynb in `folder`. What is left
    out, and errors: as of `report`.
    """
    from .notebook import export as write  # pylint: disable=import-outside-toplevel
    path, results = write(folder_name(folder), to, output and folder_name(output, "output"))
    native.warn(f"left out: {message}" for message in results.skipped)
    return path
