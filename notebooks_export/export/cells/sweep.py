# needs one of: reproduce_sweep(rotated_heads, accuracy)
"""
## Accuracy against the number of rotated heads

The first k heads of every layer rotate, the others have no position: k = 0 is `nope`, all heads is
`rope`. Bars are one standard deviation over seeds.
"""
#@ sweep


sweep(archive)
plt.show()
