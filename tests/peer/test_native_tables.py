#!/usr/bin/python3
"""The Python package's calls that answer tables: the tables themselves against the folders that the library writes.
usage: test_native_tables.py PROGRAM"""
import ctypes
import os
import sys

from peer import Tap, scratch, skip

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(os.path.join(HERE, "..", "..", "notebooks_export", "python")))
try:
    import numpy as np
    import szego
    from szego import layout, native, native_tables
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

PROGRAM = os.path.abspath(sys.argv[1])
os.environ["SZEGO"] = PROGRAM
SEED = int(os.environ.get("SZG_TEST_SEED", "20250513"), 0)
rng = np.random.default_rng(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")


def equal(got, want):
    """The same values to the bit (a NaN is a NaN), type and mask."""
    if got.dtype != want.dtype or got.shape != want.shape or isinstance(got, np.ma.MaskedArray) != isinstance(
            want, np.ma.MaskedArray) or (np.ma.getmaskarray(got) != np.ma.getmaskarray(want)).any():
        return False
    below = [np.ma.getdata(one) for one in (got, want)]
    if got.dtype == np.float64:
        here = np.isnan(below[0])
        return bool((here == np.isnan(below[1])).all()
                    and (below[0][~here].view(np.int64) == below[1][~here].view(np.int64)).all())
    return below[0].tolist() == below[1].tolist()


def same_results(name, got, want):
    """Tables, columns in their order, cells, and what each column means."""
    tap.ok(f"{name}: tables", list(got) == list(want), f"{list(got)} {list(want)}")
    for table in want:
        tap.ok(f"{name}: columns of {table}", list(got[table]) == list(want[table]),
               f"{list(got[table])} {list(want[table])}")
        wrong = [column for column in want[table] if not equal(got[table][column], want[table][column])]
        tap.ok(f"{name}: cells of {table}", not wrong, str(wrong))
        tap.ok(f"{name}: words of {table}", got.docs[table] == want.docs[table])


# ---- Tables -------------------------------------------------------------------------------------

CELLS = {"text": [None, "", "a", "a", ", \" and\nlines", "β €", "x" * 300],
         "integer": [None, 0, -1, 2**63 - 1, -2**63, 7],
         "real": [None, 0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 0.1, 1.7976931348623157e308]}


def szg_table(context, name, columns, rows):
    """A table of the library with random cells. columns: types by name."""
    library, made = native.library(), ctypes.c_void_p()
    described = (layout.TableColumn * len(columns))(*(
        layout.TableColumn(name=column.encode(), type=layout.COLUMN_TYPES[kind][1], doc=f"of {column}".encode())
        for column, kind in columns.items()))
    context.call("szg_table_open", name.encode(), described, ctypes.c_int64(len(columns)), ctypes.byref(made))
    setters = {"text": ("szg_table_set_text", lambda value: value.encode()),
               "integer": ("szg_table_set_integer", ctypes.c_int64), "real": ("szg_table_set_real", ctypes.c_double)}
    library.szg_table_add_row.restype = ctypes.c_int
    for _ in range(rows):
        context.call("szg_table_add_row", made)
        for column, kind in columns.items():
            value = CELLS[kind][rng.integers(len(CELLS[kind]))]
            if value is not None:
                setter, convert = setters[kind]
                context.call(setter, made, column.encode(), convert(value))
    return made


def check_tables():
    columns = {"result": "text", "n": "integer", "x": "real", "name": "text", "note": "text"}
    context, library = native.Context(1), native.library()
    held = {name: szg_table(context, name, columns, rows) for name, rows in (("few", 3), ("many", 400), ("none", 0))}
    made = native_tables.results("my-command", {name: table.value for name, table in held.items()} | {"void": None})
    with scratch() as folder:
        result = ctypes.c_void_p()
        context.call("szg_result_open", b"my-command", ctypes.byref(result))
        for table in held.values():
            context.call("szg_result_add", result, ctypes.byref(table))
        context.call("szg_result_write", result, os.fsencode(folder + "/"), None)
        library.szg_result_close(ctypes.byref(result))
        context.close()
        same_results("a table", made, szego.load(folder))
    tap.ok("the tables are closed, the arrays stay", made["my_command_many"]["name"].tolist().count("a") > 0)
    tap.ok("who made it", made.provenance["."]["command"] == "my-command" and made.provenance["."]["version"]
           == szego.__version__)


class Calls:
    """The library, counting what is called."""

    def __init__(self, library):
        self.library, self.count = library, 0

    def __getattr__(self, name):
        self.count += 1
        return getattr(self.library, name)


def check_calls():
    """A column is one call of the library, however many rows it has."""
    context, library, counts = native.Context(1), native.library(), []
    for rows in (1, 3000):
        table = szg_table(context, "t", {"x": "real", "name": "text"}, rows)
        native._library = calls = Calls(library)
        made = native_tables.results("t", {"t": table.value})
        native._library = library
        tap.ok(f"{rows} rows", len(made["t_t"]["x"]) == rows)
        counts.append(calls.count)
        library.szg_table_close(ctypes.byref(table))
    tap.ok("rows cost no calls", counts[0] == counts[1], str(counts))
    context.close()


for check in (check_tables, check_calls):
    check()
tap.finish()
