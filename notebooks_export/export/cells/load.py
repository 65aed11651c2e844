# needs one of: every notebook has it
"""
## Loading

The cells below depend on this one alone: run it, then any of them. `archive` holds the arrays,
`manifest` what they mean.
"""
import json

#@ base


FILE = "export.npz"  # beside this notebook
archive = np.load(FILE)
manifest = json.loads(archive["manifest"].item())
np.set_printoptions(floatmode="unique")  # the end of an enclosure that is rounded may lie inside it
sorted(archive.files)
