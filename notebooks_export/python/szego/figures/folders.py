"""Which results lie in which folders: of a table's column `result`."""


def is_below(path, folder):
    """Whether the path is the folder or lies in it; "." has every path."""
    return folder == "." or path == folder or path.startswith(folder + "/")


def is_within(path, folders):
    return path is not None and any(is_below(path, folder) for folder in folders)
