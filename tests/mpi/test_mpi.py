#!/usr/bin/env python3
"""Several processes on one machine: 1, 2 and 4 have the answers of one alone, the first alone speaks, and a process that
dies or fails ends all of them without a file. Prints TAP.
usage: test_mpi.py PROGRAM PLUGIN-OR-NOTHING WHY-NOT MPIRUN-OR-NOTHING USER-OF-THE-LIBRARY"""
import cmath
import csv
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM, PLUGIN, WHY_NOT, MPIRUN, USER = sys.argv[1:6]
if not PLUGIN or not MPIRUN:
    print(f"1..0 # SKIP no MPI plugin: {WHY_NOT or 'no mpirun'}")
    sys.exit(0)

EPS = 2.0 ** -52
PATIENCE = int(os.environ.get("SZG_TEST_PATIENCE", "120"))  # seconds until a command counts as hanging
# Root may run in a container; there may be more processes than processors, which then give way.
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
           OMPI_MCA_hwloc_base_binding_policy="none",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", SZEGO_MPI_PLUGIN=PLUGIN)
for name in [name for name in ENV if name.startswith(("PMI", "OMPI_COMM", "SLURM"))]:
    del ENV[name]
failed = count = 0


def why_no_start():
    """Open MPI needs a network interface, if only the loopback, and some containers have none."""
    try:
        tried = subprocess.run([MPIRUN, "-n", "2", "true"], env=ENV, capture_output=True, text=True, timeout=PATIENCE,
                               check=False)
    except subprocess.TimeoutExpired:
        return f"it does not end in {PATIENCE} seconds"
    words = [line for line in tried.stderr.splitlines() if line.strip("-= ")]
    return "" if tried.returncode == 0 else " ".join(words[:3]) or f"it ends with {tried.returncode}"


why = why_no_start()
if why:
    print(f"1..0 # SKIP mpirun starts no process here: {why}")
    sys.exit(0)


def ok(name, fine, detail=""):
    global failed, count  # pylint: disable=global-statement
    count += 1
    failed += not fine
    print(f"{'ok' if fine else 'not ok'} {count} - {name}", flush=True)
    if not fine:
        print("\n".join("# " + line for line in str(detail).splitlines()[:20]), flush=True)


def launched(command, env=ENV):
    """What a command did. Open MPI 4.1's launcher can crash by itself while processes abort: then once more, twice at
    most. mpirun answers a crash of our processes by a code, not by a signal of its own."""
    for _ in range(3):
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode >= 0 or command[0] != MPIRUN:
            break
    return done


def run(processes, *arguments, env=None, apart=None, apart_env=()):
    """The program in so many processes, 0: without a launcher; `apart`: other arguments for a further process, and what
    its environment has besides ("NAME=VALUE")."""
    command = [PROGRAM, *map(str, arguments)]
    if processes:
        command = [MPIRUN, "-n", str(processes), *command]
    if apart:
        command += [":", "-n", "1", *(["env", *apart_env] if apart_env else []), PROGRAM, *map(str, apart)]
    return launched(command, dict(ENV, **(env or {})))


def said(done):
    """What szego itself said on stderr."""
    return [line for line in done.stderr.splitlines() if line.startswith("szego")]


def rows(text):
    return list(csv.DictReader(text.splitlines()))


def write_npy(path, values):
    complex_ = any(isinstance(value, complex) for value in values)
    header = f"{{'descr': '{'<c16' if complex_ else '<f8'}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for value in values:
            file.write(struct.pack("<2d", value.real, value.imag) if complex_ else struct.pack("<d", value))


def make_files(folder):
    # Smooth; and with a singularity of either sign, which sets the ends apart.
    smooth = [2.0] + [0.9 ** k * (1 + k % 3) for k in range(1, 400)]
    singular = [0.1] + [k ** -0.5 if k % 2 else 0.0 for k in range(1, 2200)]
    write_npy(folder / "other.npy", [*smooth[:250], smooth[250] * (1 - EPS), *smooth[251:]])  # a last bit
    turned = lambda lags: [complex(a) * cmath.exp(0.7j * k) for k, a in enumerate(lags)]
    for name, lags in {"smooth": smooth, "singular": singular}.items():
        write_npy(folder / f"{name}.npy", lags)
        write_npy(folder / f"{name}-complex.npy", turned(lags))
    write_npy(folder / "tiny.npy", [lag * 2.0 ** -70 for lag in singular])
    write_npy(folder / "full.npy", [float(k) for k in range(799)])


# ---- The answers ----

def same_values(alone, shared):
    """Values of either solver are those of T + E, ||E|| <= n eps ||T|| (docs/explanation/methods.md), and so do not
    differ by more than twice that (Weyl)."""
    if len(alone) != len(shared) or not alone:
        return f"{len(shared)} values in place of {len(alone)}"
    groups = {}
    for one, other in zip(alone, shared):
        if (one["source"], one["n"], one["index"]) != (other["source"], other["n"], other["index"]):
            return f"{other} in place of {one}"
        groups.setdefault((one["source"], one["n"]), []).append((float(one["re"]), float(other["re"])))
    for (source, n), pairs in groups.items():
        bound = 2 * int(n) * EPS * max(abs(one) for one, _ in pairs)
        worst = max(abs(one - other) for one, other in pairs)
        if not worst <= bound:
            return f"{source}, n = {n}: off by {worst}, {bound} is allowed"
    return ""


def same_extremes(alone, shared):
    """An eigenvalue lies within each error, and both are resolved: the same one."""
    if len(alone) != len(shared) or not alone:
        return f"{len(shared)} values in place of {len(alone)}"
    for one, other in zip(alone, shared):
        if one["resolved"] != "1" or other["resolved"] != "1" or one["solver"] != other["solver"]:
            return f"{other} in place of {one}"
        if not abs(float(one["value"]) - float(other["value"])) <= float(one["error"]) + float(other["error"]):
            return f"{other} in place of {one}"
    return ""


def try_answers(folder):
    both = ["--coefficients", folder / "smooth.npy", "--coefficients", folder / "smooth-complex.npy"]
    ends = ["--coefficients", folder / "singular.npy", "--coefficients", folder / "singular-complex.npy"]
    # Orders even and odd; one below the least order.
    questions = {
        "halves": [*both, "-n", "300,301,20", "--all"],
        "dense": [*both, "-n", "257", "--all", "--dense"],
        "ends": [*ends, "-n", "2100,2101", "--k", "2"],
        "tiny": ["--coefficients", folder / "tiny.npy", "-n", "2100", "--k", "2"]}
    counts = {"dense": [4], "tiny": [2]}
    methods = {"halves": {"two halves (ELPA, MPI)", "real symmetric matrix of a Hermitian Toeplitz one (ELPA, MPI)"},
               "dense": {"dense (ELPA, MPI)"}}
    for question, arguments in questions.items():
        table = "extremes" if question in ("ends", "tiny") else "eigenvalues"
        compare = same_extremes if table == "extremes" else same_values
        alone = run(0, "spectrum", *arguments, "-o", f"{folder}/alone-{question}/")
        expected = rows((folder / f"alone-{question}/{table}.csv").read_text()) if alone.returncode == 0 else []
        for processes in counts.get(question, [1, 2, 4]):
            target = folder / f"{question}-{processes}"
            done = run(processes, "spectrum", "--backend", "mpi", *arguments, "-o", f"{target}/")
            difference = done.stderr
            if done.returncode == 0:
                difference = compare(expected, rows((target / f"{table}.csv").read_text()))
            ok(f"{question}: {processes} processes, the answers of one", not difference, difference)
            if table == "extremes" or done.returncode != 0:
                continue
            large = [row for row in rows((target / "summary.csv").read_text()) if int(row["n"]) > 20]
            ok(f"{question}: {processes} processes, the method names the engine, the residual is within its limit",
               {row["method"] for row in large} == methods[question] and
               all(float(row["residual"]) <= 64 * int(row["n"]) * EPS for row in large) and
               "one stage" not in str(large), large)


def try_underflow():
    """Squares of entries underflow. ELPA's reduction to a band is then wrong by 1e-7 to 1 where they are left in, and its
    one stage makes that good, with a note. The values are those of the closed form, which is right to 64 eps."""
    arguments = ["spectrum", "kms:rho=0.5", "-n", "700", "--format", "csv"]
    alone, done = run(0, *arguments), run(2, *arguments, "--dense")
    if alone.returncode or done.returncode:
        ok("entries whose squares underflow", False, done)
        return
    row, other = (rows(ran.stdout)[0] for ran in (alone, done))
    bound = 2 * 700 * EPS * float(row["lambda_max"])
    ok("entries whose squares underflow", "one stage" not in other["note"] and other["method"] == "dense (ELPA, MPI)" and
       all(abs(float(row[key]) - float(other[key])) <= bound for key in ("lambda_min", "lambda_max")), (row, other))


def try_one_voice(folder):
    arguments = ["spectrum", "--coefficients", folder / "smooth.npy", "-n", "300", "--format", "json"]
    done = run(4, *arguments)
    try:
        result = json.loads(done.stdout)
    except ValueError:
        result = {"provenance": {}}
    ok("mpirun alone shares the work, and one process prints", done.returncode == 0 and len(said(done)) == 1 and
       result["provenance"].get("processes") == 4 and result["provenance"]["backend"] == "mpi", done)
    done = run(2, "info", "--backend", "mpi", "--format", "csv")
    ok("info names the engines once", done.stdout.count("ELPA") == 1 and "\nprocesses,2," in done.stdout, done)
    done = run(2, "spectrum", "rope:dim=64", "alibi", "-n", "512", "--format", "csv")
    ok("what costs nothing is computed by each", done.returncode == 0 and
       done.stdout == run(0, "spectrum", "rope:dim=64", "alibi", "-n", "512", "--format", "csv").stdout, done)
    first, second = folder / "first.csv", folder / "second.csv"
    done = run(1, "spectrum", "alibi", "-n", "300", "-o", first, apart=["spectrum", "alibi", "-n", "300", "-o", second])
    ok("the first alone writes", done.returncode == 0 and first.exists() and not second.exists(), done)
    done = run(0, *arguments, env={"SZEGO_MPI_PLUGIN": "/nowhere/libszego-mpi.so"})
    linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=False).stdout
    ok("one process without a launcher has nothing of MPI", done.returncode == 0 and "processes" not in done.stdout and
       "libc.so" in linked and not any(name in linked for name in ("libmpi", "elpa", "parpack")), (done, linked))
    done = run(2, "--version")
    ok("the version is told once", done.returncode == 0 and len(done.stdout.splitlines()) == 1, done)


# ---- Refusals ----

def try_refusals(folder):
    smooth = ["--coefficients", folder / "smooth.npy"]
    target = folder / "refused.csv"
    for name, arguments, words, code in [
            ("a command", ["verify"], "the work of szego verify is not shared", 2),
            ("one that starts others", ["reproduce", "--set", "loop.epochs=1", "-o", f"{folder}/none/"],
             "the work of szego reproduce is not shared", 2),
            ("a backend", ["spectrum", *smooth, "--backend", "cpu"], "env -u OMPI_COMM_WORLD_SIZE", 2),
            ("the density", ["spectrum", *smooth, "--density"], "--density is not shared", 2),
            ("proofs", ["spectrum", *smooth, "--certify"], "certified eigenvalues are not shared", 3),
            ("logits", ["spectrum", "rope:dim=64", "--part", "logits"], "a factored matrix is not shared", 3),
            ("no symmetry", ["spectrum", f"file:path={folder}/full.npy,lags=full"], "not Hermitian is not shared", 3),
            ("a matrix beyond the machine", ["spectrum", *smooth, "-n", "1000000", "--all"],
             "are available: start more processes, on more machines", 1),
            ("a bad SPEC", ["spectrum", "nothing:x=1"], "nothing", 2)]:
        done = run(2, *arguments, *(["-o", target] if arguments[0] == "spectrum" else []))
        ok(f"refused by name, once: {name}", done.returncode == code and not target.exists() and
           sum(words in line for line in said(done)) == 1 and "process 1" not in done.stderr, done)
    ok("nothing was trained", not (folder / "none").exists())
    done = run(2, "spectrum", *smooth, "-o", target, env={"SZEGO_MPI_PLUGIN": "/nowhere/libszego-mpi.so"})
    ok("without the plugin nothing is computed", done.returncode == 5 and not target.exists() and
       any("there is no plugin (/nowhere/libszego-mpi.so)" in line and "start one process" in line
           for line in said(done)), done)
    here = ["spectrum", *smooth, "-n", "300", "-o", target]
    done = run(1, *here, apart=here, apart_env=["SZEGO_MPI_PLUGIN=/nowhere/libszego-mpi.so"])
    ok("without the plugin on one machine nothing is computed, and that one says why", done.returncode == 5 and
       not target.exists() and [line for line in said(done) if "there is no plugin" in line and
                                line.startswith("szego: process 1 of 2: backend mpi")], done)
    done = run(1, *here, apart=["spectrum", "--coefficients", folder / "nowhere.npy", "-n", "300", "-o", target])
    ok("a file that one machine lacks ends all", done.returncode == 1 and not target.exists() and
       sum("process 1 of 2: " in line and "nowhere.npy" in line for line in said(done)) == 1, done)
    # mpiexec of MPICH, and srun without --mpi=pmix: MPI knows nothing of the others.
    for others, more in ({"PMI_SIZE": "2", "PMI_RANK": "0"}, []), ({"SLURM_STEP_NUM_TASKS": "2"}, ["--backend", "mpi"]):
        done = run(0, *here, *more, env=others)
        ok(f"the launcher of another MPI is told from one process: {list(others)[0]}", done.returncode == 5 and
           not target.exists() and "2 processes were started together" in done.stderr and
           "MPI knows of 1" in done.stderr, done)
    other = ["--coefficients", folder / "other.npy"]
    for name, mine, theirs in [("orders", [*smooth, "-n", "300"], [*smooth, "-n", "301"]),
                               ("lags", [*smooth, "-n", "300"], [*other, "-n", "300"]),
                               ("lags, of which ends are wanted", [*smooth, "-n", "2100"], [*other, "-n", "2100"])]:
        done = run(1, "spectrum", *mine, "--k", "2", "-o", target, apart=["spectrum", *theirs, "--k", "2", "-o", target])
        ok(f"processes with different {name} are told", done.returncode == 3 and not target.exists() and
           "do not compute the same" in done.stderr, done)
    done = run(2, "spectrum", *smooth, "-n", "300", "-o", folder / "none/such/refused.csv")
    ok("a file that cannot be written ends all", done.returncode not in (0, 130) and
       sum("refused.csv" in line for line in said(done)) >= 1, done)


# ---- A user of the library ----

def try_library():
    done = launched([MPIRUN, "-n", "2", USER])
    ok("the library: batches, one context after the other, one that leaves, an end", done.returncode == 0 and
       not done.stderr, done)
    done = launched([MPIRUN, "-n", "2", USER, "open"])
    ok("the library: an end with an open context ends all", done.returncode == 1, done)


def try_growth():
    """The tool that measures what a second process brings: that it runs, no number."""
    tool = pathlib.Path(__file__).resolve().parents[2] / "tools/mpi-growth"
    done = subprocess.run([tool, "--szego", PROGRAM, "--pairs", "1", "--scale", "0.05"], env=ENV, capture_output=True,
                          text=True, timeout=PATIENCE, check=False)
    table = rows(done.stdout)
    ok("tools/mpi-growth: a ratio for each question", done.returncode == 0 and len(table) == 4 and
       all(abs(float(row["ratio"]) * float(row["seconds_2"]) / float(row["seconds_1"]) - 1) < 0.02 for row in table), done)
    done = subprocess.run([tool, "--szego", "/bin/false"], env=ENV, capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    ok("tools/mpi-growth: a program that fails has none", done.returncode == 1 and "ended with" in done.stderr, done)


# ---- Ends ----

def children(pid):
    """Rank -> process, of those that mpirun has started."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            words = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for word in words:
            if int(status[1]) == pid and word.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(word.split(b"=")[1])] = int(entry.name)
    return found


def has_ended(pid, deadline):
    """Whether it does by then; who collects it, where its launcher is gone, does not matter."""
    while time.monotonic() < deadline:
        try:
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def end_one(folder, rank, number, arguments):
    """Sends a signal to one of two processes that are at work, None: to mpirun; what mpirun answers, its words, the files
    left, and the environments of the two."""
    target = folder / f"ended-{rank}-{number}"
    target.mkdir()
    with open(target.with_suffix(".err"), "w+", encoding="utf-8") as words:
        with subprocess.Popen([MPIRUN, "-n", "2", PROGRAM, "spectrum", *map(str, arguments), "-o", f"{target}/out.csv"],
                              env=ENV, stdout=subprocess.DEVNULL, stderr=words) as job:
            deadline = time.monotonic() + PATIENCE
            while "backend mpi: 2" not in target.with_suffix(".err").read_text() and time.monotonic() < deadline:
                time.sleep(0.05)
            at_work = children(job.pid)
            settings = [pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") for pid in at_work.values()]
            if rank is None:
                job.send_signal(number)
            elif rank in at_work:
                os.kill(at_work[rank], number)
            try:
                code = job.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                job.kill()
                code = None
    if not all(has_ended(pid, deadline + PATIENCE) for pid in at_work.values()):
        code = None
    return code, target.with_suffix(".err").read_text(), os.listdir(target), settings


def try_ends(folder):
    # A minute of work, of which a second is done.
    dense = ["--coefficients", folder / "smooth.npy", "-n", "12000", "--all"]
    for rank in 0, 1:
        code, words, files, settings = end_one(folder, rank, signal.SIGKILL, dense)
        ok(f"process {rank} killed: the job ends, says so, and leaves no file", code not in (0, None) and
           len(settings) == 2 and "signal 9" in words and not files, (code, words, files))
    ok("OpenBLAS starts one thread in each process", len(settings) == 2 and
       all(b"OPENBLAS_NUM_THREADS=1" in words for words in settings), settings)
    code, words, files, settings = end_one(folder, None, signal.SIGINT, dense)
    ok("mpirun interrupted: both processes end, and leave no file", code not in (0, None) and len(settings) == 2 and
       not files, (code, words, files))
    # Ends that Lanczos does not reach in a hundred restarts.
    ends = ["--coefficients", folder / "smooth.npy", "-n", "200000", "--k", "3"]
    code, words, files, settings = end_one(folder, 1, signal.SIGTERM, ends)
    ok("process 1 asked to stop: the first says so for all", code not in (0, None) and len(settings) == 2 and
       "szego: process 1 of 2: " in words and not files, (code, words, files))


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    make_files(place)
    try_answers(place)
    try_underflow()
    try_one_voice(place)
    try_refusals(place)
    try_library()
    try_growth()
    try_ends(place)
print(f"1..{count}")
sys.exit(failed > 0)
