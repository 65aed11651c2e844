"""Files that appear whole, or not at all after an error or an interrupt."""
import contextlib
import os
import tempfile

from .errors import DataError


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def whole_file(path, mode="w"):
    """A file that takes the place of `path` when the block ends without an error."""
    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".szego-", suffix=".part", dir=folder)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        with open(handle, mode, **text) as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise DataError(f"{path}: {error.strerror or error}") from None
        raise
