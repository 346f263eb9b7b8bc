# shellcheck shell=sh
# packages.sh - Debian packages that the scripts need, and how they get them. To be sourced.
# Fast when nothing is missing: one dpkg-query.

# Consumed by the scripts that source this file.
# shellcheck disable=SC2034
PACKAGES_BUILD='gcc libc6-dev cmake ninja-build pkg-config mawk libuv1-dev libpcap-dev liblz4-dev zlib1g-dev nettle-dev libxxhash-dev'
# shellcheck disable=SC2034
PACKAGES_TEST='libcunit1-dev clang clang-format clang-tidy cppcheck shellcheck libclang-rt-14-dev python3-minimal libpython3-stdlib lz4 gzip procps binutils'

# need_packages NAME... - installs those that are missing, as root or through sudo.
need_packages() {
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" != 0 ]; then
        as_root=sudo
        if ! command -v sudo >/dev/null 2>&1; then
            echo "missing packages, and no sudo here. As root: apt-get install$missing" >&2
            return 1
        fi
    fi
    echo "installing:$missing" >&2
    $as_root apt-get update -qq >&2
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >&2
}
