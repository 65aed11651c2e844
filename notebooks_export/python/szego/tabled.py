"""What has tables as items: found["verify_claims"], `in`, iteration, keys() and items()."""
from typing import Dict

from .tables import Results


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
