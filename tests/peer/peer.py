"""What the comparisons with NumPy and SciPy share: running szego, and TAP."""
import csv
import functools
import importlib.machinery
import importlib.util
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

EPS = 2.0**-52
#: Where the Python package is imported from.
PACKAGE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "notebooks_export",
                                       "python"))


def skip(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def ok(self, name, condition, detail=""):
        self.count += 1
        self.failed += not condition
        line = f"{'ok' if condition else 'not ok'} {self.count} - {name} {detail}"
        # TAP: one line; and no sign that XML, which reports are, cannot hold.
        print("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in " ".join(line.split())))

    def close(self, name, got, want, bound):
        """Written so that NaN and None fail."""
        good = got is not None and want is not None and abs(got - want) <= bound
        self.ok(name, bool(good), "" if good else f"got {got!r}, want {want!r} +- {bound:.3g}")

    def refused(self, name, call, *words, kind):
        """The call raises `kind` with a message that has the words."""
        try:
            call()
            self.ok(f"refused: {name}", False)
        except kind as caught:
            missing = [word for word in words if word not in str(caught)]
            self.ok(f"refused: {name}", not missing, f"{missing} not in: {caught}" if missing else "")

    def finish(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


def package_test(kind):
    """What a test of the Python package begins with: a Tap, its `refused` for errors of that kind, and NumPy's generator of
    the seed, which is printed. The package runs the program of the command line."""
    import numpy as np  # pylint: disable=import-outside-toplevel # some tests skip without it
    os.environ["SZEGO"] = os.path.abspath(sys.argv[1])
    seed = int(os.environ.get("SZG_TEST_SEED", "20261129"), 0)
    print(f"# SZG_TEST_SEED={seed}")
    tap = Tap()
    return tap, functools.partial(tap.refused, kind=kind), np.random.default_rng(seed)


def tool(name):
    """A program of tools/, which has no ending, as a module."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", name)
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def eigenvalue_bound(n, norm):
    """Of the difference of two solvers' eigenvalues of a normal matrix, or of singular values: both are backward
    stable, each value moves by c n eps ||T||."""
    return 20 * n * EPS * max(norm, 1e-300)


def scratch():
    """A new folder that goes when its block ends, in memory where there is such a place: results are
    synced, and a disk makes a test wait."""
    memory = "/dev/shm"
    return tempfile.TemporaryDirectory(prefix="szego-test-",
                                       dir=memory if os.access(memory, os.W_OK) else None)


def szego(program, *arguments):
    """The JSON result of one command."""
    done = subprocess.run([program, *map(str, arguments), "--format", "json", "--quiet"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"szego {' '.join(map(str, arguments))}: {done.stderr}")
    return json.loads(done.stdout)


def tables(program, *arguments):
    """The CSV tables of one command's -o DIR/, as lists of row dictionaries."""
    with scratch() as folder:
        subprocess.run([program, *map(str, arguments), "--quiet", "-o", folder + "/"], check=True)
        found = {}
        for name in os.listdir(folder):
            if name.endswith(".csv"):
                with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
                    found[name[:-4]] = list(csv.DictReader(file))
        return found


def python(code, *arguments, **environment):
    """A Python of its own, with the package in `environment["path"]` or the source's."""
    path = environment.pop("path", PACKAGE)
    known = {name: value for name, value in os.environ.items() if name != "SZEGO_LIBRARY"}
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
                          timeout=240, env={**known, "PYTHONPATH": path, **environment})


def compute_alike(szego):
    """The programs that follow compute with the OpenBLAS kernels of this process, whose bits theirs are compared to."""
    os.environ["OPENBLAS_CORETYPE"] = szego.info()["core"]
    print(f"# OpenBLAS core {szego.info()['core']}")


class Counted:
    """The library of the Python package, counting calls, and what successful ones open less what is closed."""
    OPENERS = {"szg_encoding_parse", "szg_encoding_matrix", "szg_spectrum_compute", "szg_symbol_compute",
               "szg_content_open_qk", "szg_logits_open", "szg_contraction_compute", "szg_context_open",
               "szg_claims_verify", "szg_certificates_check", "szg_checkpoint_open_chosen",
               "szg_checkpoint_open_tensors", "szg_checkpoint_analyse", "szg_kernel_tables_open", "szg_encoding_keys"}

    def __init__(self, library):
        self.library, self.open, self.calls = library, 0, 0

    def __getattr__(self, name):
        function = getattr(self.library, name)
        step = name in self.OPENERS or "_toeplitz_open_" in name

        def call(*arguments):
            self.calls += 1
            answer = function(*arguments)
            if name.endswith("_close"):
                self.open -= 1
            self.open += step and answer == 0
            return answer
        return call


def write_model(folder, config, tensors):
    """A new model folder: its configuration, and arrays by name, in double precision."""
    header, data = {}, b""
    for name, rows in tensors.items():
        content = rows.astype("<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": rows.shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    os.makedirs(folder)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)


def write_llama(folder, shape, layers, others=None, **config):
    """A new model folder: (heads, key heads, head size, width), and arrays (W_Q, W_K) of each layer; others: further
    tensors by name."""
    heads, key_heads, size, width = shape
    tensors = {f"model.layers.{index}.self_attn.{name}_proj.weight": rows
               for index, layer in enumerate(layers) for name, rows in zip("qk", layer)} | (others or {})
    write_model(folder, {"model_type": "llama", "num_hidden_layers": len(layers), "num_attention_heads": heads,
                         "num_key_value_heads": key_heads, "head_dim": size, "hidden_size": width,
                         "rope_theta": 1e4} | config, tensors)


def is_alive(process):
    """A zombie, which waits for its parent alone, is not."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(processes):
    """Whether none of them is left; the kernel may take some time to end one that was killed with its parent."""
    for _ in range(500):
        if not any(map(is_alive, processes)):
            return True
        time.sleep(0.01)
    return False


#: The beginning of a script that a Ctrl-C shall reach: interrupt_in(NAME, wait) sends it once the library's function
#: NAME runs and wait() has returned. `said` gets how the function ended, and then `ended` is set.
INTERRUPT = """
import os, signal, sys, threading, time
import numpy as np, szego
from szego import native
began, ended, said = threading.Event(), threading.Event(), []
call = native.Context.call

def interrupt_in(function, wait=lambda: None):
    def watched(context, name, *arguments):
        if name != function or ended.is_set():
            return call(context, name, *arguments)
        began.set()
        try:
            call(context, name, *arguments)
            said.append("it went on")
        except szego.LibraryError as error:
            said.append(error.status)
            raise
        finally:
            ended.set()

    def interrupt():
        began.wait()
        wait()
        os.kill(os.getpid(), signal.SIGINT)

    native.Context.call = watched
    threading.Thread(target=interrupt).start()
"""
