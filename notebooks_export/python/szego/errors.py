"""What goes wrong."""


class SzegoError(Exception):
    """Anything that this package refuses."""


class DataError(SzegoError, ValueError):
    """A file that is damaged or of another format; the message names it, the place and the cause."""


class ProgramError(SzegoError, RuntimeError):
    """The program could not be run, or failed.

    code: its exit code (docs/reference/conventions.md; None where it did not start); stderr: what it said.
    """

    def __init__(self, message: str, code=None, stderr: str = ""):
        super().__init__(message)
        self.code = code
        self.stderr = stderr
