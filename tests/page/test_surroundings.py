#!/usr/bin/python3
"""A page is the same whatever Matplotlib's settings in the folder, the home and the environment of its reader say.
usage: test_surroundings.py PROGRAM"""
import os
import subprocess
import sys

from peer import Tap, scratch

PROGRAM = os.path.abspath(sys.argv[1])
tap = Tap()


def page(folder, **environment):
    """(bytes of the page that is written in a folder, what the program said)."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MPL", "MATPLOTLIB", "XDG"))}
    done = subprocess.run([PROGRAM, "report", "../results", "-o", "page.html", "--threads", "1"], cwd=folder, text=True,
                          capture_output=True, check=False, env={**known, "SZEGO_PYTHON": sys.executable, **environment})
    if done.returncode:
        return b"", done.stderr
    with open(f"{folder}/page.html", "rb") as file:
        return file.read(), done.stderr


def check(name, folder, **environment):
    made, said = page(folder, **environment)
    tap.ok(name, made == plain and said == "szego: wrote page.html\n", f"{len(made)} of {len(plain)}: {said}")


with scratch() as work:
    subprocess.run([PROGRAM, "spectrum", "--pe", "kms:rho=0.5", "-n", "8", "--all", "-o", f"{work}/results/", "-q"],
                   check=True)
    for place in ("plain", "here", "home/.config/matplotlib"):
        os.makedirs(f"{work}/{place}")
    plain, told = page(f"{work}/plain")
    tap.ok("a page without settings", b"<svg" in plain, told)
    with open(f"{work}/here/matplotlibrc", "wb") as rc:
        rc.write(b"# not UTF-8: \xff\n")
    check("a file that is not UTF-8 in the current folder, and no such backend", f"{work}/here", MPLBACKEND="nonsense")
    os.remove(f"{work}/here/matplotlibrc")
    with open(f"{work}/home/.config/matplotlib/matplotlibrc", "w", encoding="utf-8") as rc:
        rc.write("font.size: 30\ntext.usetex: True\naxes.grid: True\n")
    check("settings of a home", f"{work}/here", HOME=f"{work}/home", MPLCONFIGDIR=f"{work}/home/.config/matplotlib")
    os.rename(f"{work}/home/.config/matplotlib/matplotlibrc", f"{work}/rc")
    check("settings that the environment names, and a home that nobody writes to", f"{work}/here", HOME="/proc",
          MATPLOTLIBRC=f"{work}/rc")
tap.finish()
