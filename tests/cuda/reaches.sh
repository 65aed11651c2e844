#!/bin/sh
# Runs a test on the emulated GPU and fails if nothing of it reached the GPU: such a run repeats the
# CPU's.
# usage: reaches.sh PROGRAM [ARGUMENT...]
counts=$(mktemp) || exit 1
trap 'rm -f "$counts"' EXIT
SZG_EMULATED_COUNT=$counts "$@" || exit
grep -Eq '^kernel |^call (cudaGraphLaunch|cudaMemcpy|cublasLtMatmul|cufftExec|cusolverDnX)' "$counts" && exit
echo "no kernel, no copy, no library call of $* reached the emulated GPU" >&2
exit 1
