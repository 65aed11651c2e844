#!/usr/bin/env python3
"""tools/device-run against the emulated GPU, which is deaf to what tests ask of it, as a real one is.
usage: test_device_run.py parity | calls | tools | rival | bundle | travel | kills BUILD. Prints TAP."""

import contextlib
import csv
import os
import hashlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TOOL = os.path.join(HERE, "../../tools/device-run")

# Answers as bench/peer_torch.py does, at once, and tells its environment and ours on standard error.
STAND_IN_PYTHON = """#!/bin/sh
if [ "$1" = -c ]; then
    echo "stand-in, torch.cuda.is_available() True, a GPU; LD_LIBRARY_PATH=${LD_LIBRARY_PATH-unset}"
    exit
fi
echo "rival: LD_LIBRARY_PATH=${LD_LIBRARY_PATH-unset}" >&2
tr '\\0' '\\n' <"/proc/$PPID/environ" | sed -n 's/^LD_LIBRARY_PATH/ours: &/p' >&2
if [ -n "${STAND_IN_REOPENS:-}" ]; then
    log=$(readlink "/proc/$$/fd/2")
    exec 2>&-
    sleep 0.5
    exec 2>>"$log"
    echo 'rival: opened anew' >&2
fi
if [ -n "${STAND_IN_LEAVES:-}" ]; then
    setsid sleep 600 <&- >&- &
    echo $! >>"$STAND_IN_LEAVES"
fi
while read -r request; do
    case $request in
    version) echo stand-in ;;
    device*) echo "${STAND_IN_DEVICE:-a GPU}" ;;
    *) echo ok ;;
    esac
done
"""
# Tells what it was given, runs one of the programs, and refuses one tool, as a machine may refuse
# them all.
STAND_IN_SANITIZER = """#!/bin/sh
[ "$1" != --help ] || { echo '  --kernel-regex-exclude'; exit 0; }
echo "given: $*"
tool=$2
while [ "${1#*/tests/}" = "$1" ]; do shift; done
[ "$tool $2" != "${STAND_IN_UNCLEAN:-}" ] || { echo '========= ERROR SUMMARY: 1 error'; exit 9; }
[ "$tool $2" != "${STAND_IN_HANGS:-}" ] || exec sleep 600
[ "$tool $2" != 'memcheck network_dropout' ] || "$@" || exit
[ "$tool" = synccheck ] && echo 'Device not supported' || echo '========= ERROR SUMMARY: 0 errors'
"""
STAND_IN_PROFILER = """#!/bin/sh
echo "given: $*"
[ -z "${STAND_IN_REFUSES:-}" ] || { echo '==ERROR== ERR_NVGPUCTRPERM'; exit 1; }
[ -n "${STAND_IN_IDLE:-}" ] || echo '"0","1234","szego","forward","Duration","us","200"'
"""
# What compiles in place of meson and ninja: another build has it already.
STAND_IN_MESON = """#!/bin/sh
[ "$1" = setup ] || exec /usr/bin/meson "$@"
mkdir -p "$2"
echo "$*" >"$2/build.ninja"
"""
STAND_IN_NINJA = """#!/bin/sh
folder=$2
shift 2
for target in "$@"; do
    mkdir -p "$folder/${target%/*}" && ln -s "$STAND_IN_BUILD/$target" "$folder/$target" || exit
done
"""


class Run:
    """A run of device-run in a folder that goes with it."""

    def __init__(self, build, arguments, programs=None, environment=None, bundle=None, plugin=None):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.results = os.path.join(self.folder.name, "results")
        bin_folder = os.path.join(self.folder.name, "bin")
        os.mkdir(bin_folder)
        self.put(os.path.join(bin_folder, "rival"), STAND_IN_PYTHON)
        for name, text in (programs or {}).items():
            self.put(os.path.join(bin_folder, name), text)
        plugin = plugin or os.path.join(build, "tests/cuda/libszego-cuda-emulated.so")
        self.command = [TOOL, "--results", self.results, "--emulated", plugin]
        self.command += ["--bundle", bundle] if bundle else ["--build", build]
        self.command += ["--jobs", str(os.cpu_count())] + arguments
        self.environment = dict(
            os.environ,
            PATH=bin_folder + ":" + os.environ["PATH"],
            SZEGO_PYTHON=os.path.join(bin_folder, "rival"),
            SZG_TEST_MULTIPLIER="0.01",
            # A device does not fail at will: neither does the emulated one in a dry run.
            SZG_EMULATED_FAIL="cudaMalloc:1",
            LD_LIBRARY_PATH="/nowhere",
            STAND_IN_BUILD=build,
        )
        self.environment.update(environment or {})

    @staticmethod
    def put(path, text):
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def whole(self):
        return subprocess.run(
            self.command, env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip

    def start(self):
        return subprocess.Popen(
            self.command, env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def text(self, name):
        try:
            with open(os.path.join(self.results, name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def rows(self):
        return list(csv.DictReader(self.text("bench.csv").splitlines()))


count = failures = 0


def check(name, good, why=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    if not good:
        print("".join(f"# {line}\n" for line in str(why).splitlines()), end="")


def parity(build):
    run = Run(build, ["build", "parity", "spectra-parity"])
    done = run.whole()
    lines = run.text("tests.txt").splitlines()
    keys = [tuple(line.split()[:3]) for line in lines]
    check("every test passes where nothing fails at will", done.returncode == 0,
          run.text("summary.txt") + run.text("tests.log")[-3000:])  # fmt: skip
    check("each runs once", len(keys) == len(set(keys)) > 20, lines)
    check("none is of the emulated GPU alone", all(key[0] != "test_cuda" for key in keys), lines)
    check("three precisions of whole models",
          sum(key[1] == "parity" for key in keys) == 3, lines)  # fmt: skip


def verdicts(run):
    return [line for line in run.text("summary.txt").splitlines() if line.startswith("== ")]


def calls(build):
    """What is measured in the three calls, and every verdict."""
    stages = "facts build rates first-step steps operations".split()
    run = Run(build, stages)
    done = run.whole()
    rows = run.rows()
    check("first: all is done", done.returncode == 0, run.text("summary.txt"))
    check("first: a verdict a stage",
          [line.split()[1].rstrip(":") for line in verdicts(run)] == stages + ["exit"],
          verdicts(run))  # fmt: skip
    first = [row for row in rows if row["item"] == "train:rope:first"]
    check("first: one step in three precisions",
          sorted({row["backend"] for row in first}) == ["cuda:bf16", "cuda:f32", "cuda:tf32"]
          and all(float(row["ours_s"]) > 0 for row in first), first)  # fmt: skip
    parts = [row for row in rows if row["item"] == "train:rope:operations" and row["calls"]]
    check("first: operations with bytes and their share of the copy's rate",
          len(parts) > 15 and all(float(row["copy_share"]) > 0 for row in parts), parts)  # fmt: skip
    check("first: every row says that it was measured",
          rows and all(row["verdict"] == "measured" for row in rows), rows)  # fmt: skip

    run = Run(build, "build sanitizer profile spectra crossover capture".split(),
              programs={"compute-sanitizer": STAND_IN_SANITIZER, "ncu": STAND_IN_PROFILER})  # fmt: skip
    done = run.whole()
    summary = run.text("summary.txt")
    check("third: what a machine refuses is left out, and fails nothing",
          done.returncode == 5 and "FAILED" not in summary and "sanitizer: ok" in summary
          and "compute-sanitizer (synccheck): it cannot work here" in summary, summary)  # fmt: skip
    check("third: memcheck is told file by file", summary.count("memcheck network_") > 6, summary)
    kinds = {row["item"] for row in run.rows()}
    # Small sizes leave general eigenvalues out: the least order takes the cpu too long.
    check("third: batched, dense, crossovers, capture",
          kinds >= {"batch:plain", "batch:checked", "dense", "train:rope:capture"}
          and sum(kind.startswith("crossover:") for kind in kinds) == 5, kinds)  # fmt: skip
    dense = [row["ratio"] != "" for row in run.rows() if row["item"] == "dense"]
    check("third: our dense row is there before the cpu's begins", dense == [False, True], dense)
    check("at most eight files", len(os.listdir(run.results)) <= 8, os.listdir(run.results))

    run = Run(build, ["--seconds", "6", "build", "steps", "operations"])
    done = run.whole()
    check("what no time is left for is told", done.returncode == 1
          and "operations: no time is left" in run.text("summary.txt"),
          run.text("summary.txt"))  # fmt: skip


def sanitizer_and_profiler(build):
    programs = {"compute-sanitizer": STAND_IN_SANITIZER, "ncu": STAND_IN_PROFILER}
    run = Run(build, ["build", "sanitizer"], programs, {"STAND_IN_UNCLEAN": "racecheck network_layers"})
    done = run.whole()
    summary, log = run.text("summary.txt"), run.text("tools.log")
    given = [line for line in log.splitlines() if line.startswith("given: ")]
    initcheck = [line for line in given if "initcheck" in line]
    check("what is not clean fails the stage and is told with its file", done.returncode == 1
          and summary.count("racecheck network_layers cuda:f32: NOT CLEAN") == 1
          and "racecheck network_attention cuda:f32: clean" in summary, summary)  # fmt: skip
    check("initcheck watches every kernel, on files without the vendor's",
          initcheck and all(line.split()[-1] in ("network_attention", "network_dropout")
                            and "exclude" not in line for line in initcheck), initcheck)  # fmt: skip
    check("the others leave the vendor's kernels out",
          all("exclude" in line for line in given if line not in initcheck), given)  # fmt: skip
    run = Run(build, ["--seconds", "15", "build", "sanitizer"], programs,
              {"STAND_IN_UNCLEAN": "none", "STAND_IN_HANGS": "memcheck network_layers"})  # fmt: skip
    done = run.whole()
    summary = run.text("summary.txt")
    check("one that hangs is cut, and told; the others are clean", done.returncode == 1
          and "memcheck network_layers cuda: cut" in summary
          and "memcheck network_attention cuda:f32: clean" in summary, summary)  # fmt: skip

    run = Run(build, ["build", "profile"], programs)
    done = run.whole()
    check("a part of a step is profiled", done.returncode == 0 and "--launch-skip 310 --launch-count 40"
          in run.text("tools.log") and "forward" in run.text("tools.log"), run.text("tools.log"))  # fmt: skip
    run = Run(build, ["build", "profile"], programs, {"STAND_IN_REFUSES": "1"})
    done = run.whole()
    check("a profiler that is refused is left out", done.returncode == 5 and "left out: Nsight"
          in run.text("summary.txt"), run.text("summary.txt"))  # fmt: skip
    run = Run(build, ["build", "profile"], programs, {"STAND_IN_IDLE": "1"})
    done = run.whole()
    check("one that saw no kernel fails", done.returncode == 1 and "no kernel was profiled"
          in run.text("summary.txt"), run.text("summary.txt"))  # fmt: skip


def rival(build):
    # The plugin misses a library, which our LD_LIBRARY_PATH then names.
    ldd = """#!/bin/sh
case ${LD_LIBRARY_PATH-} in */lacking/lib64*) exit ;; esac
[ "$1" = --version ] || printf '\\tlibgone.so.1 => not found\\n'
"""
    run = Run(build, ["facts", "build", "rival"], {"ldd": ldd})
    lacking = os.path.join(run.folder.name, "lacking")
    os.makedirs(os.path.join(lacking, "lib64"))
    Run.put(os.path.join(lacking, "lib64/libgone.so.1"), "")
    run.environment["CUDA_HOME"] = lacking
    done = run.whole()
    rivals = [row for row in run.rows() if row["rival_s"]]
    log, summary = run.text("rival.log"), run.text("summary.txt")
    check("all is done", done.returncode == 0, summary)
    check("a rival for five steps and two products", len(rivals) == 7, run.rows())
    items = [line for line in summary.splitlines() if "train:" in line]
    check("what waits for the compiler comes first, what is wanted least last",
          "train:rope:step cuda:tf32" in items[0] and "train:rope:step cuda:bf16" in items[1]
          and "train:rope:step cuda:f32" in items[-1], summary)  # fmt: skip
    check("the rival has the LD_LIBRARY_PATH that was there, our program its own",
          log.count("rival: LD_LIBRARY_PATH=/nowhere\n") >= 7
          and log.count(f"ours: LD_LIBRARY_PATH=/nowhere:{lacking}/lib64\n") >= 7, log)  # fmt: skip
    check("the facts say what PyTorch sees", "pytorch    stand-in, torch.cuda.is_available() True, "
          "a GPU; LD_LIBRARY_PATH=/nowhere\n" in summary, summary)  # fmt: skip
    wrapper = [os.path.join(os.path.dirname(TOOL), "device/rival-python"), "-c",
               'import os; print(os.environ.get("LD_LIBRARY_PATH", "unset"))']  # fmt: skip
    environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": "/ours"}
    said = subprocess.run(wrapper, env=environment, capture_output=True, text=True, check=False)
    check("where none was there, none", said.stdout == "unset\n", said.stdout + said.stderr)

    run = Run(build, ["facts", "build", "rival"], environment={"STAND_IN_DEVICE": "none"})
    done = run.whole()
    summary = run.text("summary.txt")
    check("a rival without a device fails, with the reason", done.returncode == 1
          and summary.count("FAILED (no ratio: PyTorch sees no device)") == 7
          and "rival: FAILED" in summary, summary)  # fmt: skip
    check("ours is measured all the same", sum(row["ours_s"] != "" and row["item"] == "train:rope:step"
          for row in run.rows()) == 3, run.rows())  # fmt: skip

    run = Run(build, ["build", "rival"], environment={"STAND_IN_REOPENS": "1"})
    done = run.whole()
    check("a rival that opens its output anew is heard to its end", done.returncode == 0
          and run.text("rival.log").count("rival: opened anew") >= 7,
          run.text("summary.txt") + run.text("rival.log"))  # fmt: skip

    run = Run(build, ["build", "rival"])
    left = os.path.join(run.folder.name, "left")
    run.environment["STAND_IN_LEAVES"] = left
    done = run.whole()
    with open(left) as file:
        processes = [int(line) for line in file]
    alive = 0
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
            alive += 1
    check("what a rival leaves behind is not waited for",
          done.returncode == 0 and alive == len(processes) >= 7, run.text("summary.txt"))  # fmt: skip


PROGRAMS = ["analysis/szego", "tests/test_network", "tests/test_spectra", "tests/test_train"]


def pack(bundle, content, sums=True):
    """A bundle of the programs in the folder."""
    archive = os.path.join(bundle, "programs.tar.xz")
    os.makedirs(bundle, exist_ok=True)
    subprocess.run(["tar", "-C", content, "-I", "xz -0", "-cf", archive, "."], check=True)
    if sums:
        seal(bundle)


def seal(bundle):
    with open(os.path.join(bundle, "programs.tar.xz"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    with open(os.path.join(bundle, "SHA256SUMS"), "w") as file:
        file.write(f"{digest}  ./programs.tar.xz\n")


def damage(bundle):
    with open(os.path.join(bundle, "programs.tar.xz"), "r+b") as file:
        file.truncate(file.seek(0, os.SEEK_END) // 2)


def bundles(build):
    """A bundle that is whole, and what becomes of one that is not."""
    programs = {"meson": STAND_IN_MESON, "ninja": STAND_IN_NINJA}
    place = tempfile.TemporaryDirectory()
    content, bundle = (os.path.join(place.name, name) for name in ("content", "bundle"))
    for program in PROGRAMS:
        os.makedirs(os.path.dirname(os.path.join(content, program)), exist_ok=True)
        subprocess.run(["strip", "-o", os.path.join(content, program), os.path.join(build, program)],
                       check=True)  # fmt: skip
    with open(os.path.join(content, "tests.txt"), "w") as file:
        file.write("tests/test_network network_dropout cuda:f32\n")
    pack(bundle, content)
    run = Run(build, ["build", "parity"], programs, bundle=bundle)
    done = run.whole()
    summary = run.text("summary.txt")
    check("a whole bundle's programs run", done.returncode == 0 and "programs run here" in summary
          and "1 of 1 files of tests passed" in summary and "compiling" not in summary, summary)  # fmt: skip

    def falls_back(name, words, stages=("build", "first-step"), plugin=None, code=0):
        run = Run(build, list(stages), programs, bundle=bundle, plugin=plugin)
        done = run.whole()
        summary = run.text("summary.txt")
        lines = [line for line in summary.splitlines() if words in line]
        check(name, done.returncode == code and len(lines) == 1 and "compiling here instead" in summary
              and "build: ok" in summary, summary + done.stderr)  # fmt: skip
        return run

    damage(bundle)
    run = falls_back("a truncated archive is told, and compiled in place of",
                     "the bundle's programs.tar.xz is damaged")  # fmt: skip
    check("what was compiled is measured", len(run.rows()) >= 3, run.rows())
    seal(bundle)
    falls_back("one that was made so is told", "programs.tar.xz cannot be unpacked", ["build"])
    os.remove(os.path.join(bundle, "SHA256SUMS"))
    falls_back("a bundle without sums is told", "programs.tar.xz is damaged", ["build"])
    os.remove(os.path.join(bundle, "programs.tar.xz"))
    falls_back("one without programs is told", "the bundle has no programs.tar.xz", ["build"])

    run = Run(build, ["--seconds", "8", "build"], {"meson": STAND_IN_MESON, "ninja": "#!/bin/sh\nexec sleep 600\n"},
              bundle=bundle)  # fmt: skip
    done = run.whole()
    check("a compiler that the time cuts is told", done.returncode == 1
          and "compiling was cut" in run.text("summary.txt"), run.text("summary.txt"))  # fmt: skip

    pack(bundle, content)
    falls_back("a plugin that does not open is told", "the bundle's plugin does not open here",
               ["build"], os.path.join(content, "tests.txt"), 5)  # fmt: skip

    test = os.path.join(content, "tests/test_spectra")
    with open(test, "r+b") as file:  # e_machine of the ELF header: of another processor
        file.seek(18)
        file.write(b"\xb7\x00" if os.uname().machine == "x86_64" else b"\x3e\x00")
    pack(bundle, content)
    falls_back("programs of another processor are told", "do not start here: test_spectra", ["build"])

    source, library = (os.path.join(place.name, name) for name in ("gone.c", "libgone.so"))
    with open(source, "w") as file:
        file.write("int gone(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    with open(source, "w") as file:
        file.write("int gone(void); int main(void) { return gone(); }\n")
    subprocess.run(["cc", "-o", test, source, library], check=True)
    os.remove(library)
    pack(bundle, content)
    falls_back("a library that is missing is named", "libgone.so", ["build"])
    place.cleanup()


def travel(_):
    """What travels is counted as it travels."""
    tool = os.path.join(os.path.dirname(TOOL), "device/travel-size")
    place = tempfile.TemporaryDirectory()
    tree = os.path.join(place.name, "tree")

    def put(name, mib):
        path = os.path.join(tree, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.truncate(mib << 20)

    def git(*words):
        subprocess.run(["git", "-C", tree, *words], check=True, capture_output=True)

    def size():
        return subprocess.run([tool, "bundle"], cwd=tree, capture_output=True, text=True, check=False)

    for name, mib in (("tracked", 3), ("shared/of git", 5), ("bundle/programs.tar.xz", 7)):
        put(name, mib)
    git("init", "-q")
    with open(os.path.join(tree, ".gitignore"), "w") as file:
        file.write("/ignored\n/bundle/\n/shared/ignored\n")
    git("add", ".gitignore", "tracked", "shared")
    put("not tracked", 11)
    put("ignored", 40)
    put("shared/ignored", 13)
    done = size()
    check("tracked, untracked, shared/ and the bundle", done.returncode == 0 and
          "40 MiB of 64" in done.stdout and "tracked files 4," in done.stdout
          and "untracked ones 11," in done.stdout and "shared/ 18" in done.stdout
          and "bundle 7," in done.stdout, done.stdout + done.stderr)  # fmt: skip
    with open(os.path.join(tree, ".gitignore"), "w") as file:
        file.write("/ignored\n")
    done = size()
    check("a bundle that git does not ignore counts once", "40 MiB of 64" in done.stdout, done.stdout)
    put("not tracked", 36)
    done = size()
    check("more than 64 MiB fail, with the remedy", done.returncode == 1 and "--only programs"
          in done.stderr and ".git/info/exclude" in done.stderr, done.stdout + done.stderr)  # fmt: skip
    place.cleanup()


def kills(build):
    """Ten kills of all processes at random rows: what was finished is there, and whole."""
    stages = ["build", "rates", "first-step", "operations"]
    undisturbed = Run(build, stages)
    check("undisturbed", undisturbed.whole().returncode == 0, undisturbed.text("summary.txt"))
    order = [(row["item"], row["backend"], row["input"]) for row in undisturbed.rows()]
    seed = int(os.environ.get("SZG_TEST_SEED", "20250513"))
    print(f"# SZG_TEST_SEED={seed}, {len(order)} rows undisturbed")
    choose = random.Random(seed)
    struck = 0
    for _ in range(40):  # a run can end before its kill: that one does not count
        if struck == 10:
            break
        run = Run(build, stages)
        wanted = choose.randrange(1, len(order))
        process = run.start()
        while process.poll() is None and run.text("bench.csv").count("\n") < 1 + wanted:
            time.sleep(0.001)
        time.sleep(choose.random() * 0.05)
        seen, told = run.text("bench.csv"), verdicts(run)
        struck += process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(0.2)
        text, rows = run.text("bench.csv"), run.rows()
        got = [(row["item"], row["backend"], row["input"]) for row in rows]
        whole = text[: text.rfind("\n") + 1]
        good = whole.startswith(seen[: seen.rfind("\n") + 1])
        good = good and got[: whole.count("\n") - 1] == order[: whole.count("\n") - 1]
        good = good and verdicts(run)[: len(told)] == told
        check(f"killed at row {wanted}: {whole.count(chr(10)) - 1} rows and {len(told)} verdicts "
              "are there", good and whole.count("\n") > wanted, text)  # fmt: skip
    check("ten kills struck a run at work", struck == 10, f"{struck} of 40 runs")


parts = {"parity": parity, "calls": calls, "tools": sanitizer_and_profiler, "rival": rival,
         "bundle": bundles, "travel": travel, "kills": kills}  # fmt: skip
parts[sys.argv[1]](os.path.realpath(sys.argv[2]))
print(f"1..{count}")
sys.exit(failures != 0)
