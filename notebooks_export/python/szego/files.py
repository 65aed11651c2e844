"""Files that appear whole, or not at all after an error or an interrupt."""
import contextlib
import fcntl
import os
import signal
import tempfile
import threading

from .errors import SzegoError


def names_folder(output):
    """Whether -o means a folder, as the program decides: one that is there, an ending /, or a name without a point."""
    name = os.path.basename(output)
    return os.path.isdir(output) or output.endswith(os.sep) or bool(name) and "." not in name


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def replaced(path, mode="w"):
    """A file that takes the place of `path`, whose folder exists, when the block ends without an error."""
    handle, temporary = tempfile.mkstemp(prefix=".szego-", suffix=".part", dir=os.path.dirname(path) or ".")
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        with open(handle, mode, **text) as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def _naming(path):
    """SzegoError names the path where writing fails."""
    try:
        yield
    except OSError as error:
        raise SzegoError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextlib.contextmanager
def whole_file(path, mode="w"):
    """The same in a folder that is made where it is missing. SzegoError names the path where writing fails."""
    with _naming(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with replaced(path, mode) as file:
            yield file


# ---- Folders of results ----


def check_folder(folder, remedy="name a folder that a command wrote with -o DIR/"):
    """SzegoError: the folder, the operand of a command, cannot be read."""
    try:
        os.scandir(folder).close()
    except OSError as error:
        raise SzegoError(f"{folder}: {error.strerror}: {remedy}") from None


def make_folder(folder):
    """SzegoError: a folder is not there and cannot be made."""
    try:
        os.makedirs(folder, exist_ok=True)
    except FileExistsError:
        raise SzegoError(f"{folder}: is not a folder: choose another name for the output") from None
    except OSError as error:
        raise SzegoError(f"{folder}: folder cannot be created: {error.strerror}") from None


@contextlib.contextmanager
def locked(folder):
    """The folder, which is made, for one writer alone: the program locks it likewise. SzegoError: there is another one,
    or the folder cannot be made."""
    make_folder(folder)
    with _naming(folder):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SzegoError(f"{folder}: another writer uses this folder: try again when it has ended, or use "
                             "another folder") from None
        except OSError:
            pass  # a file system without locks
        with _naming(folder):
            if not os.path.samestat(os.fstat(handle), os.stat(folder)):
                raise SzegoError(f"{folder}: was replaced meanwhile by another writer: try again")
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _unstoppable():
    """Signals that stop the command wait until the block ends. A thread that blocks them is no help: another one takes
    them, and Python raises KeyboardInterrupt in the main thread all the same."""
    waiting, before = [], {}
    if threading.current_thread() is threading.main_thread():  # else nothing is raised here
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, lambda caught, _frame: waiting.append(caught))
    try:
        yield
    finally:
        for number, handler in reversed(before.items()):
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)


def replace_result(folder, files, manifest, former=()):
    """Replaces files and the manifest in a folder that is locked.

    files: {name: its lines}; manifest: the text of manifest.json; former: names of files that go. All is on the disk
    before anything is renamed or removed, and the manifest is away meanwhile: it describes the files beside it, whenever
    this ends. SzegoError names what cannot be written, and the folder is as it was.
    """
    def path(name):
        return os.path.join(folder, name)
    for name in ("manifest.json", *files, *former):
        if os.path.isdir(path(name)):  # no file takes its place, and the manifest would be away by then
            raise SzegoError(f"{path(name)}: is a folder: remove it, or choose another one for the tables")
    with contextlib.ExitStack() as stack:  # which ends with what it began with, the manifest
        for name, lines in [("manifest.json", [manifest]), *files.items()]:
            with _naming(path(name)):
                file = stack.enter_context(replaced(path(name)))
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
                file.close()
        with _unstoppable():
            for name in ("manifest.json", *former):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path(name))
            stack.pop_all().close()
