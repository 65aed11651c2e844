# needs one of: reproduce_table1(experiment, encoding, task1, task2)
"""
## Table 1: accuracies beside the paper's

Test accuracy in percent of the runs here, and what the paper prints; beside them the ceiling, the
best accuracy that a classifier can expect on such data. A dash: no run, or nothing printed. Where
`reproduce_settings` has smaller sizes than the paper's, the numbers say nothing on whether its own
reproduce; those of one seed have no interval.
"""
rows = table("reproduce_table1")


def percent(value):
    return f"{value:6.1f}" if np.isfinite(value) else "     -"


for (experiment,), part in split(rows, "experiment"):
    print(f"\n{show(experiment)}\n{'':24s}   here  paper ceiling |   here  paper ceiling")
    for i, name in enumerate(texts(part, "encoding")[:100]):
        cells = [[percent(numbers(part, column + task)[i]) for column in ("task", "paper", "ceiling")]
                 for task in "12"]
        print(f"{show(name, most=24):24s} {' '.join(cells[0])}  | {' '.join(cells[1])}")
plots = [(part, task) for _, part in split(rows, "experiment") for task in "12"
         if np.isfinite(numbers(part, "task" + task)).any()]
plots = some(plots, "experiments")
figure, axes = panels(len(plots))
for axis, (part, task) in zip(axes, plots):
    part = part[:24]
    at = np.arange(len(part))
    axis.bar(at - 0.2, np.nan_to_num(numbers(part, "task" + task)), 0.4, color=COLOURS[0], label="here",
             yerr=np.nan_to_num(np.abs(numbers(part, "spread" + task))))
    axis.bar(at + 0.2, np.nan_to_num(numbers(part, "paper" + task)), 0.4, color=COLOURS[1], hatch="//",
             label="paper")
    axis.plot(at, numbers(part, "ceiling" + task), "k_", markersize=20, label="ceiling")
    axis.set_xticks(at, [show(name, most=24) for name in texts(part, "encoding")], rotation=30)
    axis.set(title=show(texts(part, "experiment")[0]) + f", task {task}", ylabel="accuracy, %",
             ylim=(0, 135))
    axis.legend(fontsize="small", ncol=3, loc="upper center")
plt.show()
