"""The judged tables in the order in which `szego reproduce` has them: (column, type, what it means), and the cells that
a screen shows. They describe the columns for the manifest, and docs/how-to/reproduce.md the tables."""
from ..columns import own_tables

COLUMNS = {name: [(one["name"], one["type"], one["doc"]) for one in table["columns"]]
           for name, table in own_tables("judge").items()}
SHOWN = {name: table.get("screen", []) for name, table in own_tables("judge").items()}
