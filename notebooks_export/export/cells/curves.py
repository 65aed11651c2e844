# needs one of: reproduce_curves(epoch, split, accuracy), train_metrics(epoch, split, accuracy)
"""
## Accuracy by epoch

Share of right predictions on the test examples after every epoch, one line an encoding and seed; the
thin lines are the training examples, with dropout, while they are trained on.
"""
rows = table("reproduce_curves", "train_metrics")
tasks = some(split(rows, "experiment", "task"), "tasks")
figure, axes = panels(len(tasks))
for axis, (key, part) in zip(axes, tasks):
    axis.set(title=show(*key), xlabel="epoch", ylabel="accuracy")
    for i, (name, group) in enumerate(some(split(part, "encoding"), "encodings", 12)):
        for j, (_, line) in enumerate(some(split(group, "result", "run", "seed"), "runs", 20)):
            for kind, width in (("test", 2), ("train", 0.6)):
                points = where(line, "split", kind)
                order = np.argsort(numbers(points, "epoch"), kind="stable")
                axis.plot(numbers(points, "epoch")[order], numbers(points, "accuracy")[order],
                          linewidth=width, marker="." if kind == "test" else None, **style(i),
                          label=show(*name) if j == 0 and kind == "test" else None)
    legend(axis)
plt.show()
