"""Finished runs on longer sequences: means over the seeds of each arm."""
from typing import Optional

from ..errors import DataError
from .rows import Rows
from .runs import Runs
from .statistics import mean_interval


def length_arms(runs: Runs) -> Optional[Rows]:
    """A row an arm, length and scaling; None: no run is tested on longer sequences."""
    if not any(run.planned.words for run in runs.all):
        return None
    rows = Rows("length_arms")
    tested = [run for run in runs.all if run.planned.words and run.finished]
    for arm in dict.fromkeys(run.arm for run in tested):
        own = [run for run in tested if run.arm == arm]
        first = own[0].lengths
        for run in own[1:]:
            if any(run.lengths[key].tolist() != first[key].tolist() for key in ("words", "scaling")):
                raise DataError(f"{run.path('length.csv')}: its lengths and scalings are not those of "
                                f"{own[0].path('length.csv')}: remove finished.json beside it, and `szego reproduce` "
                                "tests the run again")
        test = mean_interval([run.fact("test_accuracy") for run in own])
        for at, words in enumerate(first["words"].tolist()):
            accuracy = mean_interval([float(run.lengths["accuracy"][at]) for run in own])
            rows.add(experiment=arm.experiment, encoding=arm.encoding, scaling=first["scaling"][at], words=words,
                     factor=float(first["factor"][at]), seeds=len(own), accuracy=accuracy.value, t_low=accuracy.low,
                     t_high=accuracy.high, test_accuracy=test.value, label_ceiling=float(first["label_ceiling"][at]))
    return rows
