"""Exports of a folder of results: a NumPy archive, joined CSV files, or a Jupyter notebook."""
from .write import export, main

__all__ = ["export", "main"]
