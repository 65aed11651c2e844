"""The HTML page of a folder of results: one file, offline, whole without a script."""
try:
    import jinja2  # noqa: F401 # pylint: disable=unused-import
    import matplotlib  # noqa: F401 # pylint: disable=unused-import
except ImportError as _error:
    from ..errors import MissingPackageError
    raise MissingPackageError(f"szego.page needs {_error.name}: apt install python3-matplotlib python3-jinja2, or "
                              "pip install matplotlib jinja2") from _error
# pylint: disable=wrong-import-position
from .write import main, report

__all__ = ["main", "report"]
