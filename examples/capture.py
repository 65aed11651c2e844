"""Attention logits while a decoder trains: does the encoding narrow their spectrum, and when?

usage: python3 capture.py [FIGURE.png]      (a minute or less)
"""
import sys

import numpy as np
import szego

if len(sys.argv) > 2 or sys.argv[-1].startswith("-"):
    sys.exit(__doc__)

config = {
    "model": {"encoding": "rope", "vocabulary": 64, "width": 32, "hidden": 64, "layers": 2, "heads": 4,
              "max_length": 26},
    "data": {"task": "distance", "examples": 2000, "between_max": 12, "side_max": 6, "longest": 26},
    "loop": {"batch": 64, "epochs": 4, "learning_rate": 0.003},
    "capture": {"every": 20, "probes": 2},
}


def look(step: szego.CapturedStep) -> None:
    """Called at each captured step. The arrays are copies: compute with them whatever you like."""
    ratio = step.tables["capture_contraction"]["width_ratio"].reshape(-1, len(step.layers), len(step.heads))
    content, coupled = step.logits(kind="content"), step.logits(kind="coupled")  # of the first probe
    moved = np.linalg.norm(coupled - content) / np.linalg.norm(content)
    print(f"step {step.step:3d}: width ratio by layer {ratio.mean(axis=(0, 2)).round(4)}, "
          f"logits that the rotation moved {moved:.4f}", flush=True)


found = szego.train(config, seed=7, callback=look)  # folder="run" keeps the run
print(f"test accuracy {found.test_accuracy:.4f} after {found.steps} steps")

contraction = found["train_contraction"]
last = contraction["step"] == contraction["step"].max()
print(f"width ratio below 1 in {np.sum(contraction['width_ratio'][last] < 1)} of {last.sum()} matrices "
      f"of step {contraction['step'].max()}")

if len(sys.argv) > 1:
    panels = szego.plot.contraction(found.tables)  # a layer each, in one figure
    panels[0].figure.savefig(sys.argv[1], dpi=200)
