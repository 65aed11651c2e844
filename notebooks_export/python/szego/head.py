"""One head of a checkpoint."""
import difflib
from dataclasses import dataclass
from typing import Dict, List, Mapping, Union

import numpy as np

from .choices import Array
from .display import Shown, plain
from .tabled import Framed, column
from .tables import Table

Cell = Union[int, float, str, None]


@dataclass(frozen=True, eq=False, repr=False)
class Head(Framed, Shown):
    """One head of a checkpoint: found[layer, head] of szego.checkpoint.

    singular_values, eigenvalues: of its matrix "qk", as Checkpoint.singular_values and eigenvalues have them.
    columns: its row in the table checkpoint_summary and its row in checkpoint_heads, which says whether it is positional;
        None is an empty cell. head["stable_rank"] is columns["stable_rank"].
    """
    source: str
    layer: int
    head: int
    singular_values: Array
    eigenvalues: Array
    columns: Mapping[str, Cell]

    def __getitem__(self, name: str) -> Cell:
        if name not in self.columns:
            near = difflib.get_close_matches(str(name), self.columns, 1) or list(self.columns)
            raise KeyError(f"{name!r} is no column of a head: {', '.join(near)}")
        return self.columns[name]

    def _ipython_key_completions_(self) -> List[str]:
        return list(self.columns)

    def _table(self) -> Table:
        """A row of its columns."""
        return Table({name: column([value]) for name, value in self.columns.items()})

    def __repr__(self) -> str:
        return (f"<szego.Head {self.head} of layer {self.layer} of {plain(self.source)}: {len(self.singular_values)} singular "
                f"values {self.singular_values[0]:.6g} .. {self.singular_values[-1]:.6g}>")


def row(table: Dict[str, np.ndarray], at: int) -> Dict[str, Cell]:
    """A row of a table by column."""
    return {name: None if np.ma.getmaskarray(cells)[at] else np.ma.getdata(cells)[at].item()
            if isinstance(cells[at], np.generic) else cells[at] for name, cells in table.items()}
