"""Which results lie below the folder of another one."""


def is_below(path, folder):
    """Whether the result at `path` is the one in `folder` or lies below it."""
    return folder == "." or path == folder or path.startswith(folder + "/")


def is_within(path, folders):
    """The same of one of several folders; no path is in none."""
    return path is not None and any(is_below(path, folder) for folder in folders)


def folders_of(rows):
    """The different results of the rows."""
    return [result for result in dict.fromkeys(rows.texts("result")) if result is not None]
