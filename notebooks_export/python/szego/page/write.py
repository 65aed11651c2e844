"""Writes a page: results are read, figures are drawn by processes side by side, and the file appears whole."""
import argparse
import concurrent.futures.process
import errno
import multiprocessing
import os
import signal
import sys
import warnings

from ..errors import ArgumentError, SzegoError
from ..files import check_folder, make_folder, names_folder, whole_file
from ..folders import load_readable
from ..figures import subjects
from ..figures.rows import Tables
from ..publish import progress_line, tell_written
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


def _pictures(drawings, workers):
    """Pictures in the order of the drawings. The processes are forked: drawings hold whole tables."""
    _waiting[:] = [(drawing, f"f{i}") for i, drawing in enumerate(drawings)]
    try:
        if workers < 2 or len(drawings) < 4 or "fork" not in multiprocessing.get_all_start_methods():
            yield from map(_picture, range(len(drawings)))
            return
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(workers, context, _quiet) as pool:
            # No future is cancelled, as the iterator of `map` would do: the pool's own thread sets an exception on each
            # when the processes end, and prints a traceback where it finds a cancelled one.
            try:
                futures = [pool.submit(_picture, number) for number in range(len(drawings))]
                for future in futures:
                    yield future.result()
            except concurrent.futures.process.BrokenProcessPool:
                raise SzegoError("a process that drew figures was ended: the system may lack memory; --threads 1 draws "
                                 "them one by one") from None
            except BaseException:
                for process in pool._processes.values():  # pylint: disable=protected-access
                    process.terminate()
                pool.shutdown(wait=True)
                raise
    finally:
        _waiting.clear()


def _told(progress, pictures, count):
    for done, picture in enumerate(pictures, 1):
        progress(f"drawing figures: {done} of {count}")
        yield picture


def page_path(folder, output):
    """The page's path: `output` where it ends in .html, else report.html in that folder, which is made. No other
    ending: a slip of the hand would put the page in place of a table."""
    output = os.fspath(folder if output is None else output)
    if not names_folder(output):
        if not output.endswith(".html"):
            raise ArgumentError(f"output {output}: end it in .html, or in / for report.html in a folder", "SZG_EINVAL")
        if not os.path.isdir(os.path.dirname(output) or "."):  # which is found before anything is drawn
            raise SzegoError(f"{output}: cannot be written: {os.strerror(errno.ENOENT)}")
        return output
    make_folder(output)
    return os.path.join(output, "report.html")


def report(folder, output=None, *, workers=None, progress=None):
    """Draws every result in `folder` and below it into one HTML page; answers its path, and the results.

    output: a file that ends in .html, or a folder, which is made; None: report.html in `folder`. workers: processes
    that draw (None: one a core). progress: a stream that is told, where it is a terminal. A result that cannot be read,
    or is a copy of another one, is left out: the page and `skipped` of the results name it. DataError: there is none
    that can be read. ArgumentError: another ending. SzegoError: the page cannot be written.
    """
    tell = progress_line(progress)
    try:
        tell("reading results")
        results = load_readable(folder)
        path = page_path(folder, output)
        text = _text(results, os.fspath(folder), workers, tell)
        with whole_file(path) as file:
            file.write(text)
    finally:
        tell("")
    return path, results


def _text(results, folder, workers, tell):
    from .. import __version__  # pylint: disable=import-outside-toplevel # it is complete by now
    page = Page(results, Tables(results), subjects.sections(), folder, __version__)
    workers = len(os.sched_getaffinity(0)) if workers is None else workers
    return page.html(list(_told(tell, _pictures(page.drawings, workers), len(page.drawings))))


def main(arguments):
    """`szego report`: writes the page, and tells what it lacks. Returns the exit code 0; what is refused is raised, for
    the launcher to tell (publish.py): DataError too where a result was left out and the page has the rest."""
    parser = argparse.ArgumentParser(prog="szego report", description="Draws a folder of results into one HTML page.")
    parser.add_argument("folder", help="a folder that a command wrote with -o DIR/, or one above it")
    parser.add_argument("-o", "--output", help="the page, or a folder for its report.html; it may be the same one")
    parser.add_argument("-q", "--quiet", action="store_true", help="no notes and no progress")
    parser.add_argument("--threads", type=int, help="processes that draw (default: one a core)")
    given = parser.parse_args(arguments)
    check_folder(given.folder)
    path, results = report(given.folder, given.output, workers=given.threads,
                           progress=None if given.quiet else sys.stderr)
    tell_written(None if given.quiet else f"wrote {path}", results, "the report")
    return 0
