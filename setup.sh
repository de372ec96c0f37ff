#!/bin/sh
# Makes ./.venv with lagbc (editable) and what a task needs, then does the task:
#
#   sh setup.sh demo    betweenness of a shipped network, with a figure
#   sh setup.sh test    formatting, types and tests, as the continuous integration runs them
#
# Needs Python 3.11 or later and pip's package index. PYTHON=... names the interpreter. An up-to-date .venv is kept.
set -eu
CDPATH='' cd -- "$(dirname -- "$0")"

fail() {
    echo "setup.sh: $1" >&2
    exit 1
}

find_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    fail "there is no Python 3.11 or later; on Debian: apt install python3 python3-venv"
}

make_venv() {
    if .venv/bin/python -c '' 2>/dev/null; then return; fi
    python=$(find_python)
    # Debian leaves ensurepip to the package python3-venv, and venv fails without it.
    "$python" -m venv --clear .venv >/dev/null 2>&1 ||
        "$python" -m venv --clear --without-pip .venv ||
        fail "cannot make .venv; on Debian: apt install python3-venv"
}

# pip for .venv: its own, or else the system's, which can install into another environment.
run_pip() {
    if .venv/bin/python -m pip --version >/dev/null 2>&1; then
        .venv/bin/python -m pip "$@"
        return
    fi
    python=$(find_python)
    "$python" -m pip --version >/dev/null 2>&1 || fail "there is no pip; on Debian: apt install python3-venv"
    "$python" -m pip --python .venv/bin/python "$@"
}

# What the compiled kernels are made of, as one checksum.
digest_of_kernels() {
    find lagbc/native -name '*.cpp' -o -name '*.h' | LC_ALL=C sort | xargs cat CMakeLists.txt | cksum
}

# A .venv is up to date if it was made here, from this pyproject.toml and these kernels, with these extras. Kernels are
# compiled for this machine alone, on all of its cores.
install() {
    stamp=.venv/lagbc-$1
    wanted=$(pwd && digest_of_kernels && cat pyproject.toml)
    if .venv/bin/python -c '' 2>/dev/null && [ "$wanted" = "$(cat "$stamp" 2>/dev/null)" ]; then return; fi
    make_venv
    echo "installing lagbc[$1] into .venv" >&2
    run_pip install --quiet --disable-pip-version-check \
        --config-settings cmake.define.LAGBC_LEVELS=native --editable ".[$1]"
    printf '%s\n' "$wanted" >"$stamp"
}

status=0
check() {
    echo "\$ $*" >&2
    ".venv/bin/$@" || {
        code=$?
        if [ "$status" -eq 0 ]; then status=$code; fi
    }
}

case ${1:-} in
demo)
    install plot
    mkdir -p build
    .venv/bin/lagbc bc example:ca-GrQc --top 10 --plot build/ca-GrQc.png
    echo "for more: . .venv/bin/activate; lagbc --help"
    ;;
test)
    install test
    check python -m ruff check
    check python -m ruff format --check
    check clang-format --dry-run -Werror $(find lagbc/native benchmarks -name '*.cpp' -o -name '*.h')
    check python -m mypy
    check python -m pytest -n logical --maxprocesses 4
    exit "$status"
    ;;
*)
    echo "usage: sh setup.sh demo | test" >&2
    exit 2
    ;;
esac
