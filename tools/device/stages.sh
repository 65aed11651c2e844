# shellcheck shell=sh
# Sourced by tools/device-run: its stages. Each returns whether all went well.
# shellcheck disable=SC2154,SC2034 # variables of the sourcing script

# ---- What there is, and what is built ----

# The commit of a tree that may have come without its repository.
find_commit() {
    if commit=$(git describe --always --dirty --abbrev=12 '--exclude=*' 2>/dev/null); then
        return
    fi
    commit=unknown
    [ -z "$bundle" ] || [ ! -s "$bundle/tree.txt" ] || {
        commit=$(head -n 1 "$bundle/tree.txt")
        changed=$(sed 1d "$bundle/tree.txt" | sha256sum --quiet -c 2>/dev/null | wc -l)
        [ "$changed" -eq 0 ] || commit="$commit-and-$changed-changed-files"
    }
}

# What PyTorch sees in the environment that the rival gets.
tell_pytorch() {
    said=$(bounded 45 "$SZEGO_PYTHON" -c 'import torch
able = torch.cuda.is_available()
print(torch.__version__, f"torch.cuda.is_available() {able}",
      torch.cuda.get_device_name() if able else "no device", sep=", ")' 2>"$home/pytorch" | tail -n 1)
    tell "pytorch    ${said:-none: $(tail -n 1 "$home/pytorch" | cut -c1-200)}"
}

stage_facts() {
    find_commit
    fields=name,compute_cap,memory.total,driver_version,clocks.max.sm,clocks.max.memory,power.limit
    tell "date       $(date -u '+%Y-%m-%d %H:%M:%S UTC')"
    tell "commit     $commit"
    tell "device     $(bounded 30 nvidia-smi "--query-gpu=$fields" --format=csv,noheader 2>/dev/null |
        head -n 1 | grep , || echo 'nvidia-smi tells of none')"
    tell "nvcc       $(bounded 10 nvcc --version 2>/dev/null | sed -n 's/.*, V//p')"
    tell "compiler   $(bounded 10 cc --version 2>/dev/null | head -n 1)"
    tell "libc       $(bounded 10 ldd --version 2>&1 | head -n 1)"
    tell "python     $(bounded 10 python3 --version 2>&1)"
    tell "processor  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) of them"
    tell "system     $(uname -sr)"
    tell_pytorch
}

# What a compiler here has to make: the program and the plugin; tests when a stage wants them.
compile() {
    gpu=enabled
    [ -z "$emulated" ] || gpu=disabled # it has a plugin
    for program in meson ninja cc c++ nvcc; do
        [ "$program $gpu" != 'nvcc disabled' ] || continue
        command -v $program >/dev/null || {
            tell "   $program is missing"
            return 1
        }
    done
    if [ ! -f "$build/build.ninja" ]; then
        within $((120 * patience)) "$results/build.log" meson setup "$build" -Dcuda=$gpu \
            -Dgpu_architectures=sm_90 "-Dcommit=$commit" || {
            tell "   $(grep -m 3 ERROR "$results/build.log")"
            return 1
        }
    fi
    within $((240 * patience)) "$results/build.log" ninja -C "$build" "$@" && return
    [ "$(cat "$home/code")" -ne 124 ] || tell "   compiling was cut: $(tail -n 1 "$results/build.log" | cut -c1-100)"
    grep -m 5 -E 'error: |FAILED: ' "$results/build.log" | tee -a "$summary" >&2
    return 1
}

# find_device : $device, as the program itself sees it.
find_device() {
    find_cuda_libraries || tell "   libraries that are not found: $missing"
    bounded 60 "$szego" info --format csv >"$home/info" 2>&1
    device=$(sed -n 's/^device 0,//p' "$home/info")
    sed -n '/^version/d;/^key/d;s/^/   /p' "$home/info" | tee -a "$summary" >&2
}

# open_plugin : finds the device with the bundle's plugin; fails where that does not open.
open_plugin() {
    find_device
    ! grep -q '^gpu plugin,none' "$home/info" || {
        tell "   the bundle's plugin does not open here"
        return 1
    }
}

# compile_here : with the bundle's packages, or else with the machine's own.
compile_here() {
    if [ -n "$bundle" ]; then
        tell "   compiling here instead"
        take_packages || tell "   with this machine's own packages"
    fi
    find_commit
    compiled=1
    [ ! -e "$build/unpacked" ] || rm -rf "$build"
    # shellcheck disable=SC2046 # no word on the emulated GPU
    compile analysis/szego $([ -n "$emulated" ] || echo cuda/libszego-cuda.so) || return
    find_device
}

stage_build() {
    if [ -n "$given" ]; then
        tell "   $build is taken as it is"
        find_device
    elif [ -n "$bundle" ] && take_programs && open_plugin; then
        tell "   the bundle's programs run here"
    else
        compile_here || return
    fi
    [ -n "$device" ] || left_out "all that needs a GPU (no device)"
}

# ready : whether a stage has a program and a device to work with.
device=''
ready() {
    [ -x "$szego" ] || {
        tell "   nothing is built"
        return 1
    }
    [ -n "$device" ] || left_out "no device"
}

# ---- The first call ----

stage_rates() {
    ready || return
    [ -n "$device" ] || return 0
    bad=0
    item 20 cuda:tf32 machine:copy || bad=1
    for precision in tf32 bf16 f32; do
        item 20 cuda:$precision --no-rival train:product || bad=1
    done
    item 20 cuda:tf32 machine:transfer || bad=1
    return $bad
}

stage_first_step() {
    ready || return
    [ -n "$device" ] || return 0
    bad=0
    for precision in tf32 bf16 f32; do
        item 20 cuda:$precision train:rope:first || bad=1
    done
    return $bad
}

stage_steps() {
    ready || return
    [ -n "$device" ] || return 0
    bad=0
    for what in tf32:rope bf16:rope f32:rope tf32:mla bf16:mla; do
        item 25 "cuda:${what%:*}" --no-rival --steps "$fifty" --pairs 3 "train:${what#*:}:step" || bad=1
    done
    return $bad
}

stage_operations() {
    ready || return
    [ -n "$device" ] || return 0
    bad=0
    for what in tf32:rope bf16:rope tf32:mla; do
        item 20 "cuda:${what%:*}" "train:${what#*:}:operations" || bad=1
    done
    return $bad
}

# list_tests PATTERN : PROGRAM FILE BACKEND, those whose file matches.
list_tests() {
    if [ -f "$build/tests.txt" ]; then
        cat "$build/tests.txt"
    else
        bounded 60 tools/device/list-tests "$build"
    fi | awk -v pattern="$1" '$2 ~ pattern'
}

# run_tests PATTERN SECONDS : $jobs at a time, each once; one that hangs takes its seconds alone.
run_tests() {
    [ -z "$compiled" ] || compile tests/test_linalg tests/test_network tests/test_spectra tests/test_train || return
    list_tests "$1" >"$home/tests"
    lines=$(wc -l <"$home/tests")
    [ "$lines" -gt 0 ] || {
        tell "   there is no test of $1"
        return 1
    }
    touch "$results/tests.txt"
    first=$(($(wc -l <"$results/tests.txt") + 1))
    within 1000 "$results/bench.log" xargs -P "$jobs" -L 1 -a "$home/tests" \
        tools/device/test-one "$results" "$build" "$2"
    tail -n "+$first" "$results/tests.txt" >"$home/ended"
    ended=$(wc -l <"$home/ended")
    good=$(grep -c ' ok, cases' "$home/ended")
    tell "   $good of $lines files of tests passed, $((lines - ended)) were not reached"
    grep -v ' ok, cases' "$home/ended" | sed 's/^/   /' | tee -a "$summary" >&2
    [ "$good" -eq "$lines" ]
}

stage_parity() {
    ready || return
    [ -n "$device" ] || return 0
    run_tests '^(network_.*|parity)$' 120
}

# ---- The second ----

stage_rival() {
    ready || return
    [ -n "$device" ] || return 0
    bad=0
    item_with_rival 200 cuda:tf32 --pairs 2 train:rope:step || bad=1 # they wait for the compiler
    item_with_rival 200 cuda:bf16 --pairs 2 train:rope:step || bad=1
    item_with_rival 60 cuda:tf32 --pairs 2 train:product || bad=1
    item_with_rival 60 cuda:bf16 --pairs 2 train:product || bad=1
    for what in tf32:mla bf16:mla f32:rope; do
        item_with_rival 110 "cuda:${what%:*}" --pairs 2 "train:${what#*:}:step" || bad=1
    done
    return $bad
}

# ---- The third ----

# Kernels of the vendor's libraries, by parts of their names: they are not ours to check, and slow.
foreign='cublas cutlass xmma nvjet cusolver splitKreduce gemm gemv syevj laswp trsm cufft fft'

# The option that leaves kernels out has had two names.
sanitizer_filter() {
    for option in --kernel-regex-exclude --kernel-name-exclude; do
        bounded 20 compute-sanitizer --help 2>&1 | grep -q -e "$option" || continue
        for part in $foreign; do
            printf '%s kns=%s ' "$option" "$part"
        done
        return
    done
}

# TOOL PROGRAM FILE BACKEND, the most wanted first. initcheck watches the vendor's kernels too: only
# files whose kernels are our own.
list_sanitized() {
    list_tests '^network_' >"$home/network"
    for tool in memcheck racecheck synccheck initcheck; do
        files='attention layers dropout ends steps spectra'
        [ $tool != initcheck ] || files='attention dropout'
        for file in $files; do
            sed -n "s/^[^ ]* network_$file /$tool &/p" "$home/network"
        done
    done
}

stage_sanitizer() {
    ready || return
    [ -n "$device" ] || return 0
    command -v compute-sanitizer >/dev/null || {
        left_out "compute-sanitizer (not installed)"
        return 0
    }
    [ -z "$compiled" ] || compile tests/test_network || return
    list_sanitized >"$home/runs"
    [ -s "$home/runs" ] || {
        tell "   there is no test of the network"
        return 1
    }
    rm -f "$home"/refused-*
    : >"$home/sanitized"
    within 1000 "$results/bench.log" env "SZEGO_SANITIZER_FILTER=$(sanitizer_filter)" \
        xargs -P "$jobs" -L 1 -a "$home/runs" tools/device/sanitize-one "$results" "$build" "$home" 100 \
        $((deadline - 7)) # the last verdicts are told before the stage is cut
    told=$(wc -l <"$home/sanitized") wanted=0 refused=''
    for tool in memcheck racecheck synccheck initcheck; do
        if [ -e "$home/refused-$tool" ] && ! grep -q "^$tool " "$home/sanitized"; then
            refused="${refused:+$refused, }$tool"
        else
            wanted=$((wanted + $(grep -c "^$tool " "$home/runs")))
        fi
    done
    [ -z "$refused" ] || left_out "compute-sanitizer ($refused): it cannot work here (tools.log)"
    [ "$told" -ge "$wanted" ] || tell "   $((wanted - told)) runs were not reached"
    [ "$told" -ge "$wanted" ] && ! grep -qv ': clean' "$home/sanitized"
}

stage_spectra_parity() {
    ready || return
    [ -n "$device" ] || return 0
    run_tests '^(eigen|fft|linear|singular|allocation|closed_forms|(dense|factored|toeplitz)_spectra|capture_beside)$' 60
}

stage_spectra() {
    ready || return
    [ -n "$device" ] || return 0
    bad=0
    item 30 cuda --pairs 2 batch:plain || bad=1
    item 30 cuda --pairs 2 batch:checked || bad=1
    # LAPACK on the cpu cannot be interrupted, and may be cut with its row: ours is there before.
    item 25 cuda --no-rival dense || bad=1
    item 90 cuda --pairs 1 dense || bad=1
    return $bad
}

stage_crossover() {
    ready || return
    [ -n "$device" ] || return 0
    bad=0
    export SZEGO_CUDA_CROSSOVER=0 # every size to the device
    for kind in product symmetric symmetric-batched singular singular-batched general; do
        item 30 cuda crossover:$kind || bad=1
    done
    unset SZEGO_CUDA_CROSSOVER
    return $bad
}

stage_capture() {
    ready || return
    [ -n "$device" ] || return 0
    bad=0
    item 20 cuda:tf32 --pairs 2 --steps "$fifty" train:rope:capture || bad=1
    item 30 cuda:tf32 --pairs 1 train:rope:epoch || bad=1
    item 20 cuda:tf32 --pairs 1 train:rope:ablation || bad=1
    return $bad
}

profiler_refuses='failed to initialize|LibraryNotLoaded|not supported|ERR_NVGPUCTRPERM|no permission'

stage_profile() {
    ready || return
    [ -n "$device" ] || return 0
    command -v ncu >/dev/null || {
        left_out "Nsight Compute (not installed)"
        return 0
    }
    part=$home/profile.part
    rm -f "$part"
    # Of some 260 launches a step: the end of the second one's forward pass and the begin of its
    # backward pass.
    # shellcheck disable=SC2086 # no word where it is empty
    within 85 "$part" ncu --clock-control none --target-processes all --section SpeedOfLight \
        --section Occupancy --launch-skip 310 --launch-count 40 --csv "$szego" bench -q $quick \
        --limit 80 --backend cuda:tf32 --pairs 1 train:rope:first
    code=$?
    capped "$results/tools.log" <"$part"
    if [ "$code" -ne 124 ] && grep -qi -E "$profiler_refuses" "$part"; then
        left_out "Nsight Compute: it cannot work here (tools.log)"
        return 0
    fi
    profiled=$(grep -c '^"[0-9]' "$part")
    [ "$profiled" -gt 0 ] || tell "   no kernel was profiled"
    [ "$code" -eq 0 ] && [ "$profiled" -gt 0 ]
}

# ---- By itself ----

# A slice of the full preset; its runs come back in an archive, without weights.
stage_reproduce() {
    ready || return
    [ -n "$device" ] || return 0
    set -- reproduce --preset full --backend cuda -o "$home/reproduce/"
    mkdir -p "$home/reproduce/runs"
    if [ -n "$archive" ]; then
        within 120 "$results/bench.log" tar -C "$home/reproduce" -xJf "$archive" || return
    fi
    minutes=$(((deadline - $(date +%s) - 30) / 60))
    [ "$minutes" -ge 1 ] || minutes=1
    within "$seconds" "$results/bench.log" "$szego" "$@" --minutes "$minutes"
    verdict_of=$?
    tar -C "$home/reproduce" --exclude='checkpoint*.safetensors' \
        -cJf "$results/reproduce.tar.xz" runs || verdict_of=1
    tell "   $(tail -n 3 "$results/bench.log" | tr '\n' ';')"
    return $verdict_of
}
