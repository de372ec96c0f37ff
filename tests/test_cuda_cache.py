"""The folder of compiled kernels: CuPy's, or one of the user's own where that cannot be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lagbc.cuda import cache

WITHOUT_IDS = not hasattr(os, "getuid")


@pytest.fixture
def unwritable(monkeypatch, tmp_path):
    """CuPy's folder is not to be written; temporary files are in a folder of the test."""
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file" / "kernels"))
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cache.provide_folder.cache_clear()
    yield tmp_path
    cache.provide_folder.cache_clear()


def test_a_folder_that_can_be_written_is_left(monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "new" / "kernels"))
    cache.provide_folder.cache_clear()
    cache.provide_folder()
    assert cache.folder() == tmp_path / "new" / "kernels"
    assert not list(cache.folder().iterdir())


@pytest.mark.skipif(WITHOUT_IDS, reason="users have no ids")
def test_a_temporary_folder_of_the_user_alone(unwritable):
    cache.provide_folder()
    own = unwritable / f"lagbc-{os.getuid()}"
    assert cache.folder() == own / "cupy"
    assert own.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(WITHOUT_IDS, reason="users have no ids")
def test_a_folder_that_others_may_write_is_not_taken(unwritable):
    own = unwritable / f"lagbc-{os.getuid()}"
    own.mkdir()
    own.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="set CUPY_CACHE_DIR to a folder that can be written"):
        cache.provide_folder()
    assert own not in cache.folder().parents
    assert cache.folder().parent.stat().st_mode & 0o777 == 0o700


def test_the_folder_is_provided_before_cupy_is_imported():
    """CuPy makes its folder when it is imported, and cannot be where it cannot."""
    text = Path(cache.__file__).parents[1].joinpath("methods", "table.py").read_text(encoding="utf-8")
    assert text.index("provide_folder()\n") < text.index('import_module("cupy").cuda')


def test_cupy_is_not_imported():
    command = "import sys; from lagbc.cuda import cache; cache.provide_folder(); sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
