# needs one of: reproduce_curves(epoch, split, accuracy), train_metrics(epoch, split, accuracy)
"""
## Accuracy by epoch

Share of right predictions on the test examples after every epoch, one line an encoding and seed; the
thin lines are the training examples, with dropout, while they are trained on.
"""
rows = table("reproduce_curves", "train_metrics")
tasks = some(split(rows, "task"), "tasks", 4)
figure, axes = panels(len(tasks))
for axis, ((task,), part) in zip(axes, tasks):
    for i, (key, group) in enumerate(some(split(part, "encoding"), "encodings", 12)):
        for j, (run, line) in enumerate(some(split(group, "result", "run", "seed"), "runs", 20)):
            for name, width in (("test", 2), ("train", 0.6)):
                points = where(line, "split", name)
                order = np.argsort(numbers(points, "epoch"), kind="stable")
                axis.plot(numbers(points, "epoch")[order], numbers(points, "accuracy")[order],
                          linewidth=width, marker="." if name == "test" else None, **style(i),
                          label=show(*key) if j == 0 and name == "test" else None)
    axis.set(title=show(task), xlabel="epoch", ylabel="accuracy")
    legend(axis)
plt.show()
