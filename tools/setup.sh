# shellcheck shell=sh
# Sourced by ./demo and ./check: installs what is missing and builds.

# shellcheck disable=SC2034 # used by the scripts that source this
build_packages='gcc g++ git meson ninja-build pkg-config python3 libopenblas-dev liblapacke-dev
libfftw3-dev libarpack2-dev libflint-dev libjansson-dev zlib1g-dev librandom123-dev
check libboost-context-dev locales'
# What commands need that the Python package carries out: judging, pages, notebooks.
# shellcheck disable=SC2034
python_packages='python3-numpy python3-scipy python3-matplotlib python3-jinja2 python3-nbformat'

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "$*"
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

package_missing() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" != installed ]
}

# FLINT 3 contains Arb; Debian 12 ships Arb apart. Only one of the two exists on a given release.
arb_package() {
    if ! package_missing libflint-arb-dev || apt-cache show libflint-arb-dev >/dev/null 2>&1; then
        echo libflint-arb-dev
    fi
}

# install_packages NAME... : installs those that are missing, without questions.
install_packages() {
    if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
        say "This is no Debian system. Needed, under their Debian names:"
        say "  $* (and libflint-arb-dev where FLINT is older than 3)"
        return 0
    fi
    missing=
    for package in "$@"; do
        package_missing "$package" && missing="$missing $package"
    done
    # The name of Arb's package is known only once the lists are there.
    if [ -z "$missing" ] && { [ -f /usr/include/arb.h ] || [ -f /usr/include/flint/arb.h ]; }; then
        return 0
    fi
    if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
        die "Please install as root, then try again: apt-get install$missing libflint-arb-dev"
    fi
    say "installing:$missing"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq ||
        say "the package lists could not be refreshed; trying with those that are here"
    # shellcheck disable=SC2046,SC2086
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        $missing $(arb_package) >&2 || die "the packages could not be installed (see above)"
}

# build_in FOLDER TARGET [MESON OPTION...] : configures FOLDER where needed and builds TARGET.
build_in() {
    folder=$1 target=$2
    shift 2
    if [ -f "$folder/build.ninja" ]; then
        meson configure "$folder" "$@" >/dev/null
    else
        meson setup "$folder" "$@" >"$folder.log" 2>&1 ||
            { cat "$folder.log" >&2; die "configuring failed"; }
    fi
    ninja -C "$folder" "$target" >"$folder.log" 2>&1 ||
        { tail -n 40 "$folder.log" >&2; die "building failed, the whole log is $folder.log"; }
}
