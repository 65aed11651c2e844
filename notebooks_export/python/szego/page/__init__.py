"""The HTML page of a folder of results: one file, offline, whole without a script."""
