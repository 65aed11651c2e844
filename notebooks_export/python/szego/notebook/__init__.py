"""Exports of a folder of results: a NumPy archive, joined CSV files, or a Jupyter notebook."""
