# needs one of: reproduce_curves(epoch, split, accuracy), train_metrics(epoch, split, accuracy)
"""
## Accuracy by epoch

Share of right predictions on the test examples after every epoch, a colour an encoding: the mean over
seeds, and the area from the least to the greatest. The thin lines are the training examples, with
dropout, while they are trained on.
"""
#@ curves


curves(archive)
plt.show()
