#!/usr/bin/env python3
"""Commands that the Python package carries out: which interpreter is taken, what it can import, arguments, exit codes,
and signals. A copy of the program finds a package made for this test beside it, as `meson install` has it.
usage: test_script.py PROGRAM PACKAGE. Prints TAP."""
import functools
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peer"))
import peer  # pylint: disable=wrong-import-position

PROGRAM, PACKAGE = (pathlib.Path(word).resolve() for word in sys.argv[1:])
DEBIAN = "/usr/bin/python3"
VERSION = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
tap = peer.Tap()

# The package's module for the command; MODE says what it does.
JUDGE = r'''
import concurrent.futures, json, multiprocessing, os, signal, subprocess, sys, time
from szego import errors
def tell(arguments):
    import numpy
    print(json.dumps({"arguments": arguments, "stdin": sys.stdin.read(), "numpy": numpy.__file__, "path": sys.path,
                      "executable": sys.executable, "via": os.environ.get("VIA"), "szego": sys.modules["szego"].__file__}))
    return 0
def code(arguments):
    return int(os.environ["CODE"])
def refuse(arguments):
    raise getattr(errors, os.environ["KIND"])("a name \x1b[31m\udcff is bad")
def missing_file(arguments):
    open("/nowhere/file")
def full(arguments):
    print("x" * 100000)
    return 0
def kill_itself(arguments):
    os.kill(os.getpid(), signal.SIGKILL)
def interrupted(arguments):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
def note(*words):
    with open(os.environ["NOTES"], "a") as file:
        file.write(" ".join(map(str, words)) + "\n")
def work(seconds):
    import json as imported
    note("worker", os.getpid(), imported.__file__)
    time.sleep(seconds)
def draw(arguments):
    note("script", os.getpid())
    context = multiprocessing.get_context(os.environ["START"])
    with open("partial", "w"):
        try:
            with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
                list(pool.map(work, [float(os.environ["SECONDS"])] * 4))
        finally:
            time.sleep(0.1)  # a second signal does not end it
            os.remove("partial")
    return 0
def deaf(arguments):
    note("script", os.getpid())
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    note("worker", os.getpid())
    note("worker", os.getpid())
    time.sleep(60)
def main(arguments):
    return globals()[os.environ["MODE"]](arguments)
'''


class Place:
    """An installation of the program, and a folder of work."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.work = self.folder / "work"
        self.program = self.folder / "bin/szego"
        self.package = self.folder / "share/szego/python/szego"
        self.modules = self.folder / "modules"  # what the interpreter has, by PYTHONPATH
        for made in (self.work, self.program.parent, self.package, self.modules, self.folder / "home"):
            made.mkdir(parents=True)
        shutil.copy2(PROGRAM, self.program)
        shutil.copy2(PACKAGE / "publish.py", self.package)
        shutil.copy2(PACKAGE / "errors.py", self.package)
        self.write_version(VERSION)
        (self.package / "judge.py").write_text(JUDGE)
        for name in ("numpy", "scipy"):
            (self.modules / f"{name}.py").write_text("")

    def write_version(self, version):
        (self.package / "__init__.py").write_text(
            f"from . import errors\nfrom .errors import SzegoError\n__version__ = {version!r}\n")

    def environment(self, mode, **more):
        known = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SZEGO"))}
        given = {**known, "MODE": mode, "HOME": str(self.folder / "home"), "PYTHONPATH": str(self.modules),
                 "NOTES": str(self.folder / "notes"), **more}
        return {name: str(value) for name, value in given.items() if value is not None}

    def judge(self, mode, *words, said=None, **more):
        return subprocess.run([self.program, "judge", *words], cwd=self.work, env=self.environment(mode, **more),
                              input=said or "", capture_output=True, text=True, check=False, timeout=60)

    def interpreter(self, name, line):
        """A script that takes the part of an interpreter."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
        return path


def answers(name, done, code, *words, without=()):
    tap.ok(name, done.returncode == code and all(word in done.stderr for word in words) and
           not any(word in done.stderr for word in without), f"{done.returncode}: {done.stderr}")


# ---- Which interpreter ----


def check_choice(place):
    chosen = place.interpreter("chosen/python", f'exec {sys.executable} "$@"')
    done = place.judge("tell", "runs", SZEGO_PYTHON=chosen)
    tap.ok("SZEGO_PYTHON is taken", done.returncode == 0 and
           json.loads(done.stdout)["executable"] == sys.executable, done)
    answers("one that cannot be started is an error", place.judge("tell", "runs", SZEGO_PYTHON="/nowhere/python"), 5,
            "SZEGO_PYTHON: /nowhere/python cannot be started (No such file", "apt-get install python3-numpy "
            "python3-scipy", "/nowhere/python -m pip install", "szego[report]")
    answers("one that is no Python is an error", place.judge("tell", "runs", SZEGO_PYTHON="/bin/false"), 5,
            "SZEGO_PYTHON: /bin/false does not run the script as Python would (exit status 1)")
    dies = place.interpreter("dies/python", "kill -9 $$")
    answers("one that dies is an error", place.judge("tell", "runs", SZEGO_PYTHON=dies), 5,
            f"SZEGO_PYTHON: {dies} was ended by signal 9")
    bare = place.interpreter("bare/python3", f'BARE=1 exec {sys.executable} -S "$@"')
    hang = place.interpreter("hang/python", "echo $$ >hung; exec sleep 60")
    place.hung = subprocess.Popen([place.program, "judge", "runs"], cwd=place.folder, stderr=subprocess.PIPE, text=True,
                                  env=place.environment("tell", SZEGO_PYTHON=hang))
    answers("one that lacks packages is an error", place.judge("tell", "runs", SZEGO_PYTHON=bare, PYTHONPATH=None), 5,
            "lacks numpy, scipy", without=["Traceback"])
    (place.modules / "scipy.py").write_text(
        "import os\nif os.environ.get('GOOD') is None: raise ImportError('of another\\n\\x1b[31mPython')\n")
    answers("a package that cannot be imported is told", place.judge("tell", "runs", SZEGO_PYTHON=chosen), 5,
            r"lacks scipy (of another \x1b[31mPython)", without=["numpy,", "Traceback"])


def check_search(place):
    """Here Debian's interpreter lacks scipy; that of PATH has it."""
    if not os.path.exists(DEBIAN):
        tap.ok(f"the search # SKIP there is no {DEBIAN}", True)
        return
    good = place.interpreter("good/python3", f'VIA=path GOOD=1 exec {sys.executable} "$@"')
    path = os.environ["PATH"]
    done = place.judge("tell", "runs", PATH=f"{good.parent}:{path}")
    tap.ok("the one of PATH comes after Debian's", done.returncode == 0 and not done.stderr and
           json.loads(done.stdout)["via"] == "path", done)
    done = place.judge("tell", "runs", PATH=f"{good.parent}:{path}", GOOD=1)
    tap.ok("Debian's comes first", done.returncode == 0 and
           json.loads(done.stdout)["via"] is None, done)
    done = place.judge("tell", "runs", PATH=f"{good.parent}:{path}", GOOD=1, SZEGO_PYTHON="")
    tap.ok("an empty SZEGO_PYTHON is none", done.returncode == 0, done)
    answers("nothing serves: each is named with what it lacks, and what helps",
            place.judge("tell", "runs", PATH=place.folder), 5, f"{DEBIAN} lacks scipy",
            "python3 cannot be started (No such file", "apt-get install python3-numpy python3-scipy",
            "pip install numpy scipy", "szego[report]", "SZEGO_PYTHON", without=["/nowhere"])
    done = place.judge("tell", "runs", PATH="/usr/bin")
    tap.ok("the same one is named once", done.stderr.count("lacks scipy") == 1, done.stderr)
    (place.modules / "scipy.py").write_text("")


def check_silence(place):
    """It was begun long ago, and says so after 15 seconds."""
    told = place.hung.stderr.readline()
    tap.ok("one that never answers is named", told.startswith(
        f"szego: warning: {place.folder}/hang/python has not said in 15 seconds whether it has the packages"), told)
    place.hung.send_signal(signal.SIGINT)
    tap.ok("Ctrl-C ends the wait", place.hung.wait(30) == 130 and peer.gone([(place.folder / "hung").read_text().strip()]) and
           place.hung.stderr.read() == "szego: interrupted\n")


def check_package(place):
    place.write_version("0.0.10")
    answers("a package of another version", place.judge("tell", "runs", SZEGO_PYTHON=sys.executable), 5,
            f"judge: the program is version {VERSION}, and its Python package is version 0.0.10")
    place.write_version(VERSION)
    (place.package / "judge.py").rename(place.folder / "judge.py")
    answers("a package without the module", place.judge("tell", "runs", SZEGO_PYTHON=sys.executable), 5,
            f"{place.package} lacks the module szego.judge", "install the package again", without=["Traceback"])
    (place.folder / "judge.py").rename(place.package / "judge.py")
    alone = place.folder / "alone/bin/szego"
    alone.parent.mkdir(parents=True)
    shutil.copy2(PROGRAM, alone)
    done = subprocess.run([alone, "judge", "runs"], capture_output=True, text=True, check=False,
                          env=place.environment("tell"))
    if "is version" not in done.stderr:  # where szego is installed, its package may be found
        answers("the program alone", done, 5, "the Python package szego, which carries it out, is not installed",
                "publish.py is missing", "python3-szego", "szego[report]", "meson install")
    debian = place.folder / "debian/lib/python3/dist-packages/szego"
    shutil.copytree(place.package, debian)
    shutil.copytree(place.program.parent, place.folder / "debian/bin")
    done = subprocess.run([place.folder / "debian/bin/szego", "judge", "runs"], capture_output=True, text=True,
                          check=False, env=place.environment("tell", SZEGO_PYTHON=sys.executable),
                          stdin=subprocess.DEVNULL)
    tap.ok("Debian's place, whose other packages are not searched", done.returncode == 0 and
           json.loads(done.stdout)["szego"] == str(debian / "__init__.py") and
           str(debian.parent) not in json.loads(done.stdout)["path"], done)
    said = place.folder / "said"
    names = place.interpreter("names/python", f'realpath "$2" >{said}')
    subprocess.run([PROGRAM, "judge", "runs"], capture_output=True, check=False,
                   env=place.environment("tell", SZEGO_PYTHON=names))
    tap.ok("in the build, the source's package", said.read_text() == f"{PACKAGE}/publish.py\n")
    link = place.folder / "link"
    link.symlink_to(place.program)
    place.program, kept = link, place.program
    tap.ok("through a link", place.judge("tell", "runs", SZEGO_PYTHON=sys.executable).returncode == 0)
    place.program = kept


# ---- What it can import ----


def check_planted(place):
    """Whoever writes into the current folder shall not run code in the command."""
    for name in ("json", "os", "signal", "site", "ctypes", "multiprocessing", "usercustomize", "sitecustomize",
                 "concurrent"):
        (place.work / f"{name}.py").write_text("raise SystemExit('planted')\n")
    for name in ("szego", "numpy", "encodings"):
        (place.work / name).mkdir()
        (place.work / name / "__init__.py").write_text("raise SystemExit('planted')\n")
    for what, value in {"alone": "", "empty": ":", "a dot": ".:", "its name": str(place.work),
                        "in the middle": f"/nowhere::{place.work}/../work/:"}.items():
        done = place.judge("tell", "runs", SZEGO_PYTHON=sys.executable, PYTHONPATH=f"{value}:{place.modules}")
        tap.ok(f"the current folder is not searched, PYTHONPATH {what}", done.returncode == 0 and
               json.loads(done.stdout)["numpy"] == str(place.modules / "numpy.py") and
               str(place.work) not in json.loads(done.stdout)["path"], done)
    for start in ("fork", "spawn", "forkserver"):
        done = place.judge("draw", "runs", SZEGO_PYTHON=sys.executable, PYTHONPATH=f":{place.modules}", START=start,
                           SECONDS=0)
        tap.ok(f"neither do workers, {start}", done.returncode == 0 and read_notes(place, "worker", 4, which=2) ==
               [json.__file__] * 4, done)
        os.remove(place.folder / "notes")
    (place.modules / "json.py").write_text("raise SystemExit('replaced')\n")
    done = place.judge("tell", "runs", SZEGO_PYTHON=sys.executable)
    tap.ok("PYTHONPATH replaces no module of Python's own", done.returncode == 0, done)
    os.remove(place.modules / "json.py")
    shutil.rmtree(place.work)
    place.work.mkdir()


def check_user_packages(place):
    if not os.path.exists(DEBIAN):
        tap.ok(f"packages of pip --user # SKIP there is no {DEBIAN}", True)
        return
    environment = place.environment("tell", PYTHONPATH=None)
    folder = pathlib.Path(subprocess.run([DEBIAN, "-m", "site", "--user-site"], capture_output=True, text=True,
                                         check=False, env=environment).stdout.strip())
    folder.mkdir(parents=True)
    for name in ("numpy", "scipy"):
        shutil.copy2(place.modules / f"{name}.py", folder)
    done = place.judge("tell", "runs", PYTHONPATH=None)
    tap.ok("packages of pip --user are found, before the system's", done.returncode == 0 and
           json.loads(done.stdout)["numpy"] == str(folder / "numpy.py"), done)
    done = place.judge("tell", "runs", PYTHONPATH=None, PYTHONNOUSERSITE=1)
    tap.ok("not under PYTHONNOUSERSITE", str(folder) not in done.stdout, done)


# ---- Arguments and ends ----


def check_arguments(place):
    python = {"SZEGO_PYTHON": sys.executable}
    done = place.judge("tell", "runs/", said="a line\n", **python)
    told = json.loads(done.stdout)
    tap.ok("an operand follows --", told["arguments"] == ["--", "runs/"], told)
    tap.ok("standard input reaches the script", told["stdin"] == "a line\n", told)
    preset = (pathlib.Path(__file__).resolve().parents[2] / "presets/small.json").read_text()
    (place.work / "-my.json").write_text(preset)
    done = place.judge("tell", "-q", "--pres=-my.json", "-o", "-x/", "--", "-odd", **python)
    tap.ok("options have one form", json.loads(done.stdout)["arguments"] ==
           ["--output=-x/", "--quiet", "--preset=-my.json", "--", "-odd"], done.stdout)
    (place.work / "-my.json").unlink()
    done = place.judge("tell", "-o", "--", "runs", **python)
    tap.ok("a folder called -- is no end of options", json.loads(done.stdout)["arguments"] ==
           ["--output=./--", "--", "runs"], done)
    presets = place.program.parent.parent / "share/szego/presets"
    presets.mkdir()
    (presets / "small.json").write_text(preset)
    done = place.judge("tell", "--preset", "small", "runs", **python)
    tap.ok("a preset is its file", os.path.samefile(json.loads(done.stdout)["arguments"][0].partition("=")[2],
                                                    presets / "small.json"), done.stdout)
    answers("an unknown preset", place.judge("tell", "--preset", "smal", "runs", **python), 2, "did you mean small?")
    answers("a format", place.judge("tell", "--format", "csv", "runs", **python), 2, "--format is an option of commands that compute")
    answers("no folder", place.judge("tell", **python), 2, "DIR is missing")
    answers("two folders", place.judge("tell", "a", "b", **python), 2, "'b' is a second one")


def check_ends(place):
    python = {"SZEGO_PYTHON": sys.executable}
    for code in (0, 1, 2, 3, 4, 5, 77):
        answers(f"exit code {code} passes through", place.judge("code", "runs", CODE=code, **python), code,
                without=["szego:"])
    done = subprocess.run([place.program, "judge", "runs"], env=place.environment("code", CODE=77, **python), check=False,
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    tap.ok("also where the caller ignores the ends of children", done.returncode == 77, done)
    for kind, code in {"DataError": 3, "ArgumentError": 2, "MissingPackageError": 5, "ProgramError": 1}.items():
        answers(f"{kind} ends with {code} and one line", place.judge("refuse", "runs", KIND=kind, **python), code,
                "szego: a name \\x1b[31m\\xff is bad\n", without=["Traceback"])
    answers("a file that is missing", place.judge("missing_file", "runs", **python), 1,
            "szego: /nowhere/file: No such file or directory\n", without=["Traceback"])
    answers("a script that a signal ends", place.judge("kill_itself", "runs", **python), 1,
            "judge: signal 9 (Killed) ended its script")
    answers("a script that alone is interrupted", place.judge("interrupted", "runs", **python), 130,
            "szego: interrupted\n", without=["Traceback"])
    shutil.rmtree(place.package / "__pycache__", ignore_errors=True)
    small = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1024, 1024))
    done = subprocess.run([place.program, "judge", "runs"], env=place.environment("code", CODE=77, **python), check=False,
                          preexec_fn=small)
    tap.ok("a disk that is full has no part of a module", done.returncode == 77 and
           place.judge("code", "runs", CODE=77, **python).returncode == 77, done)
    with subprocess.Popen([place.program, "judge", "runs"], cwd=place.work, env=place.environment("full", **python),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        told = process.stderr.read()
        tap.ok("a reader that has gone", process.wait() == 128 + signal.SIGPIPE and not told, told)


def check_lost_output(place):
    """What cannot be written is told if it is the result, and changes no exit code if it is a message."""
    python = {"SZEGO_PYTHON": sys.executable}
    for name, ending, why in (("a full disk", ">/dev/full", "No space left on device"),
                              ("a closed output", ">&-", "Bad file descriptor")):
        for mode in ("tell", "full"):
            done = subprocess.run(["sh", "-c", f'"$0" judge runs {ending}', place.program], cwd=place.work, check=False,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env=place.environment(mode, **python))
            answers(f"{name}, {mode}", done, 1, f"szego: the result: cannot be written: {why}\n",
                    without=["Exception", "Traceback"])
        for code, mode in ((3, "refuse"), (0, "tell")):
            done = subprocess.run(["sh", "-c", f'"$0" judge runs 2{ending}', place.program], cwd=place.work, check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  env=place.environment(mode, KIND="DataError", **python))
            tap.ok(f"{name} for messages: exit code {code}", done.returncode == code, str(done.returncode))


# ---- Signals ----


#: The child's status where a signal came while it was forked.
FORKED = """
import importlib.util, os, signal, sys, time
spec = importlib.util.spec_from_file_location("publish", sys.argv[1])
publish = importlib.util.module_from_spec(spec)
real = os.fork
spec.loader.exec_module(publish)
publish.listen()
def fork():
    process = real()
    if process:
        os.kill(os.getpid(), signal.SIGINT)
    return process
try:
    if publish.fork_whole(fork) == 0:
        time.sleep(5)
        os._exit(0)
except KeyboardInterrupt:
    print(os.WTERMSIG(os.waitpid(-1, 0)[1]), flush=True)
if os.fork() == 0:
    publish.parent = os.getpid()  # as where its parent ended before it could ask to end with it
    publish.die_with_parent()
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1]))
"""


def check_forks(place):
    done = subprocess.run([sys.executable, "-c", FORKED, place.package / "publish.py"], capture_output=True, text=True,
                          check=False, env=place.environment("tell"))
    tap.ok("a process that is forked while a signal comes is ended, and one without a parent ends",
           done.stdout == "9\n1\n" and not done.stderr, done)


def read_notes(place, kind, count, which=1):
    """Words of the notes of `kind`, once there are `count`."""
    path = place.folder / "notes"
    for _ in range(1000):
        lines = path.read_text().splitlines() if path.exists() else []
        found = [line.split()[which] for line in lines if line.split()[0] == kind]
        if len(found) >= count:
            return found
        time.sleep(0.01)
    return []


class Working:
    """The command while its script and two workers are at work."""

    def __init__(self, place, mode="draw", start="fork", hangup=signal.SIG_DFL, seconds=60):
        self.place = place
        environment = place.environment(mode, SZEGO_PYTHON=sys.executable, START=start, SECONDS=seconds)
        self.process = subprocess.Popen([place.program, "judge", "runs"], cwd=place.work, env=environment,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGHUP, hangup))
        self.processes = read_notes(place, "worker", 2) + read_notes(place, "script", 1)
        self.begun = len(self.processes) == 3 and (mode == "deaf" or (place.work / "partial").exists())

    def ends(self, name, code, *words, leaves=()):
        """It has been sent a signal: nothing stays, neither file nor process."""
        ended, left = self.process.wait(30), peer.gone(self.processes)
        told = self.process.stderr.read() if left else ""
        found = sorted(path.name for path in self.place.work.iterdir())
        tap.ok(name, self.begun and ended == code and left and found == list(leaves) and "Traceback" not in told and
               all(word in told for word in words), f"{ended}, {self.processes}, {found}: {told}")
        os.remove(self.place.folder / "notes")
        shutil.rmtree(self.place.work)
        self.place.work.mkdir()


def check_signals(place):
    group = {"Ctrl-C": signal.SIGINT, "a terminal that closes": signal.SIGHUP, "SIGTERM to all": signal.SIGTERM}
    for name, number in group.items():
        working = Working(place)
        os.killpg(working.process.pid, number)
        working.ends(name, 130, "szego: interrupted\n")
    for start in ("fork", "spawn"):
        working = Working(place, start=start, hangup=signal.SIG_IGN, seconds=0.3)
        os.killpg(working.process.pid, signal.SIGHUP)
        working.ends(f"a terminal that closes under nohup ends nothing, {start}", 0)
    for start in ("fork", "spawn", "forkserver"):
        working = Working(place, start=start)
        working.process.send_signal(signal.SIGINT)
        working.ends(f"SIGINT to the program alone, {start}", 130, "szego: interrupted\n")
    working = Working(place)
    working.process.terminate()
    working.ends("SIGTERM to the program alone", 130, "szego: interrupted\n")
    working = Working(place)
    working.process.kill()
    working.ends("the program is killed", -signal.SIGKILL, leaves=["partial"])


def main():
    with peer.scratch() as folder:
        other = Working(Place(f"{folder}/deaf"), mode="deaf")
        other.process.terminate()  # it takes four seconds
        place = Place(f"{folder}/place")
        for check in (check_choice, check_search, check_package, check_planted, check_user_packages, check_arguments,
                      check_ends, check_lost_output, check_forks, check_signals, check_silence):
            check(place)
        other.ends("a script that does not listen is killed in the end", 130, "had not ended after 4 seconds")
    tap.finish()


if __name__ == "__main__":
    main()
