#!/usr/bin/python3
"""Keywords and words that the Python package does not know are refused by name; those of the program reach it.
usage: test_keywords.py PROGRAM"""
import inspect
import os
import re
import subprocess
import sys

from peer import PACKAGE, Tap, scratch, skip

sys.path.insert(0, PACKAGE)
try:
    import numpy as np
    import szego
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
os.environ["SZEGO"] = os.path.abspath(sys.argv[1])
tap = Tap()


def refused(name, call, *words, kind=TypeError):
    tap.refused(name, call, *words, kind=kind)


def check_functions():
    """Every function that the package exports, one letter of one of its keywords left out."""
    functions = {name: getattr(szego, name) for name in szego.__all__ if inspect.isfunction(getattr(szego, name))}
    tap.ok("functions", len(functions) >= 13, str(list(functions)))
    for name, function in functions.items():
        parameters = inspect.signature(function).parameters.values()
        known = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        needed = {one.name: "rope:dim=8" for one in known if one.default is one.empty}
        for one in known:
            if len(one.name) > 4 and one.default is not one.empty:
                wrong = one.name[:2] + one.name[3:]
                refused(f"{name}({wrong}=)", lambda: function(**needed, **{wrong: None}), repr(wrong),
                        f"did you mean {one.name}?")
        refused(f"{name}(foo=None)", lambda: function(**needed, foo=None), "'foo'")
    refused("an encoding's key", lambda: szego.encodings.rope(dim=8, foo=None), "'foo'", "band_shift")
    refused("an encoding's key, near", lambda: szego.encodings.rope(dim=8, bas=3), "did you mean base?")
    refused("they are the package's errors too", lambda: szego.symbol("nope", 3, sample=1), "samples",
            kind=szego.ArgumentError)
    try:
        refused("a figure's keyword", lambda: szego.plot.spectrum(szego.spectrum("nope", 4), smybol=None),
                "did you mean symbol?")
    except AttributeError as error:
        print(f"# {error}")


def check_spectrum():
    array = np.diag([1.0, 2.0])
    for source in ("rope:dim=8", array):
        for wrong, right in (("certfy", "certify"), ("quesiton", "question")):
            for value in (False, None, [], 3):
                refused(f"{wrong}={value} of {type(source).__name__}", lambda: szego.spectrum(source, 2, **{wrong: value}),
                        wrong, f"did you mean {right}?")
        for option in ("part", "k", "all", "frames"):
            refused(f"{option}= is the command's", lambda: szego.spectrum(source, 2, **{option: 3}), f"'{option}'",
                    "szego.run_spectrum")
    refused("an option of the command, nearly", lambda: szego.run_spectrum("rope:dim=8", 9, momnts=3), "did you mean moments?")
    for given in ({"k": None}, {"density": False}, {"part": None, "mask": None}, {"all": False}):
        tap.ok(f"{given} says nothing", set(szego.run_spectrum("rope:dim=8", 9, **given)) == {"spectrum_summary"})
    refused("an empty list", lambda: szego.run_spectrum("rope:dim=8", 9, k=[]), "k=[]", "empty", kind=szego.ArgumentError)
    found = szego.run_spectrum("rope:dim=8", 50, k=4)
    values, ends = szego.spectrum("rope:dim=8", 50).eigenvalues, found["spectrum_extremes"]["value"]
    tap.ok("k=4 is --k 4", len(ends) == 8 and np.abs(np.sort(ends)[4:] - values[-4:]).max() < 1e-12, f"{ends} {values}")


def check_options():
    """The options of a command have keywords, with the same defaults, in the function that does the same."""
    others = {"--all", "--set", "--check", "--backend", "--columns", "--format", "--help", "--notes", "--output", "--quiet",
              "--usage", "--wide"}  # settings=, recheck(), and what is about files and the screen
    for name in ("checkpoint", "verify"):
        given = inspect.signature(getattr(szego, name)).parameters
        said = re.sub(r"\n {8,}", " ", subprocess.run([sys.argv[1], name, "--help"], capture_output=True, text=True,
                                                      check=True).stdout)
        options = re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+)(.*)", said, re.MULTILINE)
        tap.ok(f"{name}: options", len(options) > 12, str(len(options)))
        for option, doc in options:
            keyword, default = option[2:].replace("-", "_"), re.search(r"\(default (\d+)", doc)
            if option not in others:
                tap.ok(f"{name}: {option} is a keyword", keyword in given, f"of {list(given)}")
            if keyword in given and default:
                tap.ok(f"{name}: the default of {option}", given[keyword].default in (None, int(default[1])),
                       f"{given[keyword]}; the option: {default[1]}")


def check_words():
    for name, call in (("spectrum", lambda: szego.spectrum(b"rope")), ("symbol", lambda: szego.symbol(b"rope:dim=8", 8)),
                       ("spectra", lambda: szego.spectra(b"rope")), ("spectra", lambda: szego.spectra("rope:dim=8")),
                       ("compare", lambda: szego.compare(bytearray(8), "x"))):
        refused(f"{name} of no array", call, "a SPEC is a str", kind=szego.ArgumentError)


def check_zeros():
    """Rank d = 64 of 512: those that were computed as 0 are not listed apart."""
    for question in ("eigenvalues", "singular"):
        found = szego.spectrum("rope:dim=64", 512, question=question)
        zero = found.values == 0
        tap.ok(f"{question}: one zero", zero.sum() == 1 and found.zeros == 448 and found.multiplicity[zero][0] >= 448
               and len(np.asarray(found)) == 512 and (found.multiplicity[~zero] == 1).all(), str(found))
    for name, found, listed in (
            ("a matrix", szego.spectrum(np.zeros((3, 3))), [0]), ("full rank", szego.spectrum("rope:dim=64", 64), None),
            ("around other values", szego.spectrum(np.diag([0.0, -1, 0, 2, 0])), [-1, 0, 2]),
            ("singular", szego.spectrum(np.diag([0.0, -1, 0, 2, 0]), question="singular"), [2, 1, 0])):
        zero = found.values == 0
        tap.ok(f"without zeros by structure, {name}: one zero", zero.sum() == (np.asarray(found) == 0).any()
               and found.zeros == 0 and len(np.asarray(found)) == found.n
               and listed in (None, found.values.tolist()), str(found))


def check_output(place):
    folder, words = os.path.join(place, "kept/"), ("spectrum", "--pe", "rope:dim=8", "-n", 16)
    for how in (("-o", folder), ("-o" + folder,), ("--output", folder), ("--output=" + folder,), ("--out", folder)):
        found = szego.run(*words, *how)
        tap.ok(f"{how[0][:9]}: the folder's tables", set(found) == {f"spectrum_{name}" for name in ("summary", "range", "samples")}
               and os.path.exists(folder + "manifest.json") and found.provenance["."]["command"] == "spectrum", str(found))
    for how in (("-o", os.path.join(place, "one.csv")), ("--output=" + os.path.join(place, "one.csv"),)):
        refused(f"{how[0][:9]}: a file", lambda: szego.run(*words, *how), "one.csv", "folder", kind=szego.ArgumentError)
    tap.ok("nothing was written", os.listdir(place) == ["kept"], str(os.listdir(place)))


check_functions()
check_spectrum()
check_options()
check_words()
check_zeros()
with scratch() as folder:
    check_output(folder)
tap.finish()
