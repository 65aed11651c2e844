#!/usr/bin/python3
"""A processor that OpenBLAS does not know: the package chooses the kernels that the program restarts itself for.
usage: test_kernels.py PROGRAM OLD_CORE WITH_CORE"""
import json
import os
import subprocess
import sys

from peer import PACKAGE, Tap, python, skip

PROGRAM, OLD_CORE, WITH_CORE = sys.argv[1:]
with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
    HAS_AVX2 = "avx2" in file.read().split()
if not HAS_AVX2:
    skip("the processor has no kernels that OpenBLAS could miss")
sys.path.insert(0, PACKAGE)
try:
    import numpy  # noqa: F401 pylint: disable=unused-import
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")
os.environ.pop("OPENBLAS_CORETYPE", None)
HIDDEN = {"LD_PRELOAD": os.path.abspath(OLD_CORE), "CORE_OBEYS": "1",
          "SZEGO_LIBRARY": os.environ["SZEGO_LIBRARY"], "SZEGO": os.path.abspath(PROGRAM)}
tap = Tap()

TELL = """
import ctypes, json, os, sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    exec(sys.argv[1])
    import szego
    try:
        szego.spectrum([2.0, -1.0], 8), szego.spectrum([2.0, -1.0], 9)
        found = szego.info()
    except szego.LibraryError as error:
        found = {"error": str(error)}
said = [str(one.message) for one in caught if one.category is szego.SzegoWarning]
print(json.dumps({**found, "said": said, "variable": os.environ.get("OPENBLAS_CORETYPE")}))
"""


def told(first="", **environment):
    """What a Python of its own tells of its kernels; `first`: what it does before it imports szego."""
    done = python(TELL, first, **{**HIDDEN, **environment})
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr}


def messages():
    """Of three contexts, the first without a callback."""
    done = python("""
import ctypes, numpy, szego
from szego import layout, native
SAY, said = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p), []
say = SAY(lambda user, severity, text: said.append((severity, text.decode())))
a = numpy.diag([1.0, 2.0, 3.0])
for callback in (None, say, say):
    library, handle = native.library(), ctypes.c_void_p()
    options = layout.ContextOptions(threads=1, message=ctypes.cast(callback, ctypes.c_void_p) if callback else None)
    library.szg_context_open(ctypes.byref(options), ctypes.byref(handle))
    view, found = library.szg_matrix_dense(3, 3, a.ctypes.data, 3), layout.Spectrum()
    library.szg_spectrum_compute(handle, ctypes.byref(view), 0, None, ctypes.byref(found))
    library.szg_spectrum_close(ctypes.byref(found))
    library.szg_context_close(ctypes.byref(handle))
print(len(said), *said)
""", **{**HIDDEN, "CORE_OBEYS": "", "PYTHONWARNINGS": "ignore"})
    return done.stdout + done.stderr


BLAS = next(row["value"] for row in json.loads(python(
    "import subprocess, sys; print(subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout)", PROGRAM,
    "info", "--format", "json", "--quiet", **HIDDEN).stdout)["info"] if row["key"] == "blas")
REMEDY = next(core for core in ("SkylakeX", "Haswell") if core in BLAS)

found = told()
tap.ok("the package computes as the program", found.get("blas") == BLAS and found["core"] == REMEDY, str(found))
tap.ok("nothing is left to say", found.get("core_remedy", "") is None and found["said"] == []
       and found["variable"] == REMEDY, str(found))
found = told(OPENBLAS_CORETYPE="Prescott")
tap.ok("kernels that the user names stay", found.get("variable") == found.get("core") == "Prescott"
       and "Prescott" in found["blas"] and found["said"] == [] and found["core_remedy"] is None, str(found))
found = told("ctypes.CDLL('libopenblas.so.0')")
tap.ok("OpenBLAS is there already: one warning", len(found.get("said", [])) == 1 and
       f"OPENBLAS_CORETYPE={REMEDY}" in found["said"][0] and "Prescott" in found["said"][0], str(found))
tap.ok("and the variable is left alone", found.get("variable", "") is None and found["core_remedy"] == REMEDY,
       str(found))
found = told(SZEGO_LIBRARY="/nowhere/libszego.so.0")
tap.ok("without a library the import succeeds", "/nowhere" in found.get("error", "") and found["said"] == [],
       str(found))
said = messages()
tap.ok("the library says it once", said.startswith("1 (1, ") and f"OPENBLAS_CORETYPE={REMEDY}" in said, said)
for given in (None, "Prescott"):
    done = subprocess.run([WITH_CORE, "printenv", "OPENBLAS_CORETYPE"], capture_output=True, text=True, check=False,
                          env={**os.environ, **HIDDEN, **({"OPENBLAS_CORETYPE": given} if given else {})})
    tap.ok(f"meson test, where the variable is {given}", done.stdout.strip() == (given or REMEDY)
           and done.stderr.startswith(f"# OpenBLAS core {given or REMEDY}"), done.stdout + done.stderr)
tap.finish()
