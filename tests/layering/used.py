#!/usr/bin/env python3
"""Every function of the house (szgi_) has a user outside the tests and the fuzzers. What they alone call
is no part of the library: it stands beside them, as an oracle of tests/support say. The few that cannot
stand there are listed below, each with its reason; one that has a user after all leaves the list.
usage: used.py SOURCE libszego.a"""
import collections
import pathlib
import re
import subprocess
import sys

SUFFIXES = {".c", ".h", ".inc", ".def", ".cu", ".cuh", ".cpp"}
USERS = ("analysis", "bench", "cuda", "examples", "include", "lib", "notebooks_export", "train")

# Why a function that tests and fuzzers alone call stands in the library.
REASONS = {
    "szgi_certificates_check_text": "fuzzers give hostile bytes without a file",
    "szgi_dc_choose": "tells the predicted costs, of which an answer shows the path alone",
    "szgi_dc_lags": "takes blocks so small that matrices of tests have a tree of them",
    "szgi_gguf_open_bytes": "fuzzers give hostile bytes without a file",
    "szgi_memory_fail_after": "makes the allocator, which is the library's, refuse an allocation",
    "szgi_npy_open_bytes": "fuzzers give hostile bytes without a file",
    "szgi_ops_reference64": "the layers of the backend reference, compiled for double precision",
    "szgi_safetensors_open_bytes": "fuzzers give hostile bytes without a file",
}

# Comments and texts name functions without using them.
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
# A declaration or a definition begins at the start of a line, and its name stands before a parenthesis.
DECLARED = re.compile(r"^[A-Za-z_][^;:{}()=#]*?\b(szgi_\w+)\s*\(", re.MULTILINE)


def functions(archive):
    """The functions that the library's objects define, and those that they ask of each other."""
    text = subprocess.run(["nm", "--extern-only", archive], capture_output=True, text=True, check=True).stdout
    names = {"T": set(), "U": set()}
    for kind, name in re.findall(r"^[0-9a-f ]{16} ([TU]) (szgi_\w+)$", text, re.MULTILINE):
        names[kind].add(name)
    return names["T"], names["U"]


def pasted(source):
    """Functions whose names a list of entries makes: szgi_BACKEND_ENTRY."""
    text = (source / "lib/linalg/linalg_ops.def").read_text()
    entries = re.findall(r"^(?:ORACLE|VENDOR|BATCH)\([^,]*, (\w+)", text, re.MULTILINE)
    return [f"szgi_{backend}_{entry}" for backend in ("cpu", "reference") for entry in entries]


def named(source):
    """How often the sources outside the tests name each word, declarations and definitions aside."""
    count = collections.Counter(pasted(source))
    for folder in USERS:
        for path in (source / folder).rglob("*"):
            if path.suffix in SUFFIXES:
                text = NO_CODE.sub(" ", path.read_text())
                count.update(re.findall(r"\bszgi_\w+", text))
                count.subtract(DECLARED.findall(text))
    return count


def audit(source, archive):
    """All functions of the house, and those that tests and fuzzers alone call."""
    defined, needed = functions(archive)
    count = named(source)
    return defined, sorted(name for name in defined - needed if count[name] <= 0)


def main():
    defined, alone = audit(pathlib.Path(sys.argv[1]), sys.argv[2])
    print(f"{len(defined)} functions of the house, {len(alone)} without a user outside the tests")
    wrong = [f"{name}: only tests name it: delete it, or move it beside them" for name in alone if name not in REASONS]
    wrong += [f"{name}: it has a user, or is gone: strike it from the list in tests/layering/used.py"
              for name in REASONS if name not in alone]
    print("\n".join(wrong))
    return 0 if len(defined) > 1000 and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
