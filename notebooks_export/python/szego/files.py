"""Files that appear whole, or not at all after an error or an interrupt."""
import contextlib
import os
import tempfile

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
def whole_file(path, mode="w"):
    """The same in a folder that is made where it is missing. SzegoError names the path where writing fails."""
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with replaced(path, mode) as file:
            yield file
    except OSError as error:
        raise SzegoError(f"{path}: cannot be written: {error.strerror or error}") from None
