"""Try the wheels of dist/ on other systems than this one: ``python wheels/tried.py linux``, ``arm`` or ``windows``.

It makes what a system takes in build/try: Debian 13 in a folder, Python for Windows, packages of PyPI. Then `probe.py`
runs in there. Needs root and Debian's debootstrap; arm takes qemu-user-static, linux, too. What it finds is in
`benchmarks/results/wheels.json`, and `wheels/page.py` makes the page of that.
"""

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import page
import windows_python

ROOT = Path(__file__).parents[1]
TRY = ROOT / "build" / "try"
MIRROR = "http://deb.debian.org/debian"
# The tests of kernels and digests take these; the oldest versions are those that pyproject.toml allows.
FOR_TESTS = ["pytest>=8", "hypothesis>=6", "gmpy2>=2.2"]
NEWEST = ["numpy", "scipy", "networkx"]
OLDEST = ["numpy==2.0.0", "scipy==1.15.0", "networkx==3.5"]
TAGS = {
    "x86_64": [f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 17)] + ["manylinux2014_x86_64"],
    "aarch64": [f"manylinux_2_{minor}_aarch64" for minor in (28, 27, 17)] + ["manylinux2014_aarch64"],
    "win": ["win_amd64"],
}


def run(*command: object, **options: object) -> subprocess.CompletedProcess:
    """Run a command that has to succeed."""
    return subprocess.run(list(map(str, command)), check=True, **options)


def debian(architecture: str, *packages: str) -> Path:
    """Return Debian 13 in a folder: its packages are unpacked, and not set up, which is slow by qemu."""
    root = TRY / architecture
    if not root.joinpath("usr/bin/python3").exists():
        shutil.rmtree(root, ignore_errors=True)
        include = ",".join(("python3", *packages))
        run("debootstrap", "--foreign", "--variant=minbase", f"--arch={architecture}", f"--include={include}", "trixie",
            root, MIRROR)  # fmt: skip
        for package in sorted(root.glob("var/cache/apt/archives/*.deb")):
            run("dpkg-deb", "-x", package, root)
    return root


def packages(folder: Path, kind: str, minor: int, versions: list[str]) -> Path:
    """Fill a folder with lagbc's wheel for a Python 3.`minor` and a platform, and what it and its tests require.

    pip asks packages whether they run on the Python that it runs on itself; by their tags they run on the other one.
    """
    abi = "cp311-cp311" if minor == 11 else "cp312-abi3"
    wheel = next(ROOT.glob(f"dist/lagbc-*-{abi}-{TAGS[kind][0]}.whl"))
    shutil.rmtree(folder, ignore_errors=True)
    platforms = [f"--platform={tag}" for tag in TAGS[kind]]
    run(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile", "--target",
        folder, *platforms, f"--python-version=3.{minor}", "--ignore-requires-python",
        "--only-binary=:all:",
        wheel, *versions, *FOR_TESTS)  # fmt: skip
    return folder


def probe(
    row: str,
    *command: object,
    env: dict[str, str] | None = None,
    tests: object = ROOT / "tests",
    names: tuple[str, ...] = page.STEPS,
) -> None:
    """Run steps by a command that ends in the probe, and record what they say."""
    print(f"trying {row}", file=sys.stderr, flush=True)
    steps = {}
    with subprocess.Popen(
        [*map(str, command), str(tests), *names], stdout=subprocess.PIPE, text=True, env=env
    ) as process:
        for line in process.stdout:
            if line.startswith("{"):
                print(line, end="", flush=True)
                steps |= json.loads(line)
    page.record(row, steps)


def inside(root: Path) -> list[object]:
    """Return the beginning of a command in a root, to which this checkout's wheels/ and tests/ are bound."""
    bound = {"/proc": "proc", "/dev": "dev", ROOT / "wheels": "wheels", ROOT / "tests": "tests"}
    for folder in bound.values():
        root.joinpath(folder).mkdir(exist_ok=True)
    mounts = [shlex.join(["mount", "--rbind", str(here), str(root / there)]) for here, there in bound.items()]
    script = " && ".join([*mounts, f'exec chroot {shlex.quote(str(root))} "$@"'])
    return ["unshare", "--mount", "sh", "-c", script, "sh", "env", "-i", "PATH=/usr/bin", "HOME=/root", "LANG=C.UTF-8"]


def linux() -> None:
    """Python 3.11 and 3.12 here, 3.13 in Debian 13, and a processor of 2008, of level v2, by qemu."""
    here = f"{platform.freedesktop_os_release()['PRETTY_NAME']}, glibc {platform.libc_ver()[1]}"
    for minor, versions, kind in (11, OLDEST, "the oldest"), (12, NEWEST, "the newest"):
        python = shutil.which(f"python3.{minor}")
        if python is None or subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode != 0:
            print(f"there is no python3.{minor}", file=sys.stderr)
            continue
        site = packages(TRY / f"site-3.{minor}", "x86_64", minor, versions)
        env = os.environ | {"PYTHONPATH": str(site)}
        probe(f"Linux x86-64 | {here}, {kind} versions", python, "wheels/probe.py", env=env)
        if minor == 11:
            runner = "qemu-x86_64-static -cpu Nehalem"
            found = run(python, "-c", "import sys; print(sys.executable)", capture_output=True, text=True)
            command = [*runner.split(), found.stdout.strip(), "wheels/probe.py"]
            probe(
                "Linux x86-64 | the same, on a Nehalem by qemu-user",
                *command,
                env=env | {"LAGBC_RUNNER": runner, "LAGBC_SLOW": "1"},
            )
    root = debian("amd64", "wine64")
    packages(root / "site", "x86_64", 13, NEWEST)
    command = [*inside(root), "PYTHONPATH=/site", "python3", "/wheels/probe.py"]
    probe("Linux x86-64 | Debian 13, the newest versions", *command, tests="/tests")


def arm() -> None:
    """Debian 13 for ARM64, whose programs the kernel hands to qemu."""
    known = Path("/proc/sys/fs/binfmt_misc")
    if not known.joinpath("register").exists():
        run("mount", "-t", "binfmt_misc", "binfmt_misc", known)
    if not known.joinpath("qemu-aarch64").exists():
        known.joinpath("register").write_bytes(Path("/usr/lib/binfmt.d/qemu-aarch64.conf").read_bytes())
    root = debian("arm64")
    packages(root / "site", "aarch64", 13, NEWEST)
    command = [*inside(root), "LAGBC_SLOW=1", "PYTHONPATH=/site", "python3", "/wheels/probe.py"]
    probe("Linux ARM64 | Debian 13 under qemu-user", *command, tests="/tests")


def windows() -> None:
    """Python of python.org for Windows, under the wine of Debian 13."""
    root = debian("amd64", "wine64")
    # Where Debian sets wine up, it is given this copy, marked as its own.
    library = bytearray(root.joinpath("usr/x86_64-w64-mingw32/lib/zlib1.dll").read_bytes())
    library[64:96] = b"Wine builtin DLL".ljust(32, b"\0")
    root.joinpath("usr/lib/x86_64-linux-gnu/wine/x86_64-windows/zlib1.dll").write_bytes(library)
    for minor in (11, 13):
        python = root / f"windows-3.{minor}"
        windows_python.put(python, minor)
        python.joinpath("_wmi.pyd").unlink(missing_ok=True)  # wine has no such service
        # Other versions of NumPy and SciPy call crealf, which this wine lacks: for 3.11 all of SciPy do, which tests of
        # kernels import. The last two packages are for Windows alone, which pip does not see from here.
        scipy, names = ("scipy==1.15.0", page.STEPS[:-1]) if minor == 11 else ("scipy>=1.18", page.STEPS)
        packages(python / "site", "win", minor, ["numpy==2.1.0", scipy, "networkx==3.5", "psutil", "colorama"])
        python.joinpath(f"python3{minor}._pth").write_text(f"python3{minor}.zip\n.\nsite\n", encoding="utf-8")
        wine = [
            "LAGBC_SLOW=1",
            "WINEPREFIX=/root/wine",
            "WINEDEBUG=-all",
            "/usr/lib/wine/wine64",
            f"/windows-3.{minor}/python.exe",
        ]
        row = f"Windows x86-64 | Python 3.{minor} of python.org under wine 10"
        probe(row, *inside(root), *wine, "/wheels/probe.py", tests="/tests", names=names)


if __name__ == "__main__":
    os.chdir(ROOT)
    {"linux": linux, "arm": arm, "windows": windows}[sys.argv[1]]()
