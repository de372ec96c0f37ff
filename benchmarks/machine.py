"""What a result must say of the machine and the software that gave it."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("lagbc", "numpy", "scipy", "python-graphblas", "suitesparse-graphblas")


def describe() -> dict[str, object]:
    """Processor, cores this process may use, Python, package versions and the commit that is measured."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: package_version(name) for name in PACKAGES},
        "commit": commit(),
    }


def cpu_model() -> str:
    """Name the processor, from ``/proc/cpuinfo`` where there is one."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def commit(checkout: Path = ROOT) -> str | None:
    """Give the git commit of a checkout, with ``-dirty`` if files differ from it, or of an archive; else None."""
    if head := _git(checkout, "rev-parse", "HEAD"):
        return head + ("-dirty" if _git(checkout, "status", "--porcelain", "--untracked-files=no") else "")
    archived = checkout / ".git_archival.txt"
    named = archived.read_text(encoding="utf-8").strip() if archived.exists() else ""
    return named if len(named) == 40 else None


def package_version(package: str) -> str | None:
    """Give the version of a package; None if it is not installed, as when lagbc runs from its checkout."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(checkout: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(checkout), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
