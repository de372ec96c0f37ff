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

# A .venv is up to date if it was made here, from this pyproject.toml, with these extras.
install() {
    stamp=.venv/lagbc-$1
    wanted=$(pwd && cat pyproject.toml)
    if .venv/bin/python -c '' 2>/dev/null && [ "$wanted" = "$(cat "$stamp" 2>/dev/null)" ]; then return; fi
    make_venv
    echo "installing lagbc[$1] into .venv" >&2
    run_pip install --quiet --disable-pip-version-check --editable ".[$1]"
    printf '%s\n' "$wanted" >"$stamp"
}

status=0
check() {
    echo "\$ $*" >&2
    .venv/bin/python -m "$@" || {
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
    check ruff check
    check ruff format --check
    check mypy
    check pytest -n logical --maxprocesses 4
    exit "$status"
    ;;
*)
    echo "usage: sh setup.sh demo | test" >&2
    exit 2
    ;;
esac
