# shellcheck shell=sh
# Sourced by tools/device-run: what tools/device-bundle made, and where CUDA's libraries are.
# shellcheck disable=SC2154 # bundle, home, build: the sourcing script's

# unpack ARCHIVE DIR
unpack() {
    mkdir -p "$2"
    tar -C "$2" -xJf "$1" 2>/dev/null || python3 -m tarfile -e "$1" "$2"
}

check_bundle() {
    (cd "$bundle" && sha256sum --quiet -c SHA256SUMS) >&2 ||
        die "$bundle is damaged: make it anew with tools/device-bundle"
}

# take_programs : the bundle's programs, if they run here. Where this machine's C library is older
# than theirs, the bundle's own loader starts them.
take_programs() {
    [ -s "$bundle/programs.tar.xz" ] || return
    sum=$(sha256sum <"$bundle/programs.tar.xz")
    if [ "$(cat "$build/unpacked" 2>/dev/null)" != "$sum" ]; then
        rm -rf "$build"
        unpack "$bundle/programs.tar.xz" "$build" || return
        printf '%s\n' "$sum" >"$build/unpacked"
    fi
    "$szego" --version >/dev/null 2>&1 || use_loader
}

# Puts the bundle's loader before each program: NAME becomes a script, NAME.bin what it starts.
use_loader() {
    for program in "$build"/analysis/szego "$build"/tests/test_*; do
        case $program in *.bin) continue ;; esac
        [ -f "$program.bin" ] || mv "$program" "$program.bin"
        cat >"$program" <<END
#!/bin/sh
exec '$build/system/ld.so' --library-path '$build/lib:$build/system':"\${LD_LIBRARY_PATH:-}" \\
    '$program.bin' "\$@"
END
        chmod +x "$program"
    done
    "$szego" --version >/dev/null 2>&1
}

# take_packages : headers and libraries for a build here. Programs find their libraries by DT_RPATH,
# which unlike LD_LIBRARY_PATH concerns no other program.
take_packages() {
    [ -s "$bundle/packages.tar.xz" ] || return 0
    sum=$(sha256sum <"$bundle/packages.tar.xz")
    if [ "$(cat "$home/unpacked" 2>/dev/null)" != "$sum" ]; then
        rm -rf "$home/packages" "$build"
        unpack "$bundle/packages.tar.xz" "$home/packages" || return
        printf '%s\n' "$sum" >"$home/unpacked"
    fi
    root=$home/packages/usr
    library=$(find "$root/lib" -maxdepth 1 -name '*-linux-gnu' | head -n 1)
    triplet=${library##*/}
    [ "$triplet" = "$(uname -m)-linux-gnu" ] ||
        die "the bundle holds packages for $triplet, this machine is a $(uname -m)"
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
    for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-*; do
        [ -z "$folder" ] || ls -d "$folder/lib64" "$folder/lib" "$folder"/targets/*/lib
    done
    python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' | while read -r packages; do
        ls -d "$packages"/nvidia/*/lib
    done
} 2>/dev/null

# find_cuda_libraries : LD_LIBRARY_PATH grows by the folders of what the plugin misses; fails, with
# their names in $missing, where some are nowhere.
find_cuda_libraries() {
    folders=$(cuda_folders)
    for attempt in 1 2 3 4; do # a library that is found may miss others
        missing=$(ldd "$SZEGO_CUDA_PLUGIN" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found/\1/p')
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
