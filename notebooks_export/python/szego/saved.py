"""Results of this process as folders of results, which szego.load reads back exactly and the program reads too."""
import json
import os
from typing import List

from .errors import ArgumentError
from .files import locked, replace_result
from .folders import FORMAT, _member as member, _read_file as read_file, is_there, read_json
from .notebook.archive import columns_of
from .notebook.joined import lines, write_csv
from .tables import Results, Table

_LIMIT = 256 << 20


def save(results: Results, folder: str, version: str, commit: str) -> None:
    """One result becomes a folder as its command writes one; of several it is an export. The earlier result of the same
    command in that folder is replaced. ArgumentError: the folder has one of another command."""
    command = _command(results)
    if command is None:
        write_csv(results, folder, None, version, commit)
        return
    tables, files, bare = [], {}, Results()
    for joined, table in results.items():
        name = joined[len(command) + 1:]
        bare[name] = Table({_own(column): cells for column, cells in table.items() if column != "result"})
        bare.docs[name] = {_own(column): doc for column, doc in results.docs.get(joined, {}).items()}
        bare.ends[name] = {_own(column): end for column, end in results.ends.get(joined, {}).items()}
        files[f"{name}.csv"] = (line + "\n" for line in lines(bare[name]))
        tables.append({"name": name, "file": f"{name}.csv", "rows": len(table["result"]), "columns": columns_of(bare, name)})
    word = command.replace("_", "-")
    provenance = {"version": version, "commit": commit, **next(iter(results.provenance.values())), "command": word}
    manifest = {"format": FORMAT, "command": word, "provenance": provenance, "tables": tables}
    with locked(folder):
        former = [name for name in _former(folder, word) if name not in files]
        replace_result(folder, files, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", former)


def _command(results: Results):
    """The command, as names of tables have it, if they are of one result; else None."""
    if len(results.provenance) != 1:
        return None
    command = str(next(iter(results.provenance.values())).get("command", "")).replace("-", "_")
    single = all(name.startswith(command + "_") and "result" in table and len(set(table["result"])) <= 1
                 for name, table in results.items())
    return command if single and results and command != "export" else None


def _own(column: str) -> str:
    """What a column is called where no column says the result."""
    return column[:-1] if column.rstrip("_") == "result" else column


def _former(folder: str, command: str) -> List[str]:
    """Files of the result that is there."""
    path = os.path.join(folder, "manifest.json")
    if not is_there(path):
        return []
    root = read_json(read_file(path, _LIMIT), path)
    if not isinstance(root, dict) or (root.get("format"), root.get("command")) != (FORMAT, command):
        raise ArgumentError(f"{path}: is there, and not of a result of {command}: choose another folder", "SZG_EINVAL")
    return [member(path, one, "name", str) + ".csv" for one in member(path, root, "tables", list)]
