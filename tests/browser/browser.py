"""Headless Chromium over the DevTools protocol, with nothing but Python's standard library.

    with Browser() as browser:
        page = browser.open("report.html", dark=True)
        page.problems()                      # console errors, exceptions, dialogs, requests
        page.evaluate("document.title")      # the value; promises are awaited
        page.screenshot("#spectrum")         # bytes of a PNG

The protocol runs over two pipes (--remote-debugging-pipe): JSON messages that end with NUL. Every
wait gives up after `timeout` seconds in which the browser had nothing to do: a busy machine makes it
longer, not fail. Leaving the block ends the browser and removes its profile.
"""
import base64
import ctypes
import fcntl
import glob
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SWITCHES = ("--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
            "--no-default-browser-check", "--disable-extensions", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--mute-audio",
            "--disable-dev-shm-usage", "--disable-breakpad", "--hide-scrollbars", "--force-color-profile=srgb")


PR_SET_CHILD_SUBREAPER = 36  # of <linux/prctl.h>


class BrowserError(RuntimeError):
    pass


def find():
    """Path of an installed Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def _pipe():
    """A pipe whose descriptors stay clear of 3 and 4, where the child has its own."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high


def _state(path):
    """The letter of a thread's state, by its file stat; none once it has ended."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _descendants(process):
    """The processes below `process`, in any order."""
    found, left = [], [process]
    while left:
        at = left.pop()
        for task in glob.glob(f"/proc/{at}/task/*/children"):
            try:
                with open(task, encoding="utf-8") as file:
                    below = [int(child) for child in file.read().split()]
            except (FileNotFoundError, ProcessLookupError):
                continue
            found += below
            left += below
    return found


class Browser:
    #: Seconds between two looks at whether the browser has something to do: some 200 small files.
    LOOK = 1.0

    def __init__(self, program=None, timeout=30.0):
        self.program = program or find()
        if not self.program:
            raise BrowserError("no Chromium is installed (Debian: apt-get install chromium)")
        self.timeout = timeout
        self.last = 0
        self.answers = {}
        self.events = []
        self.buffer = b""

    def __enter__(self):
        # Helpers whose parent ends become children of this process, which can wait for them then.
        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
        self.before = _descendants(os.getpid())
        self.folder = tempfile.mkdtemp(prefix="szego-browser-")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        child_reads, self.writes = _pipe()
        self.reads, child_writes = _pipe()

        def wire():
            os.dup2(child_reads, 3)
            os.dup2(child_writes, 4)

        command = [self.program, *SWITCHES, f"--user-data-dir={self.folder}/profile"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        self.process = subprocess.Popen([*command, "about:blank"], preexec_fn=wire, pass_fds=(3, 4),
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env={**os.environ, "HOME": self.folder},
                                        start_new_session=True)
        os.close(child_reads)
        os.close(child_writes)
        try:
            self.version = self.call("Browser.getVersion")["product"]
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser and waits for each of its processes: none writes when the folder goes."""
        helpers = _descendants(self.process.pid)
        self.process.kill()
        self.process.wait()
        while helpers:
            for helper in helpers:
                try:
                    os.kill(helper, signal.SIGKILL)
                    os.waitpid(helper, 0)
                except (ProcessLookupError, ChildProcessError):
                    pass  # another helper was its parent, and has waited for it
            helpers = [child for child in _descendants(os.getpid()) if child not in self.before]
        os.close(self.writes)
        os.close(self.reads)
        self.log.close()
        shutil.rmtree(self.folder)

    def _fail(self, what):
        with open(os.path.join(self.folder, "log"), errors="replace") as file:
            raise BrowserError(f"{what}; the browser said:\n{file.read()[-2000:]}")

    def _is_busy(self):
        """Whether a thread of the browser runs, could run, or waits for a disk."""
        return any(_state(task) in ("R", "D")
                   for process in [self.process.pid, *_descendants(self.process.pid)]
                   for task in glob.glob(f"/proc/{process}/task/*/stat"))

    def _read(self, patience):
        """Takes messages apart as far as they are there; waits for some. `patience`: seconds that are
        left to wait while the browser is idle; returns those left then."""
        while not select.select([self.reads], [], [], self.LOOK)[0]:
            if not self._is_busy():
                patience -= self.LOOK
            if patience <= 0:
                self._fail("Chromium did not answer, and has nothing to do")
        chunk = os.read(self.reads, 1 << 20)
        if not chunk:
            self._fail("Chromium ended")
        *messages, self.buffer = (self.buffer + chunk).split(b"\0")
        for text in messages:
            message = json.loads(text)
            if "id" in message:
                self.answers[message["id"]] = message
                continue
            self.events.append(message)
            # A dialog holds every other answer back until it is dismissed.
            if message["method"] == "Page.javascriptDialogOpening":
                self._send("Page.handleJavaScriptDialog", message["sessionId"], {"accept": False})
        return patience

    def _send(self, method, session, parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writes, data):]
        return self.last

    def call(self, method, session=None, timeout=None, **parameters):
        """The result of one DevTools method."""
        patience = timeout or self.timeout
        number = self._send(method, session, parameters)
        while number not in self.answers:
            patience = self._read(patience)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def wait(self, method, session, timeout=None, **wanted):
        """Parameters of the first event of this name with these values."""
        patience = timeout or self.timeout
        seen = 0
        while True:
            for event in self.events[seen:]:
                got = event.get("params", {})
                if (event["method"] == method and event.get("sessionId") == session
                        and all(got.get(key) == value for key, value in wanted.items())):
                    return got
            seen = len(self.events)
            patience = self._read(patience)

    def open(self, path, dark=False, width=1200, height=900, timeout=None):
        """The page, loaded. `path`: a file, or an address."""
        page = Page(self, dark, width, height)
        page.load(path, timeout)
        return page


class Page:
    def __init__(self, browser, dark, width, height):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        # Seconds of the page's thread, not of the wall: a busy machine does not change them.
        self.call("Performance.enable", timeDomain="threadTicks")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.dark(dark)

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def dark(self, on):
        value = "dark" if on else "light"
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": value}])

    def load(self, path, timeout=None):
        path = str(path)
        self.url = path if "://" in path else pathlib.Path(path).resolve().as_uri()
        answer = self.call("Page.navigate", url=self.url, timeout=timeout)
        if answer.get("errorText"):
            raise BrowserError(f"{self.url}: {answer['errorText']}")
        self.browser.wait("Page.loadEventFired", self.session, timeout)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def evaluate(self, script, timeout=None):
        """The value of an expression, through JSON; of a promise, what it resolves to."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True, userGesture=True, timeout=timeout)
        if "exceptionDetails" in answer:
            raise BrowserError(_exception(answer["exceptionDetails"]))
        return answer["result"].get("value")

    # What a reader does, in pixels of the window. Each call returns once the page has answered it.

    def move(self, x, y):
        """The pointer, there."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, x, y):
        """A finger, down and up; the page takes touches (Emulation.setTouchEmulationEnabled)."""
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()  # the click comes after the gesture

    def key(self, name):
        """A key by its name: ArrowRight, Escape, Enter."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def _events(self, method):
        return [event["params"] for event in self.browser.events
                if event["method"] == method and event.get("sessionId") == self.session]

    def settle(self):
        """Events of what the page has done so far are all there once this call has returned."""
        self.evaluate("new Promise(done => setTimeout(done, 100))")

    def console(self):
        """[(level, text)] of console calls and of the browser's own messages about the page."""
        calls = [(call["type"], " ".join(str(part.get("value", part.get("description", "")))
                                         for part in call["args"]))
                 for call in self._events("Runtime.consoleAPICalled")]
        return calls + [(log["entry"]["level"], log["entry"]["text"])
                        for log in self._events("Log.entryAdded")]

    def exceptions(self):
        return [_exception(thrown["exceptionDetails"])
                for thrown in self._events("Runtime.exceptionThrown")]

    def dialogs(self):
        return [dialog["message"] for dialog in self._events("Page.javascriptDialogOpening")]

    def requests(self):
        """Addresses that were asked for, beyond the page itself and what it holds."""
        return [sent["request"]["url"] for sent in self._events("Network.requestWillBeSent")
                if sent["request"]["url"] != self.url
                and not sent["request"]["url"].startswith(("data:", "blob:"))]

    def problems(self):
        """All that a self-contained page must not do, as texts."""
        self.settle()
        return ([f"console {level}: {text}" for level, text in self.console()
                 if level in ("error", "warning", "assert")]
                + [f"exception: {text}" for text in self.exceptions()]
                + [f"dialog: {text}" for text in self.dialogs()]
                + [f"request: {url}" for url in self.requests()])

    def timing(self):
        """Milliseconds from the start of navigation until the page was loaded, by its own clock."""
        return self.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")

    def work(self):
        """Seconds of processor time that the page's main thread has worked."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def box(self, selector):
        """[x, y, width, height] of the first element that matches, on the page; None: none does."""
        return self.evaluate(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            if (!element) return null;
            const box = element.getBoundingClientRect();
            return [box.x + scrollX, box.y + scrollY, box.width, box.height];
        }})()""")

    def screenshot(self, selector=None, scale=1.0, most=8000, timeout=None):
        """A PNG's bytes: of one element (its first `most` pixels down), or of what is in view."""
        clip = {}
        if selector is not None:
            box = self.box(selector)
            if not box or not box[2] or not box[3]:
                raise BrowserError(f"{self.url}: nothing to see at {selector}")
            clip = {"clip": {"x": box[0], "y": box[1], "width": box[2],
                             "height": min(box[3], most), "scale": scale}}
        # What is behind another page is not painted.
        self.call("Page.bringToFront")
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                           timeout=timeout, **clip)
        return base64.b64decode(answer["data"])

    def pdf(self, timeout=None):
        """The page as it prints, on paper of the size that it asks for; a PDF's bytes."""
        answer = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True,
                           timeout=timeout)
        return base64.b64decode(answer["data"])

    def download(self, script, timeout=None):
        """(name, bytes) of the file that `script`, a click say, saves."""
        folder = tempfile.mkdtemp(dir=self.browser.folder)
        self.browser.call("Browser.setDownloadBehavior", behavior="allowAndName",
                          downloadPath=folder, eventsEnabled=True)
        before = len(self.browser.events)
        self.evaluate(script)
        begun = self._fresh("Browser.downloadWillBegin", before, timeout)
        guid = begun["guid"]
        self.browser.wait("Browser.downloadProgress", None, timeout, guid=guid, state="completed")
        with open(os.path.join(folder, guid), "rb") as file:
            return begun["suggestedFilename"], file.read()

    def _fresh(self, method, since, timeout):
        """The first event of this name behind the `since` first events of all."""
        patience = timeout or self.browser.timeout
        while True:
            for event in self.browser.events[since:]:
                if event["method"] == method:
                    return event["params"]
            patience = self.browser._read(patience)


def _exception(details):
    thrown = details.get("exception", {})
    place = f"{details.get('url', '')}:{details.get('lineNumber', 0) + 1}"
    return f"{thrown.get('description', details.get('text'))} ({place})"
