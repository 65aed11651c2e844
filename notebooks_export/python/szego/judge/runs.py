"""What the runs left in their folders, checked when it is read."""
import functools
import itertools
import math
import os
import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

import numpy as np

from ..csvfile import read as read_csv
from ..errors import DataError
from ..folders import _member as member, _read_file as read_file, is_there, read_json
from ..tables import Column, array
from .draws import other_head
from .plan import METHODS, Arm, Plan, PlannedRun, flat, reading

_REMEDY = ("copy the run's folder again, or remove finished.json from it, and `szego reproduce` finishes the run "
           "again")
_LIMIT = 256 << 20
_WORD = re.compile(r"[a-z_]+")
_INDICES = re.compile(r"none|[0-9]{1,4}(-[0-9]{1,4})?([+][0-9]{1,4}(-[0-9]{1,4})?)*")
_ABLATIONS = {"output": "ablation.csv", **{method: f"ablation_{method}.csv" for method in METHODS[1:]}}


class Ablation(NamedTuple):
    """Accuracies without each head, and how many heads of each layer something is taken from."""
    path: str
    method: str
    whole: float
    heads: np.ndarray  # [layers, heads]
    able: np.ndarray  # [layers]

    def drops(self, layer: int) -> np.ndarray:
        """What the loss of each head of a layer costs; negative: a gain. DataError: the preset of a manifest that was
        changed asks for a layer that is not there."""
        if not 0 <= layer < len(self.heads):
            raise DataError(f"{self.path}: has {len(self.heads)} layers, and the preset asks for layer {layer}: layers "
                            "count from 0")
        return self.whole - self.heads[layer]


class Run:
    """A run of the plan, and what its folder says. finished, failed: it has ended; left_out: there is no head to
    intervene on, so that it will never be trained; else it is missing."""

    def __init__(self, planned: PlannedRun, folder: str):
        self.planned, self.folder = planned, folder
        self._ablations: Dict[str, Ablation] = {}
        self.name, self.arm, self.task, self.seed = planned.name, planned.arm, planned.task, planned.seed
        self.facts = self._ending("finished.json")
        self.failed, self.left_out = self._ending("failed.json") is not None, False
        if self.finished and self.failed:
            raise DataError(f"{self.path('failed.json')}: says that the run failed, and finished.json that it is "
                            "finished: remove the one that is not of this run")
        if self.facts is not None:
            self._check_facts()

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    @property
    def finished(self) -> bool:
        return self.facts is not None

    @property
    def missing(self) -> bool:
        return not (self.finished or self.failed or self.left_out)

    # ---- finished.json --------------------------------------------------------------------------

    def _ending(self, name: str) -> Optional[dict]:
        """finished.json or failed.json, of this run; None: it is not there."""
        path = self.path(name)
        if not is_there(path):
            return None
        try:
            root = read_json(read_file(path, _LIMIT), path)
        except DataError as error:
            raise DataError(f"{error}: {_REMEDY}") from None
        config = flat(f"{path}: config", member(path, root, "config", dict))
        if member(path, root, "seed", int) != self.seed:
            raise DataError(f"{path}: seed is {root['seed']}, and the folder is that of seed {self.seed}: the same run "
                            "lies in two folders, or it was moved: remove the one that is not of this run")
        self._check_config(path, config)
        self.planned.config = self.planned.config or config
        self.planned.encoding = str(config.get("model.encoding", self.planned.encoding))
        self.arm = self.planned.arm
        return root

    def _check_config(self, path: str, config: Dict[str, object]) -> None:
        """Keys that both configurations have are equal. A preset may spell a text in another way, unless it is a
        word or the encoding, of which the plan knows the spelling."""
        wanted = self.planned.config or self.planned.keys
        for key, value in wanted.items():
            found = config.get(key)
            comparable = _is_number(value) and _is_number(found) or (
                isinstance(value, (str, bool)) and type(value) is type(found) and
                (wanted is self.planned.config or isinstance(value, bool) or key == "model.encoding" or
                 bool(_WORD.fullmatch(str(value)) and _WORD.fullmatch(str(found)) and found != "all")))
            if comparable and value != found:
                raise DataError(f"{path}: config.{key} is {found!r}, and the plan's run {self.name} has {value!r}: it "
                                "is another run's folder, or of another preset: name that preset, or remove the "
                                "folder")

    def _check_facts(self) -> None:
        path, facts = self.path("finished.json"), self.facts or {}
        for name in ("steps", "epochs", "test_examples"):
            if member(path, facts, name, int) < 0:
                raise DataError(f"{path}: {name} is {facts[name]}, not an integer from 0: {_REMEDY}")
        for name in ("test_accuracy", "whole", "majority", "by_length", "ceiling"):
            if name not in facts:
                raise DataError(f"{path}: {name} is missing: {_REMEDY}")
            if facts[name] is not None and not (_is_number(facts[name]) and 0 <= facts[name] <= 1):
                raise DataError(f"{path}: {name} is {facts[name]!r}, not in 0 .. 1, or null: {_REMEDY}")
        self._check_accuracy(path, facts)
        most = self.planned.config.get("loop.epochs")
        if _is_number(most) and facts["epochs"] > most:
            raise DataError(f"{path}: epochs is {facts['epochs']}, and config.loop.epochs {most}: {_REMEDY}")

    def _check_accuracy(self, path: str, facts: dict) -> None:
        """They are known where there are test examples. Heads are ablated on the same ones, so `whole` is the same
        accuracy again: a GPU may round an example to another side."""
        accuracy, whole, examples = facts["test_accuracy"], facts["whole"], facts["test_examples"]
        name = next((one for one in ("test_accuracy", "whole") if facts[one] is None), None)
        if examples > 0 and name:
            raise DataError(f"{path}: {name} is null, and test_examples is {examples}: {_REMEDY}")
        if examples > 0 and abs(accuracy - whole) > max(0.01, 1.5 / examples):
            raise DataError(f"{path}: whole is {whole}, and test_accuracy {accuracy}, of the same examples: {_REMEDY}")

    def settings(self) -> Dict[str, object]:
        """What runs of one kind have in common: all keys but the head that another run names, and the sizes of the
        data."""
        made = {key: value for key, value in self.planned.config.items()
                if self.planned.head is None or key not in ("intervention.layer", "intervention.head")}
        return {**made, **{name: (self.facts or {})[name] for name in ("train_examples", "test_examples")
                           if name in (self.facts or {})}}

    def fact(self, name: str) -> float:
        """A number of finished.json; NaN: it is not known."""
        value = (self.facts or {})[name]
        return math.nan if value is None else float(value)

    @property
    def steps(self) -> int:
        return int((self.facts or {})["steps"])

    @property
    def layers(self) -> int:
        return self._size("model.layers")

    @property
    def heads(self) -> int:
        return self._size("model.heads")

    def _size(self, key: str) -> int:
        size = self.planned.config.get(key, self.planned.keys.get(key))
        if not isinstance(size, int) or not 1 <= size < 1024:
            raise DataError(f"{self.path('finished.json')}: config.{key} is {size!r}, not an integer in 1 .. 1023: "
                            f"{_REMEDY}")
        return size

    # ---- Tables ---------------------------------------------------------------------------------

    def _table(self, name: str, wanted: Dict[str, str], later: Iterable[str] = (), optional: bool = False):
        """The columns `wanted`, by their types; None: the file is not there and need not be. A column of `later` may
        be missing, and is empty."""
        path = self.path(name)
        if not is_there(path):
            if optional:
                return None
            raise DataError(f"{path}: is missing, and finished.json says that the run is finished: {_REMEDY}")
        header, *cells = read_csv(read_file(path), path)
        by_name = dict(zip(header, zip(*cells) if cells else [()] * len(header)))
        made = {}
        for column, kind in wanted.items():
            if column not in by_name and column not in later:
                raise DataError(f"{path}: column {column} is missing: {_REMEDY}")
            one = Column(column, kind, "", by_name.get(column, (None,) * len(cells)))
            one.check(path)
            made[column] = np.ma.filled(array(kind, one.cells), {"integer": -1, "real": math.nan, "text": ""}[kind])
        return made

    def _fail_rows(self, name: str, bad: np.ndarray, what: str) -> None:
        if bad.any():
            raise DataError(f"{self.path(name)}: row {int(np.argmax(bad)) + 2}: {what}: {_REMEDY}")

    @functools.cached_property
    def curve(self) -> Tuple[np.ndarray, np.ndarray]:
        """(steps done, accuracy) of the test split by epoch; NaN: it is not known."""
        name = "metrics.csv"
        log = self._table(name, {"seed": "integer", "epoch": "integer", "step": "integer", "split": "text",
                                 "accuracy": "real"})
        self._fail_rows(name, log["seed"] != self.seed, f"seed is not {self.seed}")
        self._fail_rows(name, ~np.isin(log["split"], ("train", "test")), "split is neither train nor test")
        self._fail_rows(name, log["step"] < 0, "step is not 0 or more")
        self._fail_rows(name, (log["accuracy"] < 0) | (log["accuracy"] > 1), "accuracy is not in 0 .. 1")
        for split in ("train", "test")[:1 + ((self.facts or {})["test_examples"] > 0)]:
            epochs = log["epoch"][log["split"] == split]
            if len(epochs) < (self.facts or {})["epochs"] or (epochs != np.arange(1, len(epochs) + 1)).any():
                raise DataError(f"{self.path(name)}: epochs of split {split} are not 1, 2, .. "
                                f"{(self.facts or {})['epochs']}: {_REMEDY}")
        tested = log["split"] == "test"
        self._check_end(name, log["step"], log["accuracy"][tested])
        return log["step"][tested], log["accuracy"][tested]

    def _check_end(self, name: str, step: np.ndarray, accuracy: np.ndarray) -> None:
        """The log ends where finished.json says."""
        self._fail_rows(name, np.diff(step, prepend=0) < 0, "step is below that of the row before")
        if (int(step[-1]) if len(step) else 0) != self.steps:
            raise DataError(f"{self.path(name)}: ends at step {step[-1] if len(step) else 0}, and finished.json says "
                            f"{self.steps} steps: {_REMEDY}")
        last = float(accuracy[-1]) if len(accuracy) else math.nan
        if not (last == self.fact("test_accuracy") or math.isnan(last)):
            raise DataError(f"{self.path(name)}: the last accuracy of split test is {last}, and finished.json says "
                            f"{self.fact('test_accuracy')}: {_REMEDY}")

    @functools.cached_property
    def contraction(self) -> Optional[Dict[str, np.ndarray]]:
        """Captured logits; None: there are none."""
        log = self._table("contraction.csv", {"step": "integer", "layer": "integer", "head": "integer", "probe": "text",
                                              "width_ratio": "real", "grad_norm_qk": "real"}, ("grad_norm_qk",), True)
        if log is not None:
            self._fail_rows("contraction.csv", log["width_ratio"] < 0, "width_ratio is below 0")
            with reading(f"{self.path('finished.json')}: config", _REMEDY):
                self._check_captured(log)
        return log

    def _check_captured(self, log: Dict[str, np.ndarray]) -> None:
        """Every layer, head and probe once at each step that the configuration captures."""
        path, config = self.path("contraction.csv"), self.planned.config
        rows = list(zip(*(log[name].tolist() for name in ("step", "layer", "head", "probe"))))
        probes, steps = ({row[at] for row in rows} for at in (3, 0))
        count = min(int(config.get("capture.probes", len(probes))), int(self.fact("test_examples")))
        if len(probes) != count:
            raise DataError(f"{path}: has {len(probes)} probes, and {count} were captured: {_REMEDY}")
        every, until = (int(config.get(f"capture.{key}", 0)) for key in ("every", "until"))
        if every > 0:
            steps = set(range(0, min(self.steps, until or self.steps), every))
        places = [range(size) if config.get(key, "all") == "all" else self._indices(config[key])
                  for key, size in (("capture.layers", self.layers), ("capture.heads", self.heads))]
        wanted = set(itertools.product(steps, *places, probes))
        for bad in sorted(wanted.symmetric_difference(rows))[:1]:
            raise DataError(f"{path}: step {bad[0]}, layer {bad[1]}, head {bad[2]}, probe {bad[3]}: "
                            f"{'is missing' if bad in wanted else 'is not what config.capture names'}: {_REMEDY}")
        if len(rows) > len(wanted):
            raise DataError(f"{path}: has a step, layer, head and probe twice: {_REMEDY}")

    @functools.cached_property
    def curvature(self) -> Optional[Dict[str, np.ndarray]]:
        """None: it was not measured."""
        return self._table("curvature.csv", {"step": "integer", "hessian_max": "real", "adamw_max": "real"}, (), True)

    @functools.cached_property
    def lengths(self) -> Dict[str, np.ndarray]:
        """Accuracy on longer sequences."""
        name, words = "length.csv", self.planned.words
        log = self._table(name, {"words": "integer", "factor": "real", "scaling": "text", "examples": "integer",
                                 "accuracy": "real", "label_ceiling": "real"})
        self._fail_rows(name, ~np.isin(log["words"], words) | (log["examples"] != self.planned.examples),
                        f"is not of {self.planned.examples} sequences of {', '.join(map(str, words))} words, which "
                        "the preset asks for")
        self._fail_rows(name, ~((log["accuracy"] >= 0) & (log["accuracy"] <= 1)), "accuracy is not in 0 .. 1")
        tests = list(zip(log["words"].tolist(), log["scaling"]))
        if [one for one, scaling in tests if scaling == "none"] != list(words) or len(set(tests)) < len(tests):
            raise DataError(f"{self.path(name)}: words, scaling: not every length of the preset is there once, in its "
                            f"order: {_REMEDY}")
        return log

    # ---- Ablations ------------------------------------------------------------------------------

    def ablation(self, method: str) -> Ablation:
        """Accuracies without each head by one way of taking it away."""
        if method not in self._ablations:
            self._ablations[method] = self._read_ablation(method)
        return self._ablations[method]

    def _read_ablation(self, method: str) -> Ablation:
        name, (layers, heads) = _ABLATIONS[method], (self.layers, self.heads)
        rows = self._table(name, {"seed": "integer", "layer": "integer", "head": "integer", "accuracy": "real",
                                  "method": "text"}, ("method",))
        layer, head, accuracy, said = (rows[key] for key in ("layer", "head", "accuracy", "method"))
        untested = (self.facts or {})["test_examples"] == 0
        self._fail_rows(name, rows["seed"] != self.seed, f"seed is not {self.seed}")
        self._fail_rows(name, (layer < 0) | (layer >= layers) | (head < -1) | (head >= heads),
                        "layer and head are none of the model")
        self._fail_rows(name, ~((accuracy >= 0) & (accuracy <= 1)) & ~(np.isnan(accuracy) & untested),
                        "accuracy is not in 0 .. 1")
        self._fail_rows(name, (said != method) & (said != "").any(), f"method is not {method}")
        places = layer * (heads + 1) + head % (heads + 1)  # head -1: the whole layer
        counts = np.bincount(places, minlength=layers * (heads + 1))
        self._fail_rows(name, ~np.isin(np.arange(len(places)), np.unique(places, return_index=True)[1]),
                        "layer and head are there twice")
        if not counts.all():
            raise DataError(f"{self.path(name)}: has {len(layer)} rows; heads and layers are {len(counts)}: {_REMEDY}")
        without = np.empty(len(counts))
        without[places] = accuracy
        with reading(f"{self.path('finished.json')}: config", _REMEDY):
            able = self._able(method)
        return Ablation(self.path(name), method, self.fact("whole"), without.reshape(layers, heads + 1)[:, :heads],
                        able)

    def _able(self, method: str) -> np.ndarray:
        """How many heads of each layer the method takes something from."""
        layers, heads, config = self.layers, self.heads, self.planned.config
        taken = np.ones((layers, heads), bool)
        if method == "latent_columns":
            columns, width = (max(int(config[f"model.latent_{one}"]) for one in ("query", "kv")),
                              int(config["model.width"]) // heads)
            taken[:, -(-columns // width):] = False
        elif method == "rotation":
            keys = dict(one.partition("=")[::2] for one in self.arm.encoding.partition(":")[2].split(","))
            if "rotate" in keys:
                taken &= np.isin(np.arange(heads), self._indices(keys["rotate"]))
            if config.get("model.rotated_layers", "all") != "all":
                taken &= np.isin(np.arange(layers), self._indices(config["model.rotated_layers"]))[:, None]
            if config.get("intervention.kind") == "rotation":
                taken[config["intervention.layer"], config["intervention.head"]] = False
        return taken.sum(axis=1)

    def _indices(self, text) -> List[int]:
        """"0-3+5" as a list; of "none" an empty one."""
        if not _INDICES.fullmatch(str(text)):
            raise DataError(f"{self.path('finished.json')}: config: {str(text)[:40]!r} are no indices, such as 0-3+5: "
                            f"{_REMEDY}")
        ends = [tuple(map(int, part.split("-"))) for part in str(text).split("+") if part != "none"]
        return [one for first, *last in ends for one in range(first, (last or [first])[0] + 1)]

    def worst_head(self, layer: int) -> int:
        """The head of a layer with the largest drop, by output; -1: none costs accuracy."""
        drops = np.fmax(0, self.ablation("output").drops(layer))
        return int(np.argmax(drops)) if (drops > 0).any() else -1


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ---- All of them --------------------------------------------------------------------------------


class Runs:
    """The runs of a plan in their order."""

    def __init__(self, folder: str, plan: Plan, tell=lambda text: None):
        self.plan, self.folder = plan, folder
        root = os.path.join(folder, "runs")
        if not os.path.isdir(root):
            raise DataError(f"{folder}: has no runs, because there is no folder {root}: name the folder that `szego "
                            "reproduce` wrote, or the one that runs.tar.xz was unpacked in")
        self.all: List[Run] = []
        for planned in plan.runs:
            run = Run(planned, os.path.join(root, *planned.name.split("/")))
            if run.finished:
                run.curve  # pylint: disable=pointless-statement # its log says the same as finished.json
            self.all.append(run)
            tell(f"reading runs: {len(self.all)} of {len(plan.runs)}")
        if not any(os.path.isdir(run.folder) for run in self.all):
            raise DataError(f"{root}: has none of the {len(self.all)} runs of {plan.place}, such as "
                            f"{self.all[0].name}: name the preset of its runs (preset)")
        self._spell()
        self._refuse_copies()
        self._refuse_mixtures()
        self._settle_heads()

    def _spell(self) -> None:
        """Encodings and configurations of runs that have not ended are those of others of their kind."""
        kinds: Dict[tuple, PlannedRun] = {}
        for run in self.all:
            if run.planned.config:
                kinds.setdefault((run.planned.experiment, run.name.rpartition("/")[0]), run.planned)
        for run in self.all:
            known = kinds.get((run.planned.experiment, run.name.rpartition("/")[0]))
            if known and not run.planned.config:
                run.planned.config = known.config
            run.planned.encoding = str(run.planned.config.get("model.encoding", run.planned.encoding))
            run.arm = run.planned.arm

    def _refuse_copies(self) -> None:
        """Two folders that lead to the same one would count a run twice, as two of one arm, task and seed would."""
        folders: Dict[str, Run] = {}
        seeds: Dict[tuple, Run] = {}
        for run in (one for one in self.all if one.finished):
            twin = folders.setdefault(os.path.realpath(run.folder), run)
            if twin is not run:
                raise DataError(f"{run.folder}: is the same folder as {twin.folder}: a run counts once: remove the "
                                "link")
            twin = seeds.setdefault((run.arm, run.task, run.seed), run)
            if twin is not run:
                raise DataError(f"{run.folder}: is a run of {run.arm.name}, task {run.task}, seed {run.seed}, as "
                                f"{twin.folder} is: a seed counts once: remove one of them")

    def _refuse_mixtures(self) -> None:
        """Seeds of an arm differ in nothing else. A key that the preset does not set has the same default in all
        experiments of a profile, encoding and task."""
        first: Dict[tuple, Tuple[object, Run]] = {}
        for run in self.all:
            settings = run.settings()
            for key, value in settings.items():
                own = key in run.planned.keys or key not in run.planned.config
                kind = (run.planned.experiment if own else None, settings.get("profile"), run.arm.encoding, run.task)
                known, other = first.setdefault((*kind, key), (value, run))
                if known != value:
                    raise DataError(f"{run.path('finished.json')}: {key} is {value!r}, and the run {other.name} has "
                                    f"{known!r}, though the preset makes no difference between them: remove the "
                                    "folder of the one that is of another experiment")

    def _settle_heads(self) -> None:
        """Of runs that intervene on a head of another run."""
        for run in self.all:
            rule = run.planned.head
            if rule is None:
                continue
            other = self.find(rule.of, run.task, run.seed)
            if other is None:
                raise DataError(f"{self.plan.place}: experiment {run.planned.experiment}: head: there is no run of "
                                f"{rule.of.name}, task {run.task}, seed {run.seed}")
            worst = other.worst_head(rule.layer) if other.finished else -1
            run.failed = run.failed or other.failed
            run.left_out = other.finished and worst < 0
            head = other_head(run.seed, rule.layer, run.heads, worst) if rule.other and worst >= 0 else worst
            if run.finished and run.planned.config.get("intervention.head") != head:
                raise DataError(f"{run.path('finished.json')}: config.intervention.head is "
                                f"{run.planned.config.get('intervention.head')!r}, and {other.name} "
                                f"{f'says {head}' if head >= 0 else 'names no head'}: copy both runs, or remove this "
                                "one")

    def of(self, arm: Arm, task: Optional[str] = None) -> List[Run]:
        """The runs of an arm, in the preset's order."""
        return [run for run in self._by_arm.get(arm, ()) if task in (None, run.task)]

    @functools.cached_property
    def _by_arm(self) -> Dict[Arm, List[Run]]:
        found: Dict[Arm, List[Run]] = {}
        for run in self.all:
            found.setdefault(run.arm, []).append(run)
        return found

    def find(self, arm: Arm, task: str, seed: int) -> Optional[Run]:
        """The arm's run of a seed."""
        return next((run for run in self.of(arm, task) if run.seed == seed), None)
