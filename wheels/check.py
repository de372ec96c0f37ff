"""Check wheels, as ``sh setup.sh wheels`` does: ``python wheels/check.py dist/*.whl``.

Each has the name of its platform, at most 4 MB, the licences of all that is in it, kernels of GPUs where there is CUDA,
and compiled modules, 3 MB at most: one of rows a level of instructions, and one of all else. These ask for no library
that their platform may lack, for no symbol that its oldest system has not, and show no function but their entry and
what C++ has once in a process: new, delete, and types of exceptions.
"""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import lief
import page

MOST_BYTES, MOST_COMPILED = 4_000_000, 3_000_000  # of the wheel, and of its modules as they are installed
LICENCES = {"LICENSE", "NOTICE", "libcxx.txt", "nanobind.txt", "robin_map.txt"}
# Libraries that each system has. Python is none on Linux and macOS: the process that loads the module has its symbols.
LIBRARIES = {
    "manylinux_2_28": r"lib(c|m|pthread|dl|rt)\.so\.[0-9]+|ld-linux-[-a-z0-9_]+\.so\.[0-9]+",
    "win": r"python3[0-9]*\.dll|KERNEL32\.dll|ntdll\.dll|api-ms-win-crt-[-a-z0-9]+\.dll",
    "macosx_11_0": r"/usr/lib/libSystem\.B\.dylib",
}
OLDEST_GLIBC = (2, 28)
SHOWN = re.compile(
    r"PyInit_(core|rows_(v[234]|generic)|processor)|Z(na|nw|da|dl)\w*|ZT[ISV]N8nanobind\w*|mh_dylib_header|dso_handle"
)


def require(holds: object, message: str) -> None:
    """End with the message unless it holds."""
    if not holds:
        raise SystemExit(f"wheels/check.py: {message}")


def check(wheel: Path) -> dict[str, str]:
    """Return the size of a wheel that is as it should be, and the oldest system that it needs."""
    _, _, python, abi, platform = wheel.stem.split("-")
    require(abi == ("abi3" if python != "cp311" else python), f"{wheel.name} is for one Python alone")
    require(wheel.stat().st_size <= MOST_BYTES, f"{wheel.name} has {wheel.stat().st_size:,} bytes")
    files = zipfile.ZipFile(wheel)
    licences = {Path(name).name for name in files.namelist() if ".dist-info/licenses/" in name}
    require(licences >= LICENCES, f"{wheel.name} lacks the licences {LICENCES - licences}")
    modules = [name for name in files.namelist() if name.endswith((".so", ".pyd", ".dll", ".dylib"))]
    names = {Path(name).name.partition(".")[0] for name in modules}
    levels = ("v2", "v3", "v4") if re.search("x86_64|amd64", platform) else ("generic",)
    wanted = {"processor", "core", *(f"rows_{level}" for level in levels)}
    require(names == wanted, f"{wheel.name} has the modules {modules}")
    compiled = sum(files.getinfo(name).file_size for name in modules)
    require(compiled <= MOST_COMPILED, f"the modules of {wheel.name} have {compiled:,} bytes")
    system = next(system for system in LIBRARIES if platform.startswith(system))
    cubins = [name for name in files.namelist() if name.endswith(".cubin")]
    require(bool(cubins) != system.startswith("macosx"), f"{wheel.name} has {len(cubins)} kernels of GPUs")
    needed = list[str]()
    for module in (lief.parse(files.read(name)) for name in modules):
        others = {name for name in libraries(module) if not re.fullmatch(LIBRARIES[system], name)}
        require(not others, f"{wheel.name} asks for {others}")
        shown = {name for symbol in exported(module) if not SHOWN.fullmatch(name := symbol.name.lstrip("_"))}
        require(not shown, f"{wheel.name} shows {shown}")
        needed.append(requirement(module))
    oldest = max(needed, key=lambda system: [int(number) for number in re.findall(r"\d+", system)])
    if abi == "abi3":
        subprocess.run([Path(sys.executable).with_name("abi3audit"), "--strict", "--summary", wheel], check=True)
    return {"size": f"{wheel.stat().st_size / 1e6:.2f} MB", "needs": oldest}


def libraries(module: object) -> list[str]:
    """Return the names of the libraries that a module is linked with."""
    if isinstance(module, lief.MachO.Binary):
        own = lief.MachO.LoadCommand.TYPE.ID_DYLIB
        return [library.name for library in module.libraries if library.command != own]
    return [library if isinstance(library, str) else library.name for library in module.libraries]


def exported(module: object) -> list[object]:
    """Return the symbols that a module shows."""
    if isinstance(module, lief.PE.Binary):
        return list(module.get_export().entries)
    return list(module.exported_symbols)


def requirement(module: object) -> str:
    """Say which system a module needs at least; end where that is newer than its wheel says."""
    if isinstance(module, lief.ELF.Binary):
        names = {one.name for needed in module.symbols_version_requirement for one in needed.get_auxiliary_symbols()}
        versions = [tuple(map(int, name.removeprefix("GLIBC_").split("."))) for name in names]
        newest = max(versions, default=(2, 0))  # `processor` may ask for no symbol of it
        require(newest <= OLDEST_GLIBC, f"a symbol needs glibc {newest}")
        return f"glibc {'.'.join(map(str, newest))}"
    if isinstance(module, lief.MachO.Binary):
        undefined = [symbol for symbol in module.imported_symbols if symbol.name.startswith(("_Py", "__Py"))]
        wrong = [one.name for one in undefined if one.has_binding_info and one.binding_info.library_ordinal != -2]
        require(undefined and not wrong, f"symbols of Python are looked up elsewhere than in the process: {wrong}")
        require(module.has_code_signature or module.header.cpu_type != lief.MachO.Header.CPU_TYPE.ARM64, "no signature")
        return f"macOS {'.'.join(map(str, module.build_version.minos[:2]))}"
    return "Windows"


if __name__ == "__main__":
    lief.logging.disable()
    for each in map(Path, sys.argv[1:]):
        found = check(each)
        print(each.name, *found.values())
        page.record(each.name, found, kind="made")
