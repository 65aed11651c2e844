#!/usr/bin/env python3
"""debian/libszego0.symbols lists the functions that libszego.so exports, and debian/ has the version of
meson.build.
usage: debian.py [--update] SOURCE libszego.so

With --update the list is written anew: functions that it lacks get the version of meson.build as the one
they came with, functions that are gone lose their line."""
import pathlib
import re
import subprocess
import sys

SYMBOLS = "debian/libszego0.symbols"
ROW = re.compile(r"^ (?P<name>\w+)@Base (?P<version>\S+)$", re.MULTILINE)


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", "--extern-only", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    names = sorted(line.split()[-1] for line in lines)
    if len(names) <= 100:
        sys.exit(f"{library} exports {len(names)} names: it is no library of szego")
    return names


def project_version(source):
    return re.search(r"^ *version: '([\d.]+)'", (source / "meson.build").read_text(), re.MULTILINE)[1]


def next_series(version):
    """Before 1.0 the structs that the library fills change with MINOR."""
    major, minor = map(int, version.split(".")[:2])
    return f"{major + 1}~" if major else f"0.{minor + 1}~"


def head(version):
    return (f"libszego.so.0 libszego0 #MINVER#, libszego0 (<< {next_series(version)})\n"
            "* Build-Depends-Package: libszego-dev\n")


def update(path, names, version):
    known = {row["name"]: row["version"] for row in ROW.finditer(path.read_text())} if path.exists() else {}
    path.write_text(head(version) + "".join(f" {name}@Base {known.get(name, version)}\n" for name in names))


def faults(source, names, version):
    text = (source / SYMBOLS).read_text()
    listed = [row["name"] for row in ROW.finditer(text)]
    for name in sorted(set(names) - set(listed)):
        yield f"{SYMBOLS} lacks {name}, which the library exports"
    for name in sorted(set(listed) - set(names)):
        yield f"{SYMBOLS} lists {name}, which the library does not export"
    if not text.startswith(head(version)):
        yield f"{SYMBOLS} does not begin with\n{head(version)}"
    elif len(text.splitlines()) != len(listed) + 2 or listed != sorted(set(listed)):
        yield f"{SYMBOLS} has rows that are no function, twice there or out of order"
    changelog = (source / "debian/changelog").read_text().splitlines()[0]
    packaged = re.match(r"szego \((.+)-[^-]+\)", changelog)
    if not packaged or packaged[1] != version:
        yield f"debian/changelog begins with '{changelog}', and meson.build has version {version}"


def main():
    arguments = sys.argv[1:]
    is_update = arguments[:1] == ["--update"]
    if len(arguments) != 2 + is_update:
        sys.exit(__doc__)
    source, library = pathlib.Path(arguments[-2]), arguments[-1]
    names, version = exported(library), project_version(source)
    if is_update:
        update(source / SYMBOLS, names, version)
        return
    found = list(faults(source, names, version))
    if found:
        sys.exit("\n".join(found) + f"\nTo write {SYMBOLS} anew: tests/layering/debian.py --update . {library}\n"
                 "After a release a name that is gone needs a new soname and a new package: users' programs break.")


main()
