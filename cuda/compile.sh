#!/bin/sh
# Runs nvcc, keeps what ptxas tells of each kernel (tools/kernel-resources reads it) and shows the
# rest of what it says.
# usage: compile.sh TOLD NVCC ARGUMENT...
told=$1
shift
"$@" 2>"$told"
status=$?
grep -Ev '^ptxas info|^ +[0-9]+ bytes stack frame' "$told" >&2
exit $status
