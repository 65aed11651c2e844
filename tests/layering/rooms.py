#!/usr/bin/env python3
"""Every room has a README.md of at most 20 lines, and the sources that it names exist.

usage: rooms.py SOURCE
"""
import pathlib
import re
import sys

LINES = 20
SINGLE = ("analysis", "cuda", "notebooks_export", "train")
SOURCE = re.compile(r"`(?:<(szego/[\w.]+)>|([\w/]+\.(?:c|h|cu|def|inc|py)))`")


def rooms(root):
    """The rooms of the floors, and the folders of train/, which are rooms within one."""
    inner = sorted(path for folder in ("lib", "train") for path in (root / folder).iterdir() if path.is_dir())
    return [root / name for name in SINGLE] + inner


def faults(root, room):
    """What is wrong with a room's README, a message each."""
    page = room / "README.md"
    name = page.relative_to(root)
    if not page.is_file():
        return [f"{name}: missing; it says what the room is for, its main words, where to begin, what it must not know"]
    text = page.read_text(encoding="utf-8")
    count = len(text.splitlines())
    wrong = [f"{name}: {count} lines; {LINES} are allowed"] if not 0 < count <= LINES else []
    for public, own in SOURCE.findall(text):
        places = [root / "include" / public] if public else [room / own, root / own]
        if not any(place.is_file() for place in places):
            wrong.append(f"{name}: there is no {public or own}")
    return wrong


def main():
    root = pathlib.Path(sys.argv[1])
    found = rooms(root)
    wrong = [fault for room in found for fault in faults(root, room)]
    print("\n".join([f"{len(found)} rooms"] + wrong))
    return 0 if len(found) > 20 and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
