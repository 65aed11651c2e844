"""What the program starts for a command that this package carries out:

    python3 -I publish.py VERSION NEEDS COMMAND ARGUMENT...

The program (analysis/script.c) has parsed the options; the arguments are those of main(arguments) of the command's
module, which returns the exit code. Options that were given come first, in the form --NAME=VALUE, then "--" and the
operands. Descriptor 3 is a pipe on which one line says whether this interpreter serves: "ready"; why it does not; or
"version X", the package's, where the program is of version VERSION. It is written in a Python of before 3.9, so that
an old interpreter can say so.

A command starts its workers by fork or spawn. Those end with it even if it is killed; those of a forkserver do not.
"""
import errno
import importlib
import importlib.util
import os
import resource
import signal
import site
import sys
import threading

COMMANDS = {"judge": "szego.judge", "report": "szego.page", "export": "szego.notebook"}
LEAST = (3, 9)
ANSWERS = 3
LITTLE = 64 << 20  # bytes of a disk; more than a compiled module has
USAGE, DATA, BACKEND, INTERRUPTED, PIPE = 2, 3, 5, 130, 128 + signal.SIGPIPE
UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)  # of files that have a name this is told
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FOLDER = os.path.dirname(os.path.realpath(__file__))


def say(text):
    """A line on stderr as the program writes it: what could drive a terminal is \\xNN."""
    shown = "".join(c if c.isprintable() else "".join("\\x%02x" % byte for byte in os.fsencode(c)) for c in text)
    try:
        sys.stderr.write("szego: " + shown + "\n")
    except OSError:  # there is nobody to tell, and the exit code is the same
        pass
    can_write(sys.stderr)


def can_write(stream):
    """Whether a standard stream takes what was written. One that does not gets another end: Python would try again
    when it ends, and exit with a code of its own."""
    try:
        stream.flush()
        return True
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False


def progress_line(stream):
    """A function that shows a text in place of the one before, "" at the end, on a terminal; nothing elsewhere."""
    if not (stream and stream.isatty()):
        return lambda text: None
    return lambda text: print("\r\x1b[K" + text, end="", file=stream, flush=True)


def tell_written(note, results, rest):
    """What a command says of results that it has written: `note` (None: it is quiet), and what it left out, in a
    DataError; `rest` names where the others are."""
    if note:
        say(note)
    for message in results.skipped:
        say("warning: left out: " + message)
    if results.skipped:
        count = len(results.skipped)
        raise sys.modules["szego"].errors.DataError("%d result%s left out; the rest is in %s" % (
            count, " was" if count == 1 else "s were", rest))


# ---- What is imported ----


def load_package():
    """The package that this file belongs to, whatever else is called szego. The folders beside it are not searched:
    they may be of another interpreter."""
    spec = importlib.util.spec_from_file_location("szego", os.path.join(FOLDER, "__init__.py"),
                                                  submodule_search_locations=[FOLDER])
    sys.modules["szego"] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    if folder != FOLDER:  # a link in a build leads here, from notebooks_export/python/szego
        package.BUILD = os.path.normpath(os.path.join(folder, *[os.pardir] * 3))
    return package


def complete_path():
    """Adds what -I leaves out and people rely on: folders of PYTHONPATH, and what `pip install --user` has installed.
    They come after the standard library, no module of which they replace. The current folder is never among them."""
    try:
        here = os.getcwd()
    except OSError:
        here = None
    own = [sys.path.index(folder) for folder in site.getsitepackages() if folder in sys.path]
    begin = min(own) if own else len(sys.path)
    rest = sys.path[begin:]
    del sys.path[begin:]
    sys.path.extend(folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep)
                    if os.path.isabs(folder) and os.path.realpath(folder) != here)
    # As Python itself decides, but for -I: not in a virtual environment that is alone.
    if sys.base_prefix in site.PREFIXES and not os.environ.get("PYTHONNOUSERSITE"):
        if os.path.isdir(site.getusersitepackages()):
            site.addsitedir(site.getusersitepackages())
    sys.path.extend(rest)


def spare_disk():
    """On a full disk Python would keep the first part of a module that it has compiled, and fail to import it for good."""
    space = os.statvfs(FOLDER)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if space.f_bavail * space.f_frsize < LITTLE or 0 <= limit < LITTLE:  # RLIM_INFINITY is -1
        sys.dont_write_bytecode = True


def fault(name):
    """Why a package cannot be imported; None: it can."""
    try:
        importlib.import_module(name)
        return None
    except ModuleNotFoundError as error:
        if error.name == name:
            return name
        return "%s (%s)" % (name, error)
    except Exception as error:  # pylint: disable=broad-except # a package of another Python may raise anything
        return "%s (%s)" % (name, " ".join(str(error).split())[:120] or type(error).__name__)


def faults_of(needs):
    """The faults of several packages. Matplotlib reads the matplotlibrc of the current folder first, and is imported where
    that is the package's own: what a user has set for windows, TeX or fonts changes no page."""
    os.environ["MPLBACKEND"] = "agg"
    if "matplotlib" in needs:
        import logging  # pylint: disable=import-outside-toplevel
        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it keeps what it knows of fonts is its own affair
    here = os.open(".", os.O_PATH)
    os.chdir(FOLDER)
    try:
        return [told for told in map(fault, needs) if told]
    finally:
        os.fchdir(here)
        os.close(here)


def examine(version, needs):
    """The answer to the program."""
    if sys.version_info < LEAST:
        return "%s is Python %d.%d, and %d.%d is needed" % ((sys.executable,) + sys.version_info[:2] + LEAST)
    listen()
    spare_disk()
    complete_path()
    faults = faults_of(needs)
    if faults:
        return "%s lacks %s" % (sys.executable, ", ".join(faults))
    own = load_package().__version__
    return "ready" if own == version else "version " + own


# ---- Signals ----


parent = None  # of a process that begins by fork; None: it is not known


def die_with_parent():
    """No signal tells of a parent that was killed: Linux ends this process with it, or it ends itself where that came
    too late."""
    import ctypes  # pylint: disable=import-outside-toplevel
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if parent not in (None, os.getppid()):
        os._exit(1)  # pylint: disable=protected-access


def is_ignored(number):
    """Whether this process was started so that it outlives its terminal (nohup); its workers outlive it too."""
    return number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN


def begin_worker():
    """In a process that the command starts for its work: it ends with the command, which alone is interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in set(STOPPING) - {signal.SIGINT}:
        if not is_ignored(number):
            signal.signal(number, signal.SIG_DFL)
    die_with_parent()


forked = []  # processes of this one, those too of which no list of Python's tells yet


def end_forked():
    for process in forked:
        try:  # a number may be another process's by now, which is no child
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            os.kill(process, signal.SIGKILL)
        except (ChildProcessError, ProcessLookupError):
            pass


stopping = False


def stop(_number, _frame):
    """The first signal ends the workers and unwinds the command, which removes what it has not finished. Later ones
    change nothing: of a Ctrl-C both the terminal and the program tell."""
    global stopping  # pylint: disable=global-statement
    if stopping:
        return
    stopping = True
    threading.excepthook = lambda _: None  # a pool's own thread finds its workers gone
    if "multiprocessing" in sys.modules:
        for worker in sys.modules["multiprocessing"].active_children():
            worker.kill()
    end_forked()
    raise KeyboardInterrupt


def stop_again(_number, _frame):
    raise KeyboardInterrupt


def tell_unraisable(found):
    """An interrupt that came while Python called back, from the collector say, has interrupted nothing: it is raised
    again outside. What fails because of it is no news."""
    if found.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
    elif not stopping:
        sys.__unraisablehook__(found)


def fork_whole(fork=os.fork):
    """os.fork, but signals wait: neither callbacks at the fork nor a process without its own handlers gets them."""
    global parent  # pylint: disable=global-statement
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    parent = os.getpid()
    try:
        process = fork()
        if process == 0:
            del forked[:]
        else:
            forked.append(process)
        return process
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def listen():
    for number in STOPPING:
        if not is_ignored(number):
            signal.signal(number, stop)
    signal.signal(signal.SIGALRM, stop_again)
    sys.unraisablehook = tell_unraisable
    os.fork = fork_whole
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    die_with_parent()
    os.register_at_fork(after_in_child=begin_worker)


# ---- The command ----


def code_of(error):
    """The program's exit code for what a command refuses."""
    errors = sys.modules["szego"].errors
    kinds = [(errors.MissingPackageError, BACKEND), (errors.DataError, DATA), (errors.ArgumentError, USAGE)]
    return next((code for kind, code in kinds if isinstance(error, kind)), 1)


def work(name, arguments):
    """What is raised once the command has been stopped, of a pool without workers say, tells nobody anything."""
    try:
        return importlib.import_module(name).main(arguments)
    except BaseException:
        if stopping:
            raise KeyboardInterrupt from None
        raise


def run(command, arguments):
    """The exit code. An error that no command expects keeps its traceback."""
    name = COMMANDS[command]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    # argparse takes the value of --output=-- for the end of the options.
    arguments = [word[:-2] + "./--" if word.endswith("=--") else word for word in arguments[:end]] + arguments[end:]
    try:
        code = work(name, arguments)
        sys.stdout.flush()
        return code
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        say("%s lacks the module %s, which `szego %s` needs: install the package again" % (FOLDER, name, command))
        return BACKEND
    except BrokenPipeError:  # as a program ends that SIGPIPE kills
        return PIPE
    except (sys.modules["szego"].SzegoError, OSError) as error:
        place = getattr(error, "filename", None) or getattr(error, "errno", None) in UNWRITTEN and \
            "the result: cannot be written"
        say(str(error) if error.args and not isinstance(error, OSError) else
            ": ".join(str(part) for part in (place, error.strerror) if part) or repr(error))
        return code_of(error)
    except MemoryError:
        say("out of memory")
        return 1
    finally:
        can_write(sys.stdout)


def main():
    version, needs, command = sys.argv[1:4]
    answer = examine(version, needs.split())
    os.write(ANSWERS, os.fsencode(answer + "\n"))
    os.close(ANSWERS)
    return run(command, sys.argv[4:]) if answer == "ready" else 0


if __name__ == "__mp_main__":  # a worker of another start method than fork
    begin_worker()
    load_package()
if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
