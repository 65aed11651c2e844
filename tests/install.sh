#!/bin/sh
# Installs the build into an empty folder and builds examples/range.c against it, as a user would.
# usage: install.sh BUILD SOURCE
set -eu
build=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
meson install -C "$build" --no-rebuild --quiet --destdir "$folder" >/dev/null
pc=$(find "$folder" -name szego.pc)
prefix=$folder$(sed -n 's/^prefix=//p' "$pc")
# What --destdir moved, the prefix names.
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$prefix" \
    --cflags --libs szego)
# shellcheck disable=SC2086
cc -Wall -Werror "$source/examples/range.c" -o "$folder/range" $flags ${EXTRA_FLAGS:-}
"$folder/range" | grep -q '^every eigenvalue lies in \[-15\.7.*, 360\.9'
bash -n "$(find "$folder" -name szego.bash)"
"$(find "$folder" -name szego -type f -path '*bin*')" --version
