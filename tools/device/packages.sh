# shellcheck shell=sh
# Sourced by tools/device-run: what tools/device-bundle made, and where CUDA's libraries are.
# shellcheck disable=SC2154 # bundle, home, build: the sourcing script's

# unpack ARCHIVE DIR : $why it cannot be.
unpack() {
    mkdir -p "$2"
    bounded 60 tar -C "$2" -xJf "$1" 2>"$home/unpacking" ||
        bounded 60 python3 -m tarfile -e "$1" "$2" >>"$home/unpacking" 2>&1 || {
        tell "   ${1##*/} cannot be unpacked: $(tail -n 1 "$home/unpacking" | cut -c1-200)"
        rm -rf "$2"
        return 1
    }
}

# is_whole NAME : whether the bundle has the file as it was made.
is_whole() {
    [ -s "$bundle/$1" ] || {
        tell "   the bundle has no $1"
        return 1
    }
    grep -s "  \./$1\$" "$bundle/SHA256SUMS" >"$home/sum" &&
        (cd "$bundle" && bounded 60 sha256sum --status -c "$home/sum") 2>/dev/null && return
    tell "   the bundle's $1 is damaged: make it anew with tools/device-bundle"
    return 1
}

# programs_start : whether the machine's loader starts each; $why not.
programs_start() {
    for program in "$build"/analysis/szego "$build"/tests/test_*; do
        case $program in *.bin) continue ;; esac
        code=0
        bounded 20 "$program" --help >"$home/start" 2>&1 || code=$?
        grep -qi '^usage:' "$home/start" && continue # a shell may read what is no program of this machine
        why="${program##*/} ($code) $(head -n 1 "$home/start" | tr -cd '[:print:]' | cut -c1-200)"
        return 1
    done
}

# take_programs : the bundle's programs, if they run here. Where this machine's C library is older
# than theirs, the bundle's own loader starts them.
take_programs() {
    is_whole programs.tar.xz || return
    sum=$(sha256sum <"$bundle/programs.tar.xz")
    if [ "$(cat "$build/unpacked" 2>/dev/null)" != "$sum" ]; then
        rm -rf "$build"
        unpack "$bundle/programs.tar.xz" "$build" || return
        printf '%s\n' "$sum" >"$build/unpacked"
    fi
    programs_start && return
    why_not=$why
    use_loader
    programs_start && return
    tell "   the bundle's programs do not start here: $why_not; by its own loader: $why"
    rm -rf "$build"
    return 1
}

# Puts the bundle's loader before each program: NAME becomes a script, NAME.bin what it starts.
use_loader() {
    for program in "$build"/analysis/szego "$build"/tests/test_*; do
        case $program in *.bin) continue ;; esac
        [ -f "$program" ] || continue
        [ -f "$program.bin" ] || mv "$program" "$program.bin"
        cat >"$program" <<END
#!/bin/sh
exec '$build/system/ld.so' --library-path '$build/lib:$build/system':"\${LD_LIBRARY_PATH:-}" \\
    '$program.bin' "\$@"
END
        chmod +x "$program"
    done
}

# take_packages : headers and libraries for a build here. Programs find their libraries by DT_RPATH,
# which unlike LD_LIBRARY_PATH concerns no other program.
take_packages() {
    is_whole packages.tar.xz || return
    sum=$(sha256sum <"$bundle/packages.tar.xz")
    if [ "$(cat "$home/unpacked" 2>/dev/null)" != "$sum" ]; then
        rm -rf "$home/packages" "$build"
        unpack "$bundle/packages.tar.xz" "$home/packages" || return
        printf '%s\n' "$sum" >"$home/unpacked"
    fi
    root=$home/packages/usr
    library=$(find "$root/lib" -maxdepth 1 -name '*-linux-gnu' | head -n 1)
    triplet=${library##*/}
    [ "$triplet" = "$(uname -m)-linux-gnu" ] || {
        tell "   the bundle's packages are for ${triplet:-no machine}, this one is a $(uname -m)"
        return 1
    }
    export C_INCLUDE_PATH="$root/include:$root/include/$triplet"
    export CPLUS_INCLUDE_PATH="$C_INCLUDE_PATH"
    export LIBRARY_PATH="$library${LIBRARY_PATH:+:$LIBRARY_PATH}"
    export LDFLAGS="-Wl,--disable-new-dtags,-rpath,$library,-rpath-link,$library ${LDFLAGS:-}"
    export PKG_CONFIG="$home/pkg-config"
    export BOOST_INCLUDEDIR="$root/include" BOOST_LIBRARYDIR="$library" # it has no pkg-config file
    cat >"$PKG_CONFIG" <<END
#!/bin/sh
export LD_LIBRARY_PATH='$library' PKG_CONFIG_SYSROOT_DIR='$home/packages'
export PKG_CONFIG_LIBDIR='$library/pkgconfig:$root/share/pkgconfig:$root/lib/pkgconfig'
exec '$root/bin/pkgconf' "\$@"
END
    chmod +x "$PKG_CONFIG"
}

# Folders that may hold CUDA's libraries: the toolkit's, and those of Python's packages.
cuda_folders() {
    compiler=$(command -v nvcc) && compiler=$(realpath "$compiler") && compiler=${compiler%/bin/nvcc}
    for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-* "$compiler"; do
        [ -z "$folder" ] || ls -d "$folder/lib64" "$folder/lib" "$folder"/targets/*/lib
    done
    bounded 20 python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' | while read -r packages; do
        ls -d "$packages"/nvidia/*/lib
    done
} 2>/dev/null

# find_cuda_libraries : LD_LIBRARY_PATH grows by the folders of what the plugin misses; fails, with
# their names in $missing, where some are nowhere.
find_cuda_libraries() {
    folders=$(cuda_folders)
    for attempt in 1 2 3 4; do # a library that is found may miss others
        missing=$(bounded 20 ldd "$SZEGO_CUDA_PLUGIN" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found/\1/p')
        [ -n "$missing" ] || return 0
        for name in $missing; do
            for folder in $folders; do
                [ -e "$folder/$name" ] || continue
                LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder"
                break
            done
        done
        export LD_LIBRARY_PATH
    done
    say "attempt $attempt: $missing are not found"
    return 1
}
