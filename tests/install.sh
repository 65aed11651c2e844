#!/bin/sh
# Installs the build into an empty folder, builds examples/ against its shared library as a user would,
# and runs them.
# usage: install.sh BUILD SOURCE
set -eu
build=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
meson install -C "$build" --no-rebuild --quiet --destdir "$folder" >/dev/null
pc=$(find "$folder" -name szego.pc)
prefix=$folder$(sed -n 's/^prefix=//p' "$pc")
# flags: what --destdir moved, the prefix names.
flags() {
    PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$prefix" --cflags --libs szego
}
LD_LIBRARY_PATH=$(dirname "$(find "$folder" -name libszego.so)")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
# example NAME PATTERN ARGUMENT...: builds it with the shared library; its output has a line like PATTERN.
example() {
    name=$1 pattern=$2
    shift 2
    # shellcheck disable=SC2046,SC2086
    cc -std=c11 -Wall -Wextra -Werror "$source/examples/$name.c" -o "$folder/$name" $(flags) -lm ${EXTRA_FLAGS:-}
    objdump -p "$folder/$name" | grep -q 'NEEDED *libszego\.so\.0$'
    "$folder/$name" "$@" | grep -q "$pattern" || { echo "example $name: no line like $pattern"; exit 1; }
}
# What the preprocessor sees of the version is what szego.pc says.
number=$(echo '#include <szego/version.h>
SZG_VERSION_NUMBER' | cc -E -P -xc $(flags) - | tail -n 1)
version=$((number / 1000000)).$((number / 1000 % 1000)).$((number % 1000))
[ "$version" = "$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --modversion szego)" ] ||
    { echo "SZG_VERSION_NUMBER is $number, of another version than szego.pc"; exit 1; }
example range '^every eigenvalue lies in \[-15\.7.*, 360\.9'
example kernel '^1024 eigenvalues from 2\.68.*e-08 to 5\.0131'
example logits '^width 0\.519 of .*majorised: yes$'
example claims '^fails '
example checkpoint '^1 rows; 0 tensors' "$source/tests/cli/cases/checkpoint-rotary" "$folder/out/"
example results '^qk$' "$folder/out" matrix
example table '^4 widths' "$folder/widths/"
example results '^0\.7300' "$folder/widths" lambda_min
bash -n "$(find "$folder" -name szego.bash)"
find "$folder" -path '*/zsh/site-functions/_szego' | grep -q . || { echo "no completion for zsh"; exit 1; }
for preset in quick small full; do
    [ -s "$prefix/share/szego/presets/$preset.json" ] || { echo "no preset $preset"; exit 1; }
done
# man(1) finds a page for the program, each command and each topic, with what they are about.
manual=$(dirname "$(dirname "$(find "$folder" -name szego.1)")")
for page in szego.1 szego-spectrum.1 szego-completion.1 szego-specs.7 szego-claims.7; do
    [ -s "$manual/man${page##*.}/$page" ] || { echo "no man page $page"; exit 1; }
done
program=$(find "$folder" -name szego -type f -path '*bin*')
"$program" --version
# The program starts the script of the package that was installed with it.
# shellcheck disable=SC2016 # the script's own
printf '#!/bin/sh\nrealpath "$2" >"%s/script"\n' "$folder" >"$folder/python"
chmod +x "$folder/python"
! SZEGO_PYTHON=$folder/python "$program" judge . 2>"$folder/err" || exit 1
[ "$(cat "$folder/script")" = "$(realpath "$prefix/share/szego/python/szego/publish.py")" ] ||
    { cat "$folder/err"; exit 1; }
# Without its files the program says which is missing, and suggests no preset of the same name.
presets=$(sed -n 's/^prefix=//p' "$pc")/share/szego/presets
if [ ! -e "$presets" ]; then
    cp "$program" "$folder/moved"
    ! "$folder/moved" reproduce --preset quick --list 2>"$folder/err" || exit 1
    grep -q 'preset quick: its file is not installed: .*/quick\.json is missing' "$folder/err" ||
        { cat "$folder/err"; exit 1; }
fi
