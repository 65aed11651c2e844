#!/bin/sh
# Compiles each public header by itself, a case a header. Prints TAP.
# usage: compile.sh COMPILER DIALECT LANGUAGE SOURCE BUILD; DIALECT: c11, c++17; LANGUAGE: c, c++;
# SOURCE, BUILD: the folders that hold szego/*.h, as they are and as they are made
set -u
compiler=$1 dialect=$2 language=$3 source=$4 build=$5
number=0 failed=0
for header in "$source"/szego/*.h "$build"/szego/*.h; do
    number=$((number + 1))
    verdict=ok
    said=$("$compiler" "-std=$dialect" -x "$language" -Wall -Wextra -Werror -fsyntax-only -I "$source" \
        -I "$build" "$header" 2>&1) || verdict='not ok' failed=1
    echo "$verdict $number - szego/$(basename "$header") as $dialect"
    [ -z "$said" ] || echo "$said" | sed 's/^/# /'
done
echo "1..$number"
exit $failed
