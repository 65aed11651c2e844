"""What has tables as items (found["verify_claims"], `in`, iteration, keys() and items()), and what is an array."""
from typing import Dict

import numpy as np

from .tables import Results


def for_numpy(values: np.ndarray, dtype, copy) -> np.ndarray:
    """What __array__ answers under NumPy 2's protocol: a copy (copy=True), the memory of `values` or ValueError
    (False), that memory where the type allows it (None)."""
    if dtype is None or np.dtype(dtype) == values.dtype:
        return values.copy() if copy else values
    if copy is False:
        raise ValueError(f"an array of type {np.dtype(dtype)} needs a copy of one of type {values.dtype}")
    return values.astype(dtype)


class Tabled:
    """The base of a result with the attribute `tables`. _numbers: where its numbers are, for a message."""
    tables: Results
    _numbers = "`tables`"

    def __getitem__(self, table: str):
        if not isinstance(table, str):
            raise TypeError(f"the items of a {type(self).__name__} are tables, by name; its numbers are in "
                            f"{self._numbers}")
        return self.tables[table]

    def __contains__(self, table) -> bool:
        return table in self.tables

    def __iter__(self):
        return iter(self.tables)

    def keys(self):
        """Names of the tables."""
        return self.tables.keys()

    def items(self):
        """Names and tables."""
        return self.tables.items()

    @property
    def provenance(self) -> Dict[str, dict]:
        """How the tables were made."""
        return self.tables.provenance
