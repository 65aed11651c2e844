#!/bin/sh
# Configuring where no library's pkg-config file is found names all Debian packages at once, for pip too.
# usage: missing.sh SOURCE
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for option in -Dtests=true -Dpython_package=true; do
    if PKG_CONFIG_LIBDIR=/nowhere meson setup "$folder/build$option" "$1" -Dcuda=disabled "$option" >"$folder/said" 2>&1; then
        echo "$option: configured without libraries"
        exit 1
    fi
    for package in libjansson-dev libfftw3-dev libopenblas-dev liblapacke-dev; do
        grep -q "apt-get install.* $package" "$folder/said" || {
            echo "$option: $package is not named:"
            grep ERROR "$folder/said"
            exit 1
        }
    done
    # What is there is not asked for.
    ! grep -q 'apt-get install.* libflint-dev' "$folder/said" || { echo "$option: libflint-dev is there"; exit 1; }
done
