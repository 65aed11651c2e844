#!/bin/sh
# What must not compile against the house's headers: each misuse beside the use that it is a slip of.
# usage: misuse.sh CC FOLDER; prints TAP.
set -u
. "$(dirname "$0")/../support/scratch.sh"
compiler=$1 folder=$2
number=0 failed=0
work=$(scratch)
trap 'rm -rf "$work"' EXIT

compiles() {
    cat >"$work/try.c" <<END
#include "base/memory.h"
szg_status try(szg_context *context, int64_t room, double *p, void *any, double (*rows)[4]);
szg_status try(szg_context *context, int64_t room, double *p, void *any, double (*rows)[4]) {
    (void)room, (void)p, (void)any, (void)rows;
    return $1;
}
END
    "$compiler" -std=gnu11 -Werror=pointer-arith -fsyntax-only -I"$folder/include" -I"$folder/lib" \
        "$work/try.c" 2>"$work/err"
}

# case USE MISUSE
case_of() {
    number=$((number + 1))
    if compiles "$1" && ! compiles "$2"; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        failed=1
    fi
}

case_of 'szgi_memory_alloc(context, 3, &p)' 'szgi_memory_alloc(context, 3, p)'
case_of 'szgi_memory_alloc(context, 3, &rows)' 'szgi_memory_alloc(context, 3, sizeof *p, &p)'
case_of 'szgi_memory_take(context, 3, 8, &any)' 'szgi_memory_alloc(context, 3, &any)'
case_of 'szgi_memory_grow(context, &p, 3, 4)' 'szgi_memory_grow(context, p, 3, 4)'
case_of 'szgi_memory_reserve(context, &p, &room, 3, 1)' 'szgi_memory_reserve(context, p, &room, 3, 1)'
echo "1..$number"
exit $failed
