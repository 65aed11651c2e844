"""What was to be run and asked: the preset's runs in their order, its hypotheses, relations and courses by step.

docs/how-to/reproduce.md describes preset files. The library checks one that is named. That of a manifest was checked
before it was written: what is read here is checked as far as it is used."""
import contextlib
import ctypes
import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, Optional, Tuple

from .. import layout, native
from ..errors import ArgumentError, DataError
from ..folders import FORMAT, _member as member, _read_file as read_file, is_there, read_json

METHODS = ("output", "values", "latent_columns", "cumulative", "rotation")
CAPTURED = ("contraction", "curvature", "curvature_adamw")
MEASURES = ("index", "accuracy", "steps_to_half", "rank_correlation", "total_drop")
_LIMIT = 256 << 20
_WRITTEN = {"format": FORMAT, "command": "reproduce"}  # what the manifest of `szego reproduce` says
_NAME_IT = "name the preset of its runs (preset)"
_FOLDER = re.compile(r"[a-z0-9_-]{1,64}")
_HERE = os.path.dirname(os.path.abspath(__file__))


class Arm(NamedTuple):
    """The runs of an experiment with one encoding."""
    experiment: str
    encoding: str

    @property
    def name(self) -> str:
        return f"{self.experiment}/{self.encoding}"


class Quantity(NamedTuple):
    """A number of a run. layer: None: the measure has none, or all layers count; step: a captured one, None: all
    early steps."""
    measure: str
    layer: Optional[int] = None
    step: Optional[int] = None


class Hypothesis(NamedTuple):
    name: str
    statement: str
    task: str
    of: Quantity
    arm: Arm
    minus: List[Arm]
    primary: bool


class Relation(NamedTuple):
    name: str
    statement: str
    task: str
    x: Quantity
    y: Quantity
    arms: List[Arm]


class Course(NamedTuple):
    """An arm, and others that are the same runs stopped early."""
    task: str
    arms: List[Arm]  # the first is the whole one


class HeadRule(NamedTuple):
    """The run intervenes on a head of another run of its seed and task."""
    of: Arm
    layer: int
    other: bool  # not the head with the largest drop: one of the others


@dataclass(eq=False)
class PlannedRun:
    """One run of the preset. `encoding` is as its configuration spells it, once that is known."""
    name: str
    experiment: str
    like: Optional[str]
    encoding: str
    task: str
    seed: int
    rotated: Optional[int]  # heads with RoPE, the first ones; None: it is not of the sweep
    methods: Tuple[str, ...]
    head: Optional[HeadRule]
    words: Tuple[int, ...]  # of longer sequences
    examples: int
    keys: Dict[str, object]  # that the preset sets, dotted
    config: Dict[str, object] = field(default_factory=dict)  # all keys, dotted; empty: not known

    @property
    def arm(self) -> Arm:
        return Arm(self.experiment, self.encoding)


@dataclass(eq=False)
class Plan:
    """place: of the preset, for messages; document: the preset itself."""
    place: str
    document: dict
    provenance: dict  # of the folder's manifest; empty: it has none
    runs: List[PlannedRun]
    early_steps: Optional[int] = None
    hypotheses: List[Hypothesis] = field(default_factory=list)
    relations: List[Relation] = field(default_factory=list)
    courses: List[Course] = field(default_factory=list)

    def of(self, arm: Arm, task: Optional[str] = None) -> List[PlannedRun]:
        """The runs of an arm, in the preset's order."""
        return [run for run in self.runs if run.arm == arm and task in (None, run.task)]


# ---- Where the preset is ------------------------------------------------------------------------


def read_plan(folder: str, preset=None) -> Plan:
    """The plan of the runs in a folder: of the preset that is given (a dict, the path of a file, or a name of those
    that are installed), or of the one that the folder's manifest holds."""
    provenance = _provenance(folder, preset is not None)
    if preset is None:
        if "preset" not in provenance:
            raise DataError(f"{os.path.join(folder, 'manifest.json')}: provenance: has no preset: {_NAME_IT}")
        place, document = f"{os.path.join(folder, 'manifest.json')}: preset", provenance["preset"]
    else:
        place, document = _find_preset(preset)
    plan = _expand(place, document, provenance)
    if document == provenance.get("preset"):
        _take_configs(plan, provenance.get("configs"))
    return plan


def _provenance(folder: str, is_named: bool) -> dict:
    """Of the manifest. Where the preset is named, another command's manifest, or none, is as good."""
    path = os.path.join(folder, "manifest.json")
    if not is_there(path):
        if is_named:
            return {}
        raise DataError(f"{folder}: has no manifest.json from `szego reproduce`: {_NAME_IT}")
    try:
        root = read_json(read_file(path, _LIMIT), path)
    except DataError as error:
        raise DataError(f"{error}: copy it again, or remove it and name the preset of its runs (preset)") from None
    written = {key: root.get(key) for key in _WRITTEN} if isinstance(root, dict) else {}
    if written == _WRITTEN:
        return member(path, root, "provenance", dict)
    if is_named:
        return {}
    key = next(key for key in _WRITTEN if written.get(key) != _WRITTEN[key])
    raise DataError(f"{path}: {key}: is {str(written.get(key))[:80]}, and {_WRITTEN[key]} is needed: {_NAME_IT}")


def _find_preset(preset):
    """(what it is called, the document)."""
    if isinstance(preset, dict):
        return "preset", preset
    name = os.fspath(preset)
    if name.endswith(".json") or os.sep in name:
        return name, read_json(read_file(name, _LIMIT), name)
    # Beside the package as pip installs it, as meson does, in the source tree, and as Debian does.
    places = [os.path.normpath(os.path.join(_HERE, up, "presets", f"{name}.json"))
              for up in ("..", "../../..", "../../../..", "/usr/share/szego")]
    found = next((path for path in places if os.path.exists(path)), None)
    if found is None:
        raise DataError(f"preset {name!r}: there is no such preset in {os.path.dirname(places[0])} and the other "
                        "places where szego installs them: name its file (./my.json)")
    return found, read_json(read_file(found, _LIMIT), found)


def check_preset(preset) -> None:
    """DataError: what `szego reproduce` refuses. None is no preset."""
    if isinstance(preset, dict):
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="ascii") as file:
            try:
                json.dump(preset, file, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as error:
                raise DataError(f"preset: is no JSON: {error}") from None
            file.flush()
            _check_file(file.name, "preset")
    elif preset is not None:
        place, _ = _find_preset(preset)
        _check_file(place, place)


def _check_file(path: str, place: str) -> None:
    def work(context: native.Context) -> None:
        options = layout.ReproductionOptions(preset=os.fsencode(path))
        with native.handle(context, "szg_reproduction_open", "szg_reproduction_close", ctypes.byref(options)):
            pass
    try:
        native.run(work, quick=True)
    except ArgumentError as error:
        raise DataError(str(error).replace(path, place, 1)) from None


def flat(place: str, sections: Dict[str, object]) -> Dict[str, object]:
    """{"model": {"width": 64}} as {"model.width": 64}; the values are texts, numbers and truth values."""
    made: Dict[str, object] = {}
    for section, value in sections.items():
        if isinstance(value, dict):
            made.update({f"{section}.{key}": one for key, one in value.items()})
        else:
            made[section] = value
    bad = next((key for key, value in made.items() if isinstance(value, (dict, list))), None)
    if bad is not None:
        raise DataError(f"{place}: {bad} is neither a text nor a number")
    return made


def _integer(place: str, key: str, value, most: int = 2**63 - 1) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise DataError(f"{place}: {key} is {str(value)[:40]!r}, not an integer from 0"
                        f"{f' to {most}' if most < 2**63 - 1 else ''}")
    return value


@contextlib.contextmanager
def reading(place: str, remedy: str = _NAME_IT):
    """A preset or configuration in which something is of another kind than the program would let through."""
    try:
        yield
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{place}: is not what `szego reproduce` accepts ({type(error).__name__}: "
                        f"{_printable(error)}): {remedy}") from None


def _printable(error: Exception) -> str:
    return str(error).encode(errors="replace").decode()


def _take_configs(plan: Plan, configs) -> None:
    """The configurations that the program recorded, those of runs that are not finished among them."""
    place = f"{plan.place.removesuffix(': preset')}: configs"
    with reading(place):
        by_name = {name: flat(place, entry["config"]) for entry in configs or () for name in entry["runs"]}
    for run in plan.runs:
        run.config = by_name.get(run.name, {})


# ---- Runs ---------------------------------------------------------------------------------------


def _expand(place: str, root, provenance: dict) -> Plan:
    experiments = member(place, root, "experiments", list)
    first: Dict[str, dict] = {}
    for index, part in enumerate(experiments):
        name = member(f"{place}: experiments[{index}]", part, "name", str)
        if not _FOLDER.fullmatch(name):
            raise DataError(f"{place}: experiments[{index}]: name is {name[:80]!r}, not lower-case letters, digits, _ "
                            "and -: it names a folder")
        first.setdefault(name, part)
    plan = Plan(place, root, provenance, [])
    for at, seed in enumerate(member(place, root, "seeds", list)):
        for index, part in enumerate(experiments):
            with reading(f"{place}: experiments[{index}]"):
                reader = _Experiment(f"{place}: experiments[{index}]", root, part, first)
                own = part.get("seeds")
                for one in [seed] if own is None else own if at == 0 else []:
                    plan.runs += reader.runs(_integer(reader.place, "a seed", one))
    if not plan.runs:
        raise DataError(f"{place}: experiments: names no run: seeds, tasks and encodings are needed")
    names = [run.name for run in plan.runs]
    twice = next((name for name in set(names) if len(set(names)) < len(names) and names.count(name) > 1), None)
    if twice:
        raise DataError(f"{place}: two runs would have the folder {twice}: give experiments different names, "
                        "encodings and seeds once")
    _read_questions(plan, place, root)
    return plan


class _Experiment:
    """An experiment of the file, which may go on with the first one of its name."""

    def __init__(self, place: str, root: dict, part: dict, first: Dict[str, dict]):
        self.place, self.root, self.part = place, root, part
        self.origin = first[part["name"]]
        self.like = self.origin.get("like")
        if self.like is not None and self.like not in first:
            raise DataError(f"{place}: like: {self.like!r} is not an experiment above this one")
        self.base = first[self.like] if self.like else {}

    def _inherited(self, name: str):
        return self.origin.get(name, self.base.get(name))

    def runs(self, seed: int) -> List[PlannedRun]:
        known = member(self.place, self.root, "tasks", dict)
        made = []
        for task in self.part.get("tasks", known):
            if task not in known:
                raise DataError(f"{self.place}: tasks: {task!r} is not a task that `tasks` of the preset describes")
            made += [self._run(task, encoding, seed, None)
                     for encoding in member(self.place, self.part, "encodings", list)]
            counts = [_integer(self.place, "rotated_heads", one, 1023) for one in self.part.get("rotated_heads", ())]
            made += [self._run(task, f"rope:rotate=0-{count - 1}", seed, count) for count in counts]
        return made

    def _run(self, task: str, encoding: str, seed: int, rotated: Optional[int]) -> PlannedRun:
        first = self.base if self.like else self.origin
        keys: Dict[str, object] = {"data.task": task, "model.encoding": self._spelled(encoding, first)}
        if "profile" in first:
            keys["profile"] = first["profile"]
        for sections in (self.root.get("config"), self.root["tasks"][task], self.base.get("config"),
                         self.origin.get("config")):
            keys.update(flat(self.place, sections or {}))
        length, name = self._inherited("length") or {}, self.part["name"]
        return PlannedRun(f"{name}/{task}/{_dashed(encoding)}/run-{seed}", name, self.like,
                          str(keys["model.encoding"]), task, seed, rotated, self._methods(encoding), self._head(),
                          tuple(_integer(self.place, "length: words", one) for one in length.get("words", ())),
                          _integer(self.place, "length: examples", length.get("examples", 2000)), keys)

    @staticmethod
    def _spelled(encoding: str, first: dict) -> str:
        """As the configuration of the run has it: the released code's ALiBi has slopes of its own."""
        return "alibi:slopes=exp" if first.get("profile") == "released" and encoding == "alibi" else encoding

    def _methods(self, encoding: str) -> Tuple[str, ...]:
        """Rotation is of encodings that rotate, and the latent columns of decoupled rotary parts."""
        wanted = self._inherited("ablation") or ()
        wanted, family = ("output",) if wanted is True else tuple(wanted), encoding.partition(":")[0]
        unknown = next((one for one in wanted if one not in METHODS), None)
        if unknown is not None:
            raise DataError(f"{self.place}: ablation: {unknown!r} is none of {', '.join(METHODS)}")
        without = {"rope": ("latent_columns",), "rope+absolute": ("latent_columns",), "mla": ()}
        left_out = without.get(family, ("latent_columns", "rotation"))
        return tuple(method for method in METHODS if method in wanted and method not in left_out)

    def _head(self) -> Optional[HeadRule]:
        rule = self.origin.get("head")
        if rule is None:
            return None
        place = f"{self.place}: head"
        arm = Arm(member(place, rule, "of", str), member(place, rule, "encoding", str))
        return HeadRule(arm, member(place, rule, "layer", int), member(place, rule, "which", str) == "other")


def _dashed(encoding: str) -> str:
    """The SPEC's punctuation as dashes, byte by byte."""
    return "".join(chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "+.") else "-"
                   for byte in encoding.encode())


# ---- Questions ----------------------------------------------------------------------------------


def _read_questions(plan: Plan, place: str, root: dict) -> None:
    if root.get("early_steps") is not None:
        plan.early_steps = _integer(place, "early_steps", root["early_steps"])
    readers = {"hypotheses": _hypothesis, "relations": _relation, "by_step": _course}
    found: Dict[str, list] = {}
    for name, read in readers.items():
        with reading(f"{place}: {name}"):
            found[name] = [read(_Question(f"{place}: {name}[{index}]", root, one), plan)
                           for index, one in enumerate(root.get(name, ()))]
    plan.hypotheses, plan.relations, plan.courses = (found[name] for name in readers)


class _Question:
    """A hypothesis, relation or course of the file."""

    def __init__(self, place: str, root: dict, given):
        self.place, self.root, self.given = place, root, given

    def text(self, key: str) -> str:
        return member(self.place, self.given, key, str)

    def task(self) -> str:
        """It may be left out if the preset has one."""
        tasks = list(self.root["tasks"])
        return tasks[0] if "task" not in self.given and len(tasks) == 1 else self.text("task")

    def arm(self, key: str) -> Arm:
        return _arm(f"{self.place}: {key}", member(self.place, self.given, key, dict))

    def arms(self, key: str) -> List[Arm]:
        return [_arm(f"{self.place}: {key}[{index}]", one)
                for index, one in enumerate(member(self.place, self.given, key, list))]

    def quantity(self, place: str, given: dict, known) -> Quantity:
        measure = member(place, given, "measure", str)
        if measure not in known:
            raise DataError(f"{place}: measure {measure!r} is none of {', '.join(known)}")
        if measure in ("index", "rank_correlation", "total_drop"):
            member(place, given, "layer", int)
        layer, step = (None if given.get(key) is None else _integer(place, key, given[key]) for key in ("layer", "step"))
        return Quantity(measure, layer, step)


def _arm(place: str, given) -> Arm:
    return Arm(member(place, given, "experiment", str), member(place, given, "encoding", str))


def _hypothesis(given: _Question, _plan: Plan) -> Hypothesis:
    return Hypothesis(given.text("name"), given.text("text"), given.task(),
                      given.quantity(given.place, given.given, MEASURES), given.arm("arm"),
                      given.arms("minus") if "minus" in given.given else [], given.given.get("primary") is True)


def _relation(given: _Question, plan: Plan) -> Relation:
    task = given.task()
    x, y = (given.quantity(f"{given.place}: {side}", member(given.place, given.given, side, dict), MEASURES + CAPTURED)
            for side in "xy")
    arms = (given.arms("arms") if "arms" in given.given
            else list(dict.fromkeys(run.arm for run in plan.runs if run.task == task)))
    return Relation(given.text("name"), given.text("text"), task, x, y, arms)


def _course(given: _Question, _plan: Plan) -> Course:
    return Course(given.task(), [given.arm("arm"), *(given.arms("stopped") if "stopped" in given.given else [])])
