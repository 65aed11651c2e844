# needs one of: checkpoint_summary(layer, head, toeplitzness)
"""
## Toeplitzness of a checkpoint

How much of each head's position-position term depends on the distance alone: the share of its
squared Frobenius norm that the means along diagonals carry, layer by head. 1 is a Toeplitz matrix.
"""
#@ toeplitzness


if not toeplitzness(archive):
    print("No head of this checkpoint has a position-position term of its own.")
plt.show()
