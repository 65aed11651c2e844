#!/usr/bin/env python3
"""Every public function that takes a context begins with SZGI_ENTER, which keeps denormal numbers and
refuses a context of another process, but for those below; they compute nothing. No function without a
context computes: it closes, counts, names, or makes a view.
usage: enter.py SOURCE"""
import pathlib
import re
import sys

from public import code, functions, headers_of

ROOMS = ("lib", "train", "notebooks_export")
# A child closes what its parent opened; the context's own functions work on flags and on the message; tables
# store and return what they are given; the parsers compare names.
EXEMPT = re.compile(r"szg_(\w+_close|context_\w+|table_\w+|ablation_method_parse|format_parse)")
CONTEXTLESS = re.compile(r"szg_(\w+_(close|name|count|at|find|spec|kind|core|remedy|blas|fft|simd|size|heads|matrices"
                         r"|describe|bad|tables|about|preset|command|table|matrix|solver)|context_open|(matrix|table)_\w+"
                         r"|version|version_number|commit)")


def bodies(source):
    """Of the functions of the sources, by name."""
    found = {}
    for room in ROOMS:
        for path in sorted((source / room).rglob("*.c")):
            for name, body in re.findall(r"^\w[^\n;={}()]*?\b(szg_\w+)\([^;{}]*\) \{\n(.*?)^\}", path.read_text(),
                                         re.MULTILINE | re.DOTALL):
                found[name] = (path.relative_to(source), body)
    return found


def wrong(header, name, defined):
    """What is wrong with a public function, or None."""
    parameters = re.search(rf"\b{name}\s*\(([^;]*?)\)\s*;", code(header), re.DOTALL)[1]
    path, body = defined.get(name, (None, None))
    if path is None:
        return f"{name}: its definition was not found in {', '.join(ROOMS)}"
    if not re.search(r"\bszg_context \*", parameters):
        known = CONTEXTLESS.fullmatch(name)
        return None if known else f"{path}: {name} has no context; one that computes needs it, others belong into the list"
    exempt, enters = EXEMPT.fullmatch(name), "SZGI_ENTER(context);" in body
    if exempt and enters:
        return f"{path}: {name} need not be exempt"
    return None if exempt or enters else f"{path}: {name} does not begin with SZGI_ENTER(context)"


def main():
    source = pathlib.Path(sys.argv[1])
    defined = bodies(source)
    public = [(header, name) for header in headers_of(source).values() for name in functions(header)]
    found = [text for header, name in public if (text := wrong(header, name, defined))]
    entered = sum("SZGI_ENTER(context);" in defined[name][1] for _, name in public if name in defined)
    print(f"{len(public)} public functions, {entered} begin with SZGI_ENTER")
    print("\n".join(found))
    return 0 if public and not found else 1


if __name__ == "__main__":
    sys.exit(main())
