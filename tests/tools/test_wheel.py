#!/usr/bin/env python3
"""What pip would install, without a compiler: the install plan, the command's launcher, and what tools/wheel-licences
refuses. tools/wheel builds and tries the wheel itself. Prints TAP."""
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import tomllib
except ImportError:
    print("1..0 # SKIP Python 3.11 or later is needed, for tomllib")
    sys.exit(0)

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LAUNCHER = ROOT / "notebooks_export/python/launcher.py"
failed = count = 0


def ok(name, fine, detail=""):
    global failed, count  # pylint: disable=global-statement
    count += 1
    failed += not fine
    print(f"{'ok' if fine else 'not ok'} {count} - {name}" + ("" if fine else f" # {' '.join(str(detail).split())}"))


def refused(name, call, *words):
    try:
        ok(name, False, call())
    except licences.Failure as failure:
        ok(name, all(word in str(failure) for word in words), failure)


def tool(name):
    """A script of tools/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


licences = tool("wheel-licences")


# ---- What pip would install ----


def check_plan(folder):
    """Meson's plan under the arguments and the tags that pyproject.toml gives to meson-python."""
    arguments = PYPROJECT["tool"]["meson-python"]["args"]
    done = subprocess.run(["meson", "setup", folder / "build", ROOT, *arguments["setup"]], capture_output=True,
                          text=True, check=False)
    ok("meson configures it", done.returncode == 0, done.stdout[-400:])
    if done.returncode:
        return
    tags = arguments["install"][0].removeprefix("--tags=").split(",")
    told = folder / "build/meson-info"
    plan = json.loads((told / "intro-install_plan.json").read_text(encoding="utf-8"))
    found = {entry["destination"]: source for group in plan.values() for source, entry in group.items()
             if entry["tag"] in tags}
    package = "{py_platlib}/szego"
    want = {package, f"{package}/bin/szego", f"{package}/libszego.so.0", f"{package}/tables.json", "{bindir}/szego",
            *(f"{package}/presets/{path.name}" for path in (ROOT / "presets").glob("*.json"))}
    ok("the package, the library, the program, its presets and a launcher", set(found) == want,
       set(found) ^ want)
    ok("the package is its whole folder", found.get(package) == str(ROOT / "notebooks_export/python/szego"),
       found.get(package))
    version = json.loads((told / "intro-projectinfo.json").read_text(encoding="utf-8"))["version"]
    ok("the version is meson's", "version" in PYPROJECT["project"]["dynamic"] and "version" not in
       PYPROJECT["project"] and version[0].isdigit(), PYPROJECT["project"])


# ---- The command ----


def run_launcher(folder, *arguments, **environment):
    """It runs as pip would have installed it, with `folder` as the place of packages."""
    installed = folder / "commands/szego"
    installed.parent.mkdir(exist_ok=True)
    shutil.copy2(LAUNCHER, installed)
    known = {name: value for name, value in os.environ.items() if name != "SZEGO_PYTHON"}
    return subprocess.run([sys.executable, installed, *arguments], capture_output=True, text=True, check=False,
                          env={**known, "PYTHONPATH": str(folder), **environment})


def check_launcher(folder):
    ok("pip makes the launcher executable only if it is so in the tree", os.access(LAUNCHER, os.X_OK))
    package = folder / "szego"
    (package / "bin").mkdir(parents=True)
    # A package whose import takes long, as NumPy's does, is not imported.
    (package / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    done = run_launcher(folder, "--version")
    ok("a package without its program is named", done.returncode == 1 and str(package / "bin/szego") in done.stderr
       and "PYTHONPATH" in done.stderr, done.stderr)
    program = package / "bin/szego"
    program.write_text('#!/bin/sh\nprintf "%s|" "$@" "$SZEGO_PYTHON"\nexit 5\n', encoding="utf-8")
    program.chmod(0o755)
    done = run_launcher(folder, "symbol", "two words", "")
    ok("the program gets the arguments, and its exit status is the command's",
       (done.returncode, done.stdout) == (5, f"symbol|two words||{sys.executable}|"), done)
    done = run_launcher(folder, SZEGO_PYTHON="another")
    ok("commands of the package get this interpreter, unless the user names one", done.stdout == "another|", done)


# ---- Licences ----


METADATA = "Metadata-Version: 2.4\nName: szego\nLicense-Expression: MIT\nLicense-File: LICENSE\n"


def check_metadata():
    text = licences.metadata(METADATA, ["a.txt", "common-licenses/GPL-3"])
    head, _, body = text.partition("\n\n")
    ok("the wheel is under the GPL as a whole, and says why", "\nLicense-Expression: GPL-3.0-or-later\n" in head
       and "MIT" not in head and "FFTW" in body and "MIT" in body, text)
    ok("files of licences are named in the head", head.splitlines()[-3:] ==
       ["License-File: LICENSE", "License-File: a.txt", "License-File: common-licenses/GPL-3"], head)
    refused("METADATA of another licence", lambda: licences.metadata(METADATA.replace("MIT", "BSD-3-Clause"), []),
            "License-Expression: MIT")
    ok("the sdist is under the MIT licence", PYPROJECT["project"]["license"] == "MIT")


def check_files(folder):
    library = folder / "libx.so.1.2"
    library.write_bytes(b"code")
    digest = hashlib.sha256(b"code").hexdigest()[:8]
    ok("auditwheel's name of a library", licences.bundled_name(library) == f"libx-{digest}.so.1.2")
    refused("a library in the wheel that the program does not need",
            lambda: licences.bundled([folder / "libx-00000000.so.1"], ["/bin/sh"]), "libx-00000000.so.1")
    refused("a file that no package owns", lambda: licences.owners([library]), str(library))
    refused("a package without a copyright file", lambda: licences.copyright_file("fftw:amd64", folder),
            str(folder / "fftw/copyright"))
    (folder / "GPL-2").write_text("text", encoding="utf-8")
    texts = ["see `/usr/share/common-licenses/GPL-2'.", "in /usr/share/common-licenses/GPL-2."]
    ok("a licence in full is taken once", licences.full_licences(texts, folder) == [folder / "GPL-2"])
    refused("a licence in full that is not there",
            lambda: licences.full_licences(["/usr/share/common-licenses/LGPL-9 "], folder), "LGPL-9")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        for number, check in enumerate((check_plan, check_launcher, check_files)):
            folder = pathlib.Path(scratch, str(number))
            folder.mkdir()
            check(folder)
        check_metadata()
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
