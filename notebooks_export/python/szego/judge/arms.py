"""What each finished run says of its heads: the deposit beside two references, and early gradients."""
import math
from typing import Dict, Optional

import numpy as np

from .draws import other_head
from .measures import Layer, layer_numbers, steps_to_half
from .plan import METHODS
from .rows import Rows, place
from .runs import Ablation, Run, Runs
from .shares import TRIALS, equal_heads, largest_share_quantile, largest_share_tail, uniform_index

_MOST_EXAMPLES = 10_000_000  # of which a distribution fits in memory


def arms(runs: Runs) -> Optional[Rows]:
    """A row a finished run, way of ablating and layer; None: the preset has no hypotheses."""
    if not runs.plan.hypotheses:
        return None
    rows = Rows("arms")
    for run in runs.all:
        if not run.finished:
            continue
        for method in (one for one in METHODS if one in run.planned.methods):
            ablation = run.ablation(method)
            for layer in range(run.layers):
                of = layer_numbers(run, ablation, layer, runs.plan.early_steps)
                rows.add(run=run.name, encoding=run.arm.encoding, task=run.task, seed=run.seed,
                         experiment=run.arm.experiment, arm=run.arm.name, layer=layer,
                         accuracy=run.fact("test_accuracy"), steps_to_half=steps_to_half(run), total_drop=of.total,
                         largest_drop=of.largest, index=of.index, **_heads(run, layer, of),
                         **_references(run, ablation, layer, of), early_steps=of.early_steps or None,
                         rank_correlation=of.rank_correlation, method=method)
    return rows


def _heads(run: Run, layer: int, of: Layer) -> Dict[str, object]:
    cells: Dict[str, object] = {"worst_head": place(of.worst)}
    if of.worst >= 0 and len(of.drops) > 1:
        other = other_head(run.seed, layer, len(of.drops), of.worst)
        cells.update(other_head=other, other_index=_share(of, other))
    if run.planned.head is not None and run.planned.head.layer == layer:
        head = int(run.planned.config["intervention.head"])  # type: ignore[call-overload] # settled: it is the rule's
        cells.update(intervened_head=head, intervened_index=_share(of, head))
    return cells


def _share(of: Layer, head: int) -> Optional[float]:
    return None if math.isnan(of.index) else float(of.drops[head]) / of.total


def _references(run: Run, ablation: Ablation, layer: int, of: Layer) -> Dict[str, object]:
    """Of heads that can be ablated. Above the first layer cumulative drops have a part in common."""
    heads, examples = int(ablation.able[layer]), int(run.fact("test_examples"))
    if heads < 1 or (ablation.method == "cumulative" and layer > 0):
        return {}
    cells: Dict[str, object] = {"dirichlet_mean": uniform_index(heads),
                                "dirichlet_95": largest_share_quantile(heads, 0.05)}
    if math.isnan(of.index):
        return cells
    cells["dirichlet_p"] = largest_share_tail(heads, of.index)
    if 1 <= examples <= _MOST_EXAMPLES:
        trials = equal_heads(heads, examples, ablation.whole, of.total, run.seed, layer)
        cells.update(equal_95=np.sort(trials)[TRIALS * 95 // 100],
                     equal_p=(1 + int((trials >= of.index).sum())) / (TRIALS + 1))
    return cells
