"""Models of the Hugging Face hub: fetches the tensors that an analysis reads, by ranges of their files.

usage: python3 -m szego.hub ORG/NAME [--revision REVISION] [--circuits]

szego.checkpoint("ORG/NAME") does the same where no cache has the model. The tensors go to szego's own cache, which has
the form of the hub's: CACHE/models--ORG--NAME/snapshots/COMMIT/ holds config.json; headers.safetensors, which lists
every tensor of the model and has the bytes of none; and part-1.safetensors, part-2.safetensors and so on with tensors
that were fetched. The library reads that folder, and knows which tensors it needs and which are not there. A part
appears when it is whole; what an interruption leaves of one is part-N.safetensors.incomplete, and the next call goes on
behind it. Every file is of one commit.

HF_ENDPOINT names another hub than https://huggingface.co, HF_HUB_OFFLINE=1 forbids to ask it. The token is that of
huggingface_hub, if this is installed, or else HF_TOKEN.
"""
import argparse
import contextlib
import http.client
import ipaddress
import json
import os
import re
import shutil
import socket
import ssl
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from ctypes import byref as _ref
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from . import layout, native
from .arguments import text
from .checkpoints import locate
from .display import plain
from .errors import HubError, LibraryError, SzegoError
from .files import locked, replaced
from .native_tables import results

TIMEOUT, ATTEMPTS, PAUSE = 30.0, 4, 0.5  # seconds without a byte; tries without progress; seconds before the second
_PIECE = 1 << 20
_FIRST = 100_000  # bytes of a file that are asked for first: most headers are shorter
_HEADER_MOST, _SMALL_MOST = 100_000_000, 100_000_000  # of the format; of an index and of the hub's answers
_INDEX = "model.safetensors.index.json"


def _cache() -> str:
    """As lib/checkpoint/hub.c: the library finds there what is written here."""
    home, user = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME", "")
    if not home and not user:
        raise HubError("neither XDG_CACHE_HOME nor HOME is set: set one, for what is fetched goes below it")
    home = home or os.path.join(user, ".cache")
    return os.path.join(user, home[2:], "szego", "hub") if home.startswith("~/") and user else os.path.join(
        home, "szego", "hub")


# ---- HTTP ----------------------------------------------------------------------------------------


def _is_loopback(host: Optional[str]) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def _is_allowed(address: str, local: bool) -> bool:
    """https, or plain http that stays on this machine: where `local` says that the endpoint does."""
    try:
        parts = urllib.parse.urlsplit(address)
    except ValueError:
        return False
    return bool(parts.hostname) and (parts.scheme == "https" or
                                     (local and parts.scheme == "http" and _is_loopback(parts.hostname)))


class _Refused(Exception):
    """An address that is not followed."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows the hub to where its files are. The token goes to no other host."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        old, new = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if not _is_allowed(newurl, old.scheme == "http"):
            raise _Refused(f"it refers to {plain(newurl)}, which is not https")
        made = urllib.request.Request(newurl, headers=dict(req.headers), origin_req_host=req.origin_req_host,
                                      unverifiable=True)
        if (old.scheme, old.netloc) == (new.scheme, new.netloc):
            made.unredirected_hdrs.update(req.unredirected_hdrs)
        return made

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302  # which Python 3.10 lacks


_REMEDIES = {
    401: "there is no such model, or it is private or gated: check the name, or accept its terms at {page} and run: hf "
         "auth login",
    403: "it is private or gated: accept its terms at {page}, and run: hf auth login",
    404: "there is no such model, revision or file: {page} lists them",
    416: "the file is not what it was: {whole} fetches all of it",
    429: "there were too many requests: wait some minutes, and call again: it goes on where it was"}
_AGAIN = (408, 429, 500, 502, 503, 504)


def _token() -> Optional[str]:
    try:
        from huggingface_hub import get_token  # pylint: disable=import-outside-toplevel
        found = get_token()
    except ImportError:
        found = os.environ.get("HF_TOKEN")
    return (found or "").strip() or None


def _piece(response, most: int) -> Optional[bytes]:
    """At most so many bytes of an answer; empty: it has ended; None: it was cut, or too long without a byte."""
    try:
        return response.read1(most)
    except (OSError, http.client.HTTPException):
        return None


class _Repository:
    """A model on the hub, at a revision."""

    def __init__(self, name: str, revision: Optional[str]):
        self.name, self.revision = name, revision or "main"
        self.endpoint = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
        self.whole = f"hf download {name}" + (f" --revision {revision}" if revision else "")
        self.commit = self.revision
        self._opener = urllib.request.build_opener(_Redirects())
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON"):
            raise HubError(f"{name}: no cache has revision {self.revision} whole, and HF_HUB_OFFLINE forbids to ask the hub: "
                           f"unset it, or, where there is a network: {self.whole}")
        if "@" in self.endpoint.partition("//")[2].partition("/")[0]:  # and what is printed has no password
            raise HubError("HF_ENDPOINT: names a user: leave out what stands before the @; HF_TOKEN may hold a token")
        if not _is_allowed(self.endpoint, True):
            raise HubError(f"HF_ENDPOINT={plain(self.endpoint)}: an address with https is needed (http on this machine "
                           "alone)")

    def fail(self, file: str, why: str, code: Optional[int] = None) -> HubError:
        """file: "" is what the hub says of the model, and the first that it is asked for."""
        return HubError(f"{self.name}: " + (plain(file) if file else "no file or folder is called so; a model of the Hugging "
                                            "Face hub") + f": {why}", code)

    def _failed(self, file: str, code: int, reason: str, said: Optional[str]) -> HubError:
        words = f" ({plain(said[:200])})" if said else ""
        remedy = _REMEDIES.get(code, "call again later: it goes on where it was" if code >= 500 else "{whole}")
        return self.fail(file, f"{self.endpoint} answered {code} {plain(reason)}{words}: " + remedy.format(
            page=f"{self.endpoint}/{self.name}", whole=self.whole), code)

    def _opened(self, file: str, address: str, wanted: Optional[str]) -> Tuple[Optional[object], float, HubError]:
        """A response; or None, the seconds after which to try again (negative: never) and the error."""
        request = urllib.request.Request(address, headers={"User-Agent": "szego"})
        token = _token()
        if token and not re.fullmatch("[!-~]+", token):  # what http.client says of it would show it
            raise self.fail(file, "the token has characters that no token has: hf auth login stores another one, and HF_TOKEN "
                            "may hold one")
        if token:
            request.add_unredirected_header("Authorization", f"Bearer {token}")
        if wanted:
            request.add_header("Range", wanted)
        try:
            return self._opener.open(request, timeout=TIMEOUT), 0, HubError("")
        except urllib.error.HTTPError as error:
            with contextlib.closing(error):
                wait = error.headers.get("Retry-After", "")
                return None, (-1 if error.code not in _AGAIN else min(float(wait), 60) if wait.isdigit() else 0), \
                    self._failed(file, error.code, error.reason, error.headers.get("X-Error-Message"))
        except _Refused as error:
            return None, -1, self.fail(file, str(error))
        except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: no address
            cause = getattr(error, "reason", error)
            never = isinstance(cause, (socket.gaierror, ssl.SSLCertVerificationError)) or isinstance(error, ValueError)
            return None, -1 if never else 0, self.fail(
                file, f"{self.endpoint} cannot be reached ({plain(str(cause)) or type(cause).__name__}): check the network, "
                "and call again")

    def _asked(self, file: str, address: str, take: Callable[[object], bool], wanted: Callable[[], Optional[str]] = lambda: None
               ) -> None:
        """take(response) until it is true: false means that the answer ended early. `wanted`: the range to ask for.
        Tries without progress are counted."""
        tries, last = 0, wanted()
        while True:
            response, wait, error = self._opened(file, address, wanted())
            if response is not None:
                error = self.fail(file, f"{self.endpoint} ended its answer early, or sent nothing for {TIMEOUT:g} s: call "
                                  "again: it goes on where it was")
                with contextlib.closing(response):
                    if take(response):
                        return
            tries, last = (0 if wanted() != last else tries + 1), wanted()
            if wait < 0 or tries >= ATTEMPTS:
                raise error
            time.sleep(max(wait, PAUSE * 2**tries))

    def _address(self, file: str) -> str:
        return f"{self.endpoint}/{self.name}/resolve/{urllib.parse.quote(self.commit, safe='')}/{urllib.parse.quote(file)}"

    def small(self, file: str, address: Optional[str] = None):
        """A JSON file, whole: its bytes, and its value."""
        got = []

        def take(response) -> bool:
            data, piece, length = bytearray(), _piece(response, _PIECE), response.headers.get("Content-Length")
            while piece:
                data += piece
                if len(data) > _SMALL_MOST:
                    raise self.fail(file, f"{self.endpoint} sent more than {_SMALL_MOST} bytes where JSON is expected: "
                                    f"{self.whole}")
                piece = _piece(response, _PIECE)
            if piece is None or (length is not None and length != str(len(data))):
                return False
            got.append(bytes(data))
            return True
        self._asked(file, address or self._address(file), take)
        try:
            return got[0], json.loads(got[0], object_pairs_hook=_unique)
        except (ValueError, RecursionError) as error:
            raise self.fail(file, f"what {self.endpoint} sent is no JSON ({plain(str(error))}): is a proxy or a login page "
                            f"between? {self.whole}") from None

    def ranged(self, file: str, first: int, end: int, total: Optional[int], write: Callable[[bytes], object]) -> int:
        """write(bytes) of first .. end - 1 of a file, in order; its size. total None: the size is not known, and the file
        may end before."""
        at, size, short = first, total, end

        def wanted() -> str:
            return f"bytes={at}-{short - 1}"

        def take(response) -> bool:
            nonlocal at, size, short
            got = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", response.headers.get("Content-Range", ""))
            if response.status != 206 or not got:
                raise self.fail(file, f"{self.endpoint} answered {response.status} without the range {wanted()} that it was "
                                f"asked for: {self.whole} fetches all of it", response.status)
            begin, last, size = (int(one) for one in got.groups())
            if total is None:
                short = min(end, size)
            if (begin, last) != (at, short - 1) or (total is not None and size != total) or \
                    response.headers.get("Content-Encoding", "identity") != "identity":
                raise self.fail(file, f"asked for {wanted()} of {total or 'the file'}, {self.endpoint} answered "
                                f"{plain(got[0])}: {self.whole} fetches all of it", response.status)
            while at < short:
                piece = _piece(response, min(_PIECE, short - at))
                if not piece:
                    return False
                write(piece)
                at += len(piece)
            if _piece(response, 1):
                raise self.fail(file, f"{self.endpoint} sent more than it was asked for: {self.whole} fetches all of it")
            return True
        if end > first:
            self._asked(file, self._address(file), take, wanted)
        return size or 0


def _unique(pairs):
    """An object of JSON that names nothing twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name is there twice")
    return made


# ---- What a model has ----------------------------------------------------------------------------


class _Range(NamedTuple):
    """Bytes of a file on the hub, with its size."""
    file: str
    first: int
    end: int
    total: int


def _shards(repository: _Repository, names: List[str]) -> Dict[str, Optional[str]]:
    """Files with tensors -> None, and tensors -> the file that the index gives them."""
    mapped: Dict[str, str] = {}
    if _INDEX in names:
        index = repository.small(_INDEX)[1]
        mapped = index.get("weight_map") if isinstance(index, dict) else None
        if not isinstance(mapped, dict) or not mapped or not all(
                isinstance(one, str) and one in names and one.endswith(".safetensors") for one in mapped.values()):
            raise repository.fail(_INDEX, f"it names no shards, or some that are not there: {repository.whole}")
        found = set(mapped.values())
    elif "model.safetensors" in names:
        found = {"model.safetensors"}
    else:
        found = {name for name in names if name.endswith(".safetensors") and "/" not in name}
    if len(found) != 1 and not mapped or "config.json" not in names or "adapter_config.json" in names:
        raise HubError(f"{repository.name}: revision {repository.revision} has no model.safetensors, or no index of its "
                       f"shards, with a config.json, and is fetched as a whole alone: {repository.whole}")
    return {**dict.fromkeys(found), **mapped}


def _header(repository: _Repository, file: str) -> Tuple[dict, int, int]:
    """The header of a safetensors file: its entries, where the data begin, and the file's size."""
    data = bytearray()
    total = repository.ranged(file, 0, _FIRST, None, data.extend)
    length = struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else _HEADER_MOST + 1
    if length > min(_HEADER_MOST, total - 8):
        raise repository.fail(file, f"its first bytes are those of no safetensors file: {repository.whole}")
    if 8 + length > len(data):
        repository.ranged(file, len(data), 8 + length, total, data.extend)
    try:
        entries = json.loads(bytes(data[8:8 + length]), object_pairs_hook=_unique)
        entries.pop("__metadata__", None)
        for entry in entries.values():
            begin, end = entry["data_offsets"]
            if not 0 <= begin <= end <= total - 8 - length:
                raise ValueError("bytes of a tensor are beyond the file's end")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise repository.fail(file, f"its header is damaged ({plain(str(error))}): {repository.whole}") from None
    return entries, 8 + length, total


def _headers(repository: _Repository, names: List[str]) -> Dict[str, dict]:
    """The entry of every tensor, with `range`, where its bytes are: [file, first, end, size of the file]."""
    found: Dict[str, dict] = {}
    shards = _shards(repository, names)
    for file in sorted(name for name, whose in shards.items() if whose is None):
        entries, start, total = _header(repository, file)
        for name, entry in entries.items():
            if name in found and shards.get(name) not in (file, found[name]["range"][0]):
                raise repository.fail(file, f"tensor {plain(name)} is in {plain(found[name]['range'][0])} too, and no index says "
                                      f"which counts: {repository.whole}")
            if name not in found or shards.get(name) == file:
                begin, end = entry["data_offsets"]
                found[name] = {**entry, "range": [file, start + begin, start + end, total]}
    return found


# ---- szego's cache -------------------------------------------------------------------------------


def _packed(entries: Dict[str, dict], metadata: Dict[str, str]) -> bytes:
    """The beginning of a safetensors file, before its data."""
    said = json.dumps({"__metadata__": metadata, **entries}).encode()
    said += b" " * (-len(said) % 8)
    return struct.pack("<Q", len(said)) + said


def _folder(name: str) -> str:
    return os.path.join(_cache(), "models--" + name.replace("/", "--"))


def _write(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with replaced(path, "wb") as file:
        file.write(data)


def _begin(repository: _Repository) -> None:
    """Writes what the hub says of a revision: its commit, its configuration and its headers."""
    said = repository.small("", f"{repository.endpoint}/api/models/{repository.name}/revision/"
                            f"{urllib.parse.quote(repository.revision, safe='')}")[1]
    try:
        commit, names = said["sha"], [one["rfilename"] for one in said["siblings"]]
        if not re.fullmatch("[0-9a-f]{40,64}", commit) or not all(isinstance(name, str) for name in names):
            raise ValueError
    except (ValueError, TypeError, KeyError):
        raise repository.fail("", f"{repository.endpoint} names no commit and no files: is it a hub? "
                              f"{repository.whole}") from None
    repository.commit = commit
    headers = _headers(repository, names)
    snapshot = os.path.join(_folder(repository.name), "snapshots", commit)
    _write(os.path.join(snapshot, "config.json"), repository.small("config.json")[0])
    path = os.path.join(snapshot, "headers.safetensors")
    _write(path + ".incomplete", _packed({}, {"szego.left_out": json.dumps(headers),
                                              "szego.source": f"{repository.name}@{commit}"}))
    _check(repository, path + ".incomplete")
    os.replace(path + ".incomplete", path)
    _write(os.path.join(_folder(repository.name), "refs", *repository.revision.split("/")), commit.encode())


def _check(repository: _Repository, path: str) -> None:
    """The library's opinion of the headers: types, sizes and numbers of bytes."""
    choices = layout.CheckpointChoices(config=b"")

    def work(context):
        with native.handle(context, "szg_checkpoint_open_chosen", "szg_checkpoint_close", os.fsencode(path), _ref(choices)):
            pass
    try:
        native.run(work, quick=True, reword=lambda message: None)
    except LibraryError as error:
        raise repository.fail("its headers", f"{error}: {repository.whole}") from None


def _ranges(entries: Dict[str, dict]) -> List[_Range]:
    """Of tensors in the order of their bytes: neighbours are one range."""
    made: List[_Range] = []
    for entry in entries.values():
        one = _Range(*entry["range"])
        if made and (made[-1].file, made[-1].end) == (one.file, one.first):
            one = made.pop()._replace(end=one.end)
        made.append(one)
    return made


class _Progress:
    """A line on stderr, if a person sees it."""

    def __init__(self, name: str, total: int, done: int):
        self.name, self.total, self.done, self.shown = name, total, done, 0.0
        self.seen = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)

    def add(self, count: int) -> None:
        self.done += count
        now = time.monotonic()
        if self.seen and (now - self.shown > 0.2 or self.done == self.total):
            self.shown = now
            print(f"\r{self.name}: {self.done / 1e9:.2f} of {self.total / 1e9:.2f} GB", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.seen and self.shown:
            print(file=sys.stderr)


def _open_own(path: str, flags: int) -> int:
    """Not what a link names: it is truncated."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _fetch(repository: _Repository, snapshot: str, entries: Dict[str, dict]) -> None:
    """The next part, with these tensors. What an interrupted call left of the same part is kept."""
    ordered = dict(sorted(entries.items(), key=lambda one: one[1]["range"]))
    at, header = 0, {}
    for name, entry in ordered.items():
        size = entry["range"][2] - entry["range"][1]
        header[name] = {"dtype": entry["dtype"], "shape": entry["shape"], "data_offsets": [at, at + size]}
        at += size
    begin = _packed(header, {"szego.source": f"{repository.name}@{repository.commit}"})
    number = 1
    while os.path.exists(os.path.join(snapshot, f"part-{number}.safetensors")):
        number += 1
    path = os.path.join(snapshot, f"part-{number}.safetensors")
    with open(path + ".incomplete", "a+b", opener=_open_own) as file:
        file.seek(0)
        if file.read(len(begin)) != begin:
            file.truncate(0)
            file.write(begin)
        done = file.seek(0, os.SEEK_END) - len(begin)
        if done > at or at - done > shutil.disk_usage(snapshot).free:
            raise HubError(f"{repository.name}: {(at - done) / 1e9:.2f} GB are to be fetched, and {snapshot} has no room for "
                           "them: make room, or set XDG_CACHE_HOME to another folder" if done <= at else
                           f"{path}.incomplete: is longer than the part: remove it, and call again")
        progress = _Progress(repository.name, at, done)

        def write(piece: bytes) -> None:
            file.write(piece)
            file.flush()
            progress.add(len(piece))
        try:
            for one in _ranges(ordered):
                skipped = min(done, one.end - one.first)
                done -= skipped
                repository.ranged(one.file, one.first + skipped, one.end, one.total, write)
        finally:
            progress.end()
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".incomplete", path)


# ---- What is needed ------------------------------------------------------------------------------


class Plan(NamedTuple):
    """folder: the snapshot's; stacks: of the model; wanted: tensors that the library says it needs and no file has."""
    folder: str
    stacks: List[str]
    wanted: List[str]


def _plan(path: bytes, choices, options, threads: Optional[int]) -> Plan:
    planned = type(options).from_buffer_copy(options)
    planned.dry_run = True
    bare = type(choices).from_buffer_copy(choices)
    bare.adapter = None  # it changes tensors that are needed anyway

    def work(context):
        with native.handle(context, "szg_checkpoint_open_chosen", "szg_checkpoint_close", path, _ref(bare)) as opened:
            facts = native.library().szg_checkpoint_describe(opened)
            if facts.unknown:
                raise HubError(f"{os.fsdecode(path)}: {text(facts.unknown)}, so that every weight is needed: hf download "
                               f"{os.fsdecode(path)}")
            with native.filled(context, "szg_checkpoint_analyse", "szg_checkpoint_tables_close",
                               layout.CheckpointTables(), opened, _ref(planned)) as found:
                rows = results("checkpoint", {"tensors": found.tensors})["checkpoint_tensors"]
            absent = np.ma.getmaskarray(rows["file"]) & (np.ma.getdata(rows["used"]) != "none")
            source, stack = str(text(facts.source)), text(facts.stack)
            return Plan(source[:-len(f" ({stack})")] if stack else source, (text(facts.stacks) or "").split("+"),
                        np.ma.getdata(rows["tensor"])[absent].tolist())
    return native.run(work, threads, reword=lambda message: None)


def provide(path: bytes, choices, options, threads: Optional[int], *, renew: bool = False) -> Optional[Plan]:
    """Fetches what this analysis needs, if the path is a name of the hub that its cache has not; of a dry run that is
    what the headers say. renew: asks the hub which commit the revision is now."""
    name, revision = os.fsdecode(path), text(choices.revision)
    place = locate(path, choices.revision)
    if place in ("path", "hub") or ":" in name:  # a file of a model is fetched as a whole: the library says how
        return None
    try:
        if place == "fetched" and not renew:  # whoever only reads needs no lock
            plan = _plan(path, choices, options, threads)
            if not plan.wanted or options.dry_run:
                return plan
        with locked(_folder(name)), _removed_if_empty(_folder(name)):
            if place == "nowhere" or renew:
                _begin(_Repository(name, revision))
            plan = _plan(path, choices, options, threads)
            if plan.wanted and not options.dry_run:
                repository, entries = _Repository(name, revision), _left_out(plan.folder)
                repository.commit = os.path.basename(plan.folder)
                _fetch(repository, plan.folder, {one: entries[one] for one in plan.wanted})
            return plan
    except OSError as error:
        raise SzegoError(f"{name}: szego's cache {_folder(name)}: {error}") from None


@contextlib.contextmanager
def _removed_if_empty(folder: str):
    """What is left of a name that the hub does not know. Whoever calls it has locked the folder."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _left_out(snapshot: str) -> Dict[str, dict]:
    path = os.path.join(snapshot, "headers.safetensors")
    try:
        with open(path, "rb") as file:
            said = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        entries = json.loads(said["__metadata__"]["szego.left_out"])
        for entry in entries.values():
            name, first, end, total = entry["range"]
            begin, stop = entry["data_offsets"]
            if not isinstance(name, str) or not 0 <= first <= end <= total or end - first != stop - begin:
                raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, struct.error):
        raise SzegoError(f"{path}: is damaged: remove {os.path.dirname(os.path.dirname(snapshot))}, and call again") from None
    return entries


def main() -> None:
    parser = argparse.ArgumentParser("python3 -m szego.hub", description="Fetches the tensors of a model of the Hugging Face "
                                     "hub that `szego checkpoint` reads: queries, keys, norms, biases, positions and "
                                     "embeddings.")
    parser.add_argument("name", metavar="ORG/NAME")
    parser.add_argument("--revision", help="a branch, a tag or a whole commit (default main)")
    parser.add_argument("--circuits", action="store_true", help="values and outputs too, for szego checkpoint --circuits")
    asked = parser.parse_args()
    name, options = os.fsencode(asked.name), layout.CheckpointOptions(circuits=asked.circuits)
    choices = layout.CheckpointChoices(revision=os.fsencode(asked.revision) if asked.revision else None)
    try:
        place = locate(name, choices.revision)
        if place == "path" or b":" in name:
            sys.exit(f"szego.hub: {asked.name}: is a path, or no name of a model, ORG/NAME")
        if place == "hub":
            sys.exit(f"szego.hub: {asked.name}: the hub's cache has it whole: szego checkpoint {asked.name}")
        plan = provide(name, choices, options, None, renew=True)
        for stack in plan.stacks[1:]:
            choices.stack = stack.encode()
            provide(name, choices, options, None)
        print(plan.folder)
    except SzegoError as error:
        sys.exit(f"szego.hub: {error}")


if __name__ == "__main__":
    main()
