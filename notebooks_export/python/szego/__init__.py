"""Results of szego as NumPy arrays, and its spectra from Python.

    import szego
    results = szego.load("out/")                       # every result below the folder
    results["spectrum_eigenvalues"]["re"]              # a NumPy array
    szego.spectrum("rope:dim=64", 512)                 # the same, of a new run

docs/how-to/python.md of szego describes the package; `szego.capture_hf` (which needs PyTorch) dumps queries
and keys of Hugging Face models for `szego logits`.
"""
from .errors import DataError, ProgramError, SzegoError
from .folders import load
from .program import run, spectrum
from .tables import Results

__all__ = ["DataError", "ProgramError", "Results", "SzegoError", "load", "run", "spectrum"]
__version__ = "0.1.0"
