"""Queries and keys of your own: what do positional encodings do to the spectrum of their logits?

usage: python3 logits.py [Q.npy K.npy] [FIGURE.png]      (float64 of shape (N, d); without them: random ones)
"""
import sys

import numpy as np
import szego

arrays = [name for name in sys.argv[1:] if name.endswith(".npy")]
figures = [name for name in sys.argv[1:] if not name.endswith(".npy")]
if len(arrays) not in (0, 2) or len(figures) > 1 or sys.argv[-1].startswith("-"):
    sys.exit(__doc__)
if arrays:
    q, k = (np.load(name) for name in arrays)
else:
    q, k = np.random.default_rng(7).standard_normal((2, 96, 16))

# Content is q k^T / sqrt(d); coupled is what the encoding makes of it, before mask and softmax.
# Halves rotate in Llama-style models of Hugging Face; pairing=interleaved is that of GPT-J and the original RoPE.
ROPE = f"rope:dim={q.shape[1]},pairing=half"
for spec in (ROPE, "alibi:heads=1", "t5:heads=1,seed=1"):
    found = szego.contraction(q, k, spec)
    order = {True: "majorised by", False: "not majorised by", None: "not compared with"}[found.majorised]
    print(f"{spec}: width {found.width:.6f} of the content's, largest singular value {found.norm:.6f} of it; "
          f"eigenvalues {order} the content's")

if figures:
    axes = szego.plot.contraction(szego.contraction(q, k, ROPE))
    axes.figure.savefig(figures[0], dpi=200)
