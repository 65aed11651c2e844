"""What people call a column, and its unit. A notebook carries a module of this name that has them as data
(szego/notebook/ipynb.py)."""
from ..columns import label, unit

__all__ = ["label", "unit"]
