"""The heads of a trained checkpoint as a pandas frame: which differ from the others of their layer?

usage: python3 checkpoint.py MODEL [FIGURE.png]      (MODEL: a folder with config.json, or a safetensors file)
"""
import os
import sys

import szego

if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
if not os.path.exists(sys.argv[1]):
    sys.exit(f"{sys.argv[1]}: there is no such model\n{__doc__}")
found = szego.checkpoint(sys.argv[1])
print(found)
for problem in found.problems:
    print(problem.why)
if found.unknown:
    sys.exit(f"no heads are known: {found.unknown}")

frame = found["checkpoint_summary"].frame()
heads = frame[(frame["matrix"] == "qk") & frame["head"].notna()].set_index(["layer", "head"])
# How far the head is from its layer's median, where the median distance of all heads is 1.
rank = heads["stable_rank"]
distance = (rank - rank.groupby("layer").transform("median")).abs()
heads["apart"] = distance / distance.median()
columns = ["sigma_max", "stable_rank", "effective_rank", "apart"]
print(heads[columns].sort_values("apart", ascending=False).head(10).to_string(float_format="{:.4g}".format))

if len(sys.argv) > 2:
    axes = szego.plot.toeplitzness(found.tables, column="stable_rank", matrix="qk")
    axes.figure.savefig(sys.argv[2], dpi=200)
