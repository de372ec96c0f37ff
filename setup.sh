#!/bin/sh
# Makes ./.venv with lagbc (editable) and what a task needs, then does the task:
#
#   sh setup.sh demo    betweenness of a shipped network, with a figure
#   sh setup.sh docs    the documentation as a site: build/docs/docs/index.html
#   sh setup.sh test    formatting, types and tests, as the continuous integration runs them
#   sh setup.sh wheels  wheels of all platforms in dist/, checked; or `wheels x86_64-linux-gnu.2.28` of one
#   sh setup.sh try-linux, try-arm, try-windows  those wheels, on other systems than this one: docs/install.md
#
# Needs Python 3.11 or later and pip's package index. PYTHON=... names the interpreter; wheels take several, python3.11
# and python3.12 unless it names others. An up-to-date .venv is kept.
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

venv=.venv

make_venv() {
    python=$(find_python)
    # Debian leaves ensurepip to the package python3-venv, and venv fails without it.
    "$python" -m venv --clear $venv >/dev/null 2>&1 ||
        "$python" -m venv --clear --without-pip $venv ||
        fail "cannot make $venv; on Debian: apt install python3-venv"
}

# pip for the environment: its own, or else the system's, which can install into another one.
run_pip() {
    if $venv/bin/python -m pip --version >/dev/null 2>&1; then
        $venv/bin/python -m pip --quiet --disable-pip-version-check "$@"
        return
    fi
    python=$(find_python)
    "$python" -m pip --version >/dev/null 2>&1 || fail "there is no pip; on Debian: apt install python3-venv"
    "$python" -m pip --python $venv/bin/python --quiet --disable-pip-version-check "$@"
}

# The sources of the compiled kernels, as one checksum.
digest_of_kernels() {
    find lagbc/native -name '*.cpp' -o -name '*.h' | LC_ALL=C sort | xargs cat CMakeLists.txt | cksum
}

# A .venv is up to date if it was made here, from this pyproject.toml and these kernels, with these extras or for tests,
# which take all. Kernels are compiled for some levels of instructions, on all cores, while pip gets all else; more
# options are for pip.
install() {
    extra=$1 levels=$2
    shift 2
    wanted=$(pwd && digest_of_kernels && cat pyproject.toml)
    if .venv/bin/python -c '' 2>/dev/null; then
        for stamp in ".venv/lagbc-$extra" .venv/lagbc-test; do
            if [ "$wanted" = "$(cat "$stamp" 2>/dev/null)" ]; then return; fi
        done
    else
        make_venv
    fi
    echo "installing lagbc[$extra] into .venv" >&2
    rm -f .venv/lagbc-*
    set -- "$@" --config-settings "cmake.define.LAGBC_LEVELS=$levels"
    (
        get_tools
        make_local_wheel "$@"
    ) &
    compiling=$!
    got=0
    run_pip install --no-compile --config-settings wheel.cmake=false --config-settings wheel.py-api=py3 \
        --editable ".[$extra]" || got=$?
    wait $compiling # also if pip has failed: no compiler outlives this script
    if [ "$got" -ne 0 ]; then exit "$got"; fi
    wheel_is_made=yes
    build_by_pip install --no-compile "$@" --editable .
    printf '%s\n' "$wanted" >".venv/lagbc-$extra"
}

# The tools that compile, in a folder of their own, as an environment that runs lagbc does not need them. A compiler is
# one of them where the system has none. They are got anew only for another backend, or else all would be compiled anew.
get_tools() {
    backend=$(sed -n '/build-system/,/^$/p' pyproject.toml | cat - build_backend/lagbc_build.py | cksum)
    if [ "$backend" = "$(cat build/tools/backend 2>/dev/null)" ]; then return; fi
    rm -rf build/tools build/tools.part
    run_pip install --no-compile --target build/tools.part scikit-build-core "nanobind<4" cmake ninja
    compiler=$(PYTHONPATH=build/tools.part:build_backend .venv/bin/python -c \
        'import lagbc_build; print(*lagbc_build.requirements())')
    if [ -n "$compiler" ]; then run_pip install --no-compile --target build/tools.part "$compiler"; fi
    printf '%s\n' "$backend" >build/tools.part/backend
    mv build/tools.part build/tools
}

# pip with these tools. It takes them for packages of the environment, and so it is not asked for any here.
build_by_pip() {
    (
        export PATH="$PWD/build/tools/bin:$PATH" PYTHONPATH="$PWD/build/tools"
        run_pip "$@" --no-build-isolation --no-deps
    )
}

make_local_wheel() {
    rm -rf build/wheel/local
    build_by_pip wheel --wheel-dir build/wheel/local "$@" .
}

# For compilers that are known here; one that warns of more shall still install lagbc.
strict=cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON

# Make wheels by zig's compiler for each platform that the backend knows: one for Python 3.11, and one for 3.12 and all
# that follow. Both have the same tools, or else what one has compiled would be compiled anew for the other: the kernels,
# and zig's libraries. Kernels of a GPU are the same in all. Then check them.
make_wheels() {
    rm -rf build/wheels/made build/wheels/cubins
    tools=$PWD/build/wheels/tools cubins=$PWD/build/wheels/cubins
    for named in ${PYTHON:-python3.11 python3.12}; do
        PYTHON=$named
        venv=$PWD/build/wheels/$named
        make_venv
        if [ ! -d "$tools" ]; then
            run_pip install --no-compile --target "$tools" scikit-build-core "nanobind<4" cmake ninja ziglang
        fi
        if [ ! -d "$cubins" ]; then
            run_pip install numpy "cuda-bindings>=13,<14" "nvidia-cuda-nvrtc>=13,<14"
            "$venv/bin/python" wheels/cubins.py "$cubins"
        fi
        LAGBC_WINDOWS_PYTHON=build/wheels/windows-$named
        "$venv/bin/python" wheels/windows_python.py "$LAGBC_WINDOWS_PYTHON"
        for target in ${1:-$(PYTHONPATH=build_backend:$tools "$venv/bin/python" -c \
            'import lagbc_build; print(*lagbc_build.PLATFORMS)')}; do
            echo "compiling for $target and $named with zig's compiler" >&2
            (
                export PATH="$tools/bin:$PATH" PYTHONPATH="$tools"
                export LAGBC_WINDOWS_PYTHON LAGBC_ZIG_TARGET="$target"
                run_pip wheel --no-build-isolation --no-deps --wheel-dir build/wheels/made \
                    --config-settings $strict --config-settings "cmake.define.LAGBC_CUBINS=$cubins" \
                    --config-settings "build-dir=build/wheels/$target" .
            )
        done
    done
    mkdir -p dist
    cp build/wheels/made/*.whl dist
    run_pip install lief abi3audit
    "$venv/bin/python" wheels/check.py build/wheels/made/*.whl
}

# Install a wheel into a fresh environment, and use it outside of the checkout, without a compiler.
try_wheel() {
    venv=$PWD/build/wheel/fresh
    make_venv
    run_pip install --no-compile --only-binary :all: "$1"
    (cd / && PATH=$venv/bin lagbc bc example:ca-GrQc --top 10)
}

# The first status of checks that fail is that of all.
status=0
failed() {
    if [ "$status" -eq 0 ]; then status=$1; fi
}

check() {
    echo "\$ $*" >&2
    ".venv/bin/$@" || failed $?
}

# The same bits without the instructions of this kind of processor. The two networks that take longest are swept by the
# same kernels as the others.
test_lesser_levels() {
    lesser='from lagbc.native import level, levels; print(*levels()[levels().index(level()) + 1 :])'
    lessers=$(.venv/bin/python -c "$lesser")
    for level in $lessers; do
        export LAGBC_LEVEL="$level"
        echo "LAGBC_LEVEL=$level" >&2
        check python -m pytest -p no:cacheprovider tests/native tests/test_score_hashes.py::test_bits \
            --deselect "tests/test_score_hashes.py::test_bits[batched ca-GrQc]" \
            --deselect "tests/test_score_hashes.py::test_bits[batched power]"
    done
    return "$status"
}

# Build the site of the documentation, or, by the builder "dummy", look at all of it and write none; a warning, such as
# of a link that leads nowhere, is an error.
make_site() {
    .venv/bin/python -m sphinx -q -W --keep-going -b "$1" -c docs . build/docs
}

case ${1:-} in
demo)
    install plot native
    mkdir -p build
    .venv/bin/lagbc bc example:ca-GrQc --top 10 --plot build/ca-GrQc.png
    echo "for more: . .venv/bin/activate; lagbc --help"
    ;;
docs)
    install docs native
    make_site html
    echo "build/docs/docs/index.html"
    ;;
test)
    export PATH="$PWD/.venv/bin:$PATH"
    unset PYTHONDONTWRITEBYTECODE # or else hundreds of processes compile what they import, each for itself
    export OPENBLAS_NUM_THREADS=1 # hardly anything calls BLAS, and its threads take a tenth of a second of each process
    levels='native;generic'
    install test "$levels" --config-settings $strict
    # Steps of one core go on beside lints and tests.
    {
        if [ -z "${wheel_is_made:-}" ]; then
            make_local_wheel --config-settings $strict --config-settings "cmake.define.LAGBC_LEVELS=$levels"
        fi
        try_wheel "$(echo "$PWD"/build/wheel/local/*.whl)"
    } >.venv/wheel.txt 2>&1 &
    wheel=$!
    .venv/bin/python -m mypy >.venv/mypy.txt 2>&1 &
    types=$!
    make_site dummy >.venv/docs.txt 2>&1 &
    site=$!
    test_lesser_levels >.venv/lesser.txt 2>&1 &
    lesser=$!
    check python -m ruff check
    check python -m ruff format --check
    check codespell
    check rumdl check --quiet
    check sp-repo-review . --show err
    check zizmor --quiet --offline .github
    check clang-format --dry-run -Werror $(find lagbc/native lagbc/reduce tests/native benchmarks -name '*.cpp' -o -name '*.h')
    check python -m pytest -n logical --maxprocesses 4 --dist worksteal
    wait "$lesser" || failed $?
    cat .venv/lesser.txt >&2
    echo "\$ pip install" build/wheel/local/*.whl >&2
    wait "$wheel" || failed $?
    cat .venv/wheel.txt >&2
    echo "\$ python -m mypy" >&2
    wait "$types" || failed $?
    cat .venv/mypy.txt >&2
    echo "\$ python -m sphinx" >&2
    wait "$site" || failed $?
    cat .venv/docs.txt >&2
    exit "$status"
    ;;
wheels)
    make_wheels "${2:-}"
    ;;
try-linux | try-arm | try-windows)
    venv=$PWD/build/try/tools
    make_venv
    "$venv/bin/python" wheels/tried.py "${1#try-}"
    ;;
*)
    echo "usage: sh setup.sh demo | docs | test | wheels | try-linux | try-arm | try-windows" >&2
    exit 2
    ;;
esac
