# For tests in sh: `scratch` prints a new folder, in memory where there is such a place, since each
# result is synced and a disk makes a test wait. The caller removes it.
scratch() {
    folder=$(mktemp -d -p /dev/shm szego-test.XXXXXX 2>/dev/null) || folder=$(mktemp -d)
    echo "$folder"
}
