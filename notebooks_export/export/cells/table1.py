# needs one of: reproduce_table1(experiment, encoding, task1, task2)
"""
## Table 1: accuracies beside the paper's

Test accuracy in percent of the runs here, and what the paper prints; beside them the ceiling, the
best accuracy that a classifier can expect on such data, and in the plots what the length alone tells. A
dash: no run, or nothing printed. Where `reproduce_settings` has smaller sizes than the paper's, the
numbers say nothing on whether its own reproduce; those of one seed have no interval.
"""
#@ table1


rows = table(archive, "reproduce_table1")


def percent(value):
    return f"{value:6.1f}" if np.isfinite(value) else "     -"


for (experiment,), part in split(rows, "experiment"):
    print(f"\n{show(experiment)}\n{'':24s}   here  paper ceiling |   here  paper ceiling")
    for i, name in enumerate(texts(part, "encoding")[:100]):
        cells = [[percent(numbers(part, column + task)[i]) for column in ("task", "paper", "ceiling")]
                 for task in "12"]
        print(f"{show(name, most=24):24s} {' '.join(cells[0])}  | {' '.join(cells[1])}")
table1(archive)
plt.show()
