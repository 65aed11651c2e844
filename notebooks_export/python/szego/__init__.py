"""Results of szego as NumPy arrays, and its spectra from Python.

    import szego
    results = szego.load("out/")                       # every result below the folder
    results["spectrum_eigenvalues"]["re"]              # a NumPy array
    szego.spectrum("rope:dim=64", 512).eigenvalues     # all 512 eigenvalues, computed in this process
    szego.run("spectrum", "--pe", "rope:dim=64")       # tables of a new run of the program

docs/how-to/python.md of szego describes the package; `szego.plot` (which needs Matplotlib) draws the figures of
the HTML report; `szego.capture_hf` (which needs PyTorch) dumps queries and keys of Hugging Face models for
`szego logits`.
"""
from typing import TYPE_CHECKING, Any, List

from . import native
native.choose_kernels()  # before anything imports NumPy
# pylint: disable=wrong-import-position
from . import encodings
from .attention import contraction, factored, logits
from .batch import Spectra, spectra
from .checkpoints import Checkpoint, checkpoint
from .claims import Recheck, Verification, recheck, verify
from .compute import compare, spectrum, symbol
from .encodings import Encoding
from .errors import ArgumentError, DataError, HubError, KeywordError, LibraryError, MissingAttributeError
from .errors import MissingPackageError, ProgramError, SzegoError, SzegoWarning
from .folders import load
from .frames import frame
from .head import Head
from .kernels import kernel
from .monitor import Monitor
from .program import ablate, info, run, run_spectrum
from .publishing import export, report
from .results import Contraction, Range, Spectrum, Symbol, Theorem
if TYPE_CHECKING:
    from .encoding_types import _rope as rope
else:
    from .rotary import rope
from .softmax import LogitsStatistics, logits_statistics
from .stack import Stack
from .tables import Results, Table
from .training import CapturedStep, Trained, train

__all__ = ["ArgumentError", "Checkpoint", "Contraction", "DataError", "Encoding", "LibraryError", "ProgramError",
           "Range", "Recheck", "Results", "Spectrum", "Symbol", "SzegoError", "SzegoWarning", "Table", "Theorem", "Verification",
           "checkpoint", "compare", "contraction", "encodings", "kernel", "load", "logits", "recheck", "run", "spectrum",
           "symbol", "verify"]
__all__ += ["CapturedStep", "Spectra", "Trained", "spectra", "train"]
__all__ += ["HubError", "rope"]
__all__ += ["Head", "ablate", "export", "frame", "report"]
__all__ += ["LogitsStatistics", "Stack", "factored", "logits_statistics", "run_spectrum"]
__all__ += ["KeywordError", "MissingAttributeError", "MissingPackageError", "info"]
__all__ += ["Monitor"]
__version__ = "0.1.0"


#: Modules that are imported when they are first used; some need more than NumPy.
_LATER = ("columns", "judge", "notebook", "page", "plot")


if TYPE_CHECKING:
    from . import columns, plot
    from .judge import _Judge
    judge: _Judge


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module  # pylint: disable=import-outside-toplevel
        try:
            return import_module(f".{name}", __name__)
        except MissingPackageError as error:
            raise MissingAttributeError(str(error)) from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *_LATER})
