#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Tests on several Pythons: `nox -s tests-3.13`. On one, `sh setup.sh test` makes all checks and needs no nox."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Compile lagbc for this Python, and run its tests."""
    session.install(".[test]")
    session.run("pytest", *session.posargs)


@nox.session(venv_backend="uv", default=False)
def oldest(session: nox.Session) -> None:
    """Run tests of scores with the oldest dependencies that lagbc allows."""
    session.install("scikit-build-core==0.11", "nanobind==2.9", "cmake", "ninja")
    scores = ".[networkx]", "pytest>=8", "hypothesis>=6.100", "gmpy2>=2.2"
    session.install("--no-build-isolation", "--resolution", "lowest-direct", *scores)
    session.run("pytest", "tests/native", "tests/test_score_hashes.py", "tests/test_bc.py", *session.posargs)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site of the documentation in build/docs."""
    session.install(".[docs]")
    session.run("sphinx-build", "-q", "-W", "--keep-going", "-c", "docs", ".", "build/docs")


if __name__ == "__main__":
    nox.main()
