"""Writes a page: results are read, figures are drawn by processes side by side, and the file appears whole."""
import concurrent.futures
import multiprocessing
import os
import signal
import sys
import warnings

from ..errors import ArgumentError
from ..files import whole_file
from ..folders import load
from ..figures import subjects
from ..figures.rows import Tables
from .document import Page
from . import svg

_waiting = []  # drawings, for the processes that are forked while they wait


def _picture(number):
    """What the page needs of a drawing."""
    drawing, prefix = _waiting[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of glyphs that the measuring font lacks; browsers have others
        return svg.inline(drawing, prefix)


def _quiet():
    """A worker leaves Ctrl-C to the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _pictures(drawings, workers, progress):
    """Pictures in the order of the drawings. The processes are forked: drawings hold whole tables."""
    _waiting[:] = [(drawing, f"f{i}") for i, drawing in enumerate(drawings)]
    try:
        if workers < 2 or len(drawings) < 4 or "fork" not in multiprocessing.get_all_start_methods():
            yield from map(_picture, range(len(drawings)))
            return
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(workers, context, _quiet) as pool:
            try:
                yield from pool.map(_picture, range(len(drawings)), chunksize=2)
            except BaseException:
                for process in pool._processes.values():  # pylint: disable=protected-access
                    process.terminate()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    finally:
        _waiting.clear()
        progress("")


def _told(progress, pictures, count):
    for done, picture in enumerate(pictures, 1):
        progress(f"figures: {done} of {count}")
        yield picture


def _line(stream):
    """A progress line on a terminal; nothing elsewhere."""
    if not (stream and stream.isatty()):
        return lambda text: None
    return lambda text: print(f"\r\x1b[K{text}", end="", file=stream, flush=True)


def page_path(folder, output):
    """The page's path: `output` where it ends in .html, else report.html in that folder."""
    output = os.fspath(folder if output is None else output)
    if output.endswith(".html") and not os.path.isdir(output):
        return output
    if output.endswith(os.sep) or os.path.isdir(output):
        return os.path.join(output, "report.html")
    raise ArgumentError(f"output {output}: end it in .html, or in / for report.html in a folder", "SZG_EINVAL")


def report(folder, output=None, *, workers=None, progress=None):
    """Draws every result in `folder` and below it into one HTML page, and answers the page's path.

    output: a file that ends in .html, or a folder; None: report.html in `folder`. workers: processes that draw (None:
    one a core). progress: a stream that is told, where it is a terminal. A result that cannot be read is left out with
    a warning, and the page names it. DataError: the folder holds no result; a file cannot be written.
    """
    # pylint: disable=import-outside-toplevel
    from .. import __version__
    path = page_path(folder, output)
    tell = _line(progress)
    tell("reading")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = load(folder, strict=False)
    tables = Tables(results)
    page = Page(results, tables, subjects.sections(), os.fspath(folder), __version__)
    workers = len(os.sched_getaffinity(0)) if workers is None else workers
    pictures = list(_told(tell, _pictures(page.drawings, workers, tell), len(page.drawings)))
    text = page.html(pictures)
    with whole_file(path) as file:
        file.write(text)
    return path, results


def main(arguments):
    """`szego report FOLDER [-o OUTPUT]`: 0, or 3 where a result could not be read."""
    folder, *rest = arguments
    path, results = report(folder, rest[0] if rest else None, progress=sys.stderr)
    for message in results.skipped:
        print(f"szego: warning: left out: {message}", file=sys.stderr)
    print(f"szego: note: wrote {path}", file=sys.stderr)
    if results.skipped:
        print(f"szego: bad data: {len(results.skipped)} of the results could not be read; the rest is in the report",
              file=sys.stderr)
    return 3 if results.skipped else 0
