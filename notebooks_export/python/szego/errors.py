"""What goes wrong."""
from typing import Optional


class SzegoError(Exception):
    """Anything that this package refuses."""


class SzegoWarning(UserWarning):
    """What the library or the program warns of: an answer that may be of another question than the caller's, a file that
    is not whole, slow kernels. The message says how to make sure."""


class DataError(SzegoError, ValueError):
    """A file that is damaged or of another format; the message names it, the place and the cause."""


class ProgramError(SzegoError, RuntimeError):
    """The program could not be run, or failed.

    code: its exit code (docs/reference/conventions.md; None where it did not start); stderr: what it said.
    """

    def __init__(self, message: str, code: Optional[int] = None, stderr: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.stderr = stderr


class LibraryError(SzegoError):
    """The library libszego could not be loaded, or refused a call; the message is the library's own.

    status: the name of its status (docs/reference/c-api.md): "SZG_EDOMAIN", "SZG_ENOMEM", ...; None where no
    call was made.
    """

    def __init__(self, message: str, status: Optional[str] = None) -> None:
        super().__init__(message)
        self.status = status


class HubError(SzegoError):
    """The Hugging Face hub could not be reached, or did not answer what it was asked for; the message names the model,
    the file and the remedy.

    code: the status of HTTP; None where there was no answer, or a wrong one.
    """

    def __init__(self, message: str, code: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code


class ArgumentError(LibraryError, ValueError):
    """An argument of the wrong type, shape or range, or an array that holds NaN or infinity."""


class KeywordError(ArgumentError, TypeError):
    """A keyword that the function does not have; the message names the nearest one."""


class MissingPackageError(SzegoError, ImportError):
    """A module of szego needs a package that is not installed; the message names it."""


class MissingAttributeError(SzegoError, AttributeError):
    """The same of an attribute of szego: hasattr(szego, "plot") is False."""
