"""The shared library libszego by ctypes: where it is, contexts, Ctrl-C. The GIL is released while it runs."""
import _ctypes
import contextlib
import ctypes
import os
import sys
import threading
import time
import warnings
from typing import Callable, Dict, Iterable, List, Optional, Tuple, TypeVar

from . import layout
from .errors import ArgumentError, LibraryError, SzegoWarning
from .layout import SONAME, VERSION_NUMBER

_STATUS_NAMES = list(layout.STATUSES)

# ---- Loading ------------------------------------------------------------------------------------

_library: Optional[ctypes.CDLL] = None
_loading = threading.Lock()


def places() -> List[Tuple[str, str]]:
    """(what it is, path) of each place where the library is looked for, in this order. The environment
    variable SZEGO_LIBRARY, where it is set, is the only one."""
    here = os.path.dirname(os.path.abspath(__file__))
    source = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    if os.environ.get("SZEGO_LIBRARY"):
        return [("the environment variable SZEGO_LIBRARY", os.environ["SZEGO_LIBRARY"])]
    found = [("beside the package", os.path.join(here, SONAME))]
    if os.path.exists(os.path.join(source, "include", "szego", "szego.h")):
        found += [("the build tree", os.path.join(source, build, SONAME))
                  for build in (os.path.join("build", "plain"), "build")]
    return found + [("the system's libraries", SONAME)]


def library() -> ctypes.CDLL:
    """The library, loaded once. LibraryError names the places where it is not, or why one does not serve."""
    global _library  # pylint: disable=global-statement
    with _loading:
        if _library is None:
            _library = _load()
        return _library


def _load() -> ctypes.CDLL:
    tried = []
    for what, path in places():
        tried.append(f"{what} ({path})")
        if os.sep in path and not os.path.exists(path) and len(places()) > 1:
            continue
        try:
            loaded = ctypes.CDLL(path)
        except OSError as error:
            if os.sep in path:
                raise LibraryError(f"{path}: {error}: it was found by {what}") from None
            continue
        _check_version(loaded, path)
        layout.declare(loaded)
        return loaded
    raise LibraryError(f"the library {SONAME} is not there; looked for it in {', '.join(tried)}. Build it "
                       "(ninja -C build/plain), install it (meson install -C build/plain), or set the "
                       "environment variable SZEGO_LIBRARY to its path")


def _check_version(loaded: ctypes.CDLL, path: str) -> None:
    """Structs that the library fills change with MAJOR, and before 1.0 with MINOR too."""
    try:
        number = loaded.szg_version_number()
    except AttributeError:
        raise LibraryError(f"{path}: is no libszego: szg_version_number is missing") from None
    series = 1000 if VERSION_NUMBER < 10**6 else 10**6
    if number // series != VERSION_NUMBER // series or number < VERSION_NUMBER:
        raise LibraryError(f"{path}: is version {_version(number)}; this package needs "
                           f"{_version(VERSION_NUMBER)} or a later one of its series. Set SZEGO_LIBRARY to "
                           "such a library, or install the package that belongs to this one")


def _version(number: int) -> str:
    return f"{number // 10**6}.{number // 1000 % 1000}.{number % 1000}"


# ---- OpenBLAS's kernels -------------------------------------------------------------------------

_CORE = "OPENBLAS_CORETYPE"  # OpenBLAS reads it while it is loaded


def _openblas_is_there() -> bool:
    """Whether the process has loaded the system's OpenBLAS. That of NumPy's wheel is another library."""
    try:
        ctypes.CDLL("libopenblas.so.0", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return False
    return True


def choose_kernels() -> None:
    """Sets OPENBLAS_CORETYPE where OpenBLAS does not know the processor, as the program does. The library, which
    knows the rule, is loaded to ask it and then unloaded. NumPy comes afterwards: Debian's loads the same OpenBLAS."""
    if _CORE in os.environ or _openblas_is_there():
        return
    try:
        asked = _load()
    except LibraryError:  # the first call will say so
        return
    remedy = asked.szg_backend_blas_remedy()
    if remedy:
        os.environ[_CORE] = remedy.decode()
        _ctypes.dlclose(asked._handle)  # pylint: disable=protected-access


# ---- Contexts -----------------------------------------------------------------------------------


_MESSAGE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
_WARNING = 1  # SZG_WARNING
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_INNER = (_PACKAGE, contextlib.__file__)  # files whose lines are not the caller's


def _hearing(heard: List[str]):
    """A callback, of any thread, that keeps what the library warns of. It knows the list alone, so that a context that
    nobody has is freed at once."""
    return _MESSAGE(lambda user, severity, said: heard.append(said.decode("utf-8", "replace"))
                    if severity == _WARNING else None)


def warn(messages: Iterable[Optional[str]]) -> None:
    """Warns in the name of the caller's line, the nearest one outside this package. None is no message."""
    frame, level = sys._getframe(1), 2  # pylint: disable=protected-access
    while frame.f_back and frame.f_code.co_filename.startswith(_INNER):
        frame, level = frame.f_back, level + 1
    for message in filter(None, messages):
        warnings.warn(message, SzegoWarning, stacklevel=level)


class Context:
    """A context of the library. One thread uses it at a time; the process that opened it alone uses it.

    warnings: what the library has warned of since `take_warnings`."""

    def __init__(self, threads: Optional[int] = None):
        self._library, self._handle, self._busy = library(), ctypes.c_void_p(), threading.Lock()
        self.process, self.threads, self.cancelled = os.getpid(), threads, False
        self.warnings: List[str] = []
        self._hear = _hearing(self.warnings)
        options = layout.ContextOptions(threads=_count(threads), message=ctypes.cast(self._hear, ctypes.c_void_p))
        status = self._library.szg_context_open(ctypes.byref(options), ctypes.byref(self._handle))
        if status:
            raise _error(status, f"no context of {threads} threads: 1 to 1024 are possible, None is one for "
                                 "each processor" if status == 1 else "no context: memory was refused")

    @property
    def busy(self) -> bool:
        """Whether a call is at work in it."""
        return self._busy.locked()

    def call(self, name: str, *arguments) -> None:
        """The function `name`, which takes the context first and returns a status."""
        if not self._busy.acquire(blocking=False):
            raise LibraryError(f"{name}: the context is in use by another thread: give each its own")
        try:
            self._usable(name)
            status = getattr(self._library, name)(self._handle, *arguments)
            if status:
                raise _error(status, self._library.szg_context_message(self._handle).decode("utf-8", "replace"))
        finally:
            self._busy.release()

    def take_warnings(self) -> List[str]:
        """Each once, in their order."""
        taken = list(dict.fromkeys(self.warnings))
        self.warnings.clear()
        return taken

    def cancel(self) -> None:
        """Stops what runs in it, from any thread. The context can only be closed afterwards."""
        self.cancelled = True
        if self._handle:
            self._library.szg_context_cancel(self._handle)

    def close(self) -> None:
        """Joins its threads. Closing twice is allowed."""
        if not self._busy.acquire(blocking=False):
            raise LibraryError("the context is in use by another thread: it cannot be closed")
        try:
            self._library.szg_context_close(ctypes.byref(self._handle))
        finally:
            self._busy.release()

    def _usable(self, name: str) -> None:
        if not self._handle:
            raise LibraryError(f"{name}: the context is closed")
        if self.process != os.getpid():
            raise LibraryError(f"{name}: the context belongs to the process that opened it")


def _count(threads: Optional[int]) -> int:
    if threads is None:
        return 0
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 1024:
        raise ArgumentError(f"threads={threads!r}: 1 to 1024 are possible, None is one for each processor",
                            "SZG_EINVAL")
    return threads


def _error(status: int, message: str) -> LibraryError:
    name = _STATUS_NAMES[status] if 0 < status < len(_STATUS_NAMES) else f"status {status}"
    kind = ArgumentError if name in ("SZG_EINVAL", "SZG_EDATA") else LibraryError
    return kind(message, name)


@contextlib.contextmanager
def handle(context: Context, opener: str, closer: str, *arguments):
    """What the function `opener` opens, an address, for a block; `closer` closes it."""
    opened = ctypes.c_void_p()
    context.call(opener, *arguments, ctypes.byref(opened))
    try:
        yield opened
    finally:
        getattr(library(), closer)(ctypes.byref(opened))


@contextlib.contextmanager
def filled(context: Context, name: str, closer: str, made: layout.Struct, *arguments):
    """The struct `made`, which the function `name` fills, for a block; `closer` frees what it holds."""
    context.call(name, *arguments, ctypes.byref(made))
    try:
        yield made
    finally:
        getattr(library(), closer)(ctypes.byref(made))


# ---- Calls: contexts that wait for the next one, and Ctrl-C ---------------------------------------

_IDLE_CONTEXTS = 4  # in all: each has its threads
_GRACE = 0.5  # seconds that an interrupted call is waited for: LAPACK does not stop half-way
_POLL = 0.1  # seconds after which Ctrl-C is heard at the latest: any thread may have taken the signal
_idle: Dict[Optional[int], List[Context]] = {}
_idle_lock = threading.Lock()
T = TypeVar("T")


def _take(threads: Optional[int]) -> Context:
    _count(threads)
    with _idle_lock:
        if _idle.get(threads):
            return _idle[threads].pop()
    return Context(threads)


def _give(context: Context) -> None:
    if context.busy:  # Ctrl-C came just after a call: it is forgotten
        return
    if context.cancelled:
        context.close()
        return
    with _idle_lock:
        _idle.setdefault(context.threads, []).append(context)
        if sum(map(len, _idle.values())) > _IDLE_CONTEXTS:  # one of another number of threads goes first
            others = [waiting for threads, waiting in _idle.items() if waiting and threads != context.threads]
            spare = (others or [_idle[context.threads]])[0].pop(0)
        else:
            spare = None
    if spare:
        spare.close()


def _forget() -> None:
    """In the child of a fork: the parent's contexts can only be closed."""
    global _idle_lock, _loading  # pylint: disable=global-statement
    _idle_lock, _loading = threading.Lock(), threading.Lock()
    for waiting in _idle.values():
        for context in waiting:
            context.close()
    _idle.clear()


os.register_at_fork(after_in_child=_forget)


class _Job:
    """A call in a thread of its own. Its context is closed by whoever is the last to need it."""

    def __init__(self, work: Callable[[Context], T], context: Context):
        self.work, self.context = work, context
        self.result, self.error = None, None
        self.done, self.left, self.lock = threading.Event(), False, threading.Lock()

    def run(self) -> None:
        try:
            self.result = self.work(self.context)
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error
        with self.lock:
            self.done.set()
            if self.left:
                self.context.close()

    def leave(self) -> None:
        """The call's result is not wanted any more."""
        with self.lock:
            self.left = True
            if self.done.is_set():
                self.context.close()


def run(work: Callable[[Context], T], threads: Optional[int] = None, *, quick: bool = False,
        wait: Optional[Callable[[float], object]] = None, grace: float = _GRACE,
        reword: Callable[[str], Optional[str]] = str) -> T:
    """work(context). In the main thread the work runs in a thread of its own, so that Ctrl-C is heard:
    it cancels the work and is raised. Work that has not stopped after `grace` seconds is left to end by itself.
    quick: the work takes milliseconds; it needs no such thread, for Ctrl-C is heard when it ends.
    wait: what the main thread does meanwhile, again and again; it gets seconds after which it returns.
    What the library warns of becomes a SzegoWarning of the caller's line when the work has ended, in the words of
    `reword` (None: it is left out).
    """
    if sys.is_finalizing():  # a new thread would never run, and start() would wait for it
        raise LibraryError("the interpreter is ending: call szego before that, not from __del__ at its exit")
    context = _take(threads)
    if quick or threading.current_thread() is not threading.main_thread():
        try:
            result = work(context)
        except BaseException:
            with contextlib.suppress(SzegoWarning):  # where warnings are errors, that of the work goes first
                warn(map(reword, context.take_warnings()))
            raise
        finally:
            said = context.take_warnings()
            _give(context)
        warn(map(reword, said))
        return result
    job = _Job(work, context)
    worker = threading.Thread(target=job.run, name="szego", daemon=True)
    try:
        try:
            worker.start()
        except RuntimeError as error:
            job.done.set()
            raise LibraryError(f"the call has no thread: {error}") from None
        while not job.done.is_set():
            (wait or job.done.wait)(_POLL)
    except BaseException:
        context.cancel()
        try:
            end = time.monotonic() + grace
            while not job.done.wait(_POLL) and time.monotonic() < end:
                pass
        finally:
            job.leave()
        raise
    said = context.take_warnings()
    _give(context)
    if job.error is None:
        warn(map(reword, said))
        return job.result
    try:
        with contextlib.suppress(SzegoWarning):
            warn(map(reword, said))
        raise job.error
    finally:
        del job  # its error's traceback would hold this frame, and this frame the error
