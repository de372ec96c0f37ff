"""What the system leaves a process, by its control groups and its address space."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import lagbc
from lagbc import limits
from lagbc.options import check_options

MOUNT_1 = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
MOUNT_CPU = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:3 - cgroup cgroup rw,cpu\n"
MOUNT_2 = "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
MOUNT_2_BESIDE = MOUNT_2.replace("/cgroup ", "/cgroup/unified ")
# The source of a mount may be missing.
OTHERS = "22 1 254:0 / / rw - ext4 /dev/root rw\n25 22 0:5 / /empty rw - tmpfs  rw\n"
UNLIMITED = 9223372036854771712


def version_1(folder, limit, usage=0, inactive=0):
    return {
        f"{folder}/memory.limit_in_bytes": f"{limit}\n",
        f"{folder}/memory.usage_in_bytes": f"{usage}\n",
        f"{folder}/memory.stat": f"cache 7\ninactive_file 1\ntotal_inactive_file {inactive}\n",
    }


def version_2(folder, limit, current=0, inactive=0, high="max"):
    return {
        f"{folder}/memory.max": f"{limit}\n",
        f"{folder}/memory.high": f"{high}\n",
        f"{folder}/memory.current": f"{current}\n",
        f"{folder}/memory.stat": f"anon 7\ninactive_file {inactive}\nactive_file 3\n",
    }


MOUNT_CONTAINER = MOUNT_1.replace(" / ", " /docker/f00 ")
BOTH_VERSIONS = version_1("memory/a", 1000, 400) | {"unified/b/cgroup.procs": "1\n"}
WITHIN = version_2("a", 1000, 900) | version_2("a/b", "max", 500) | version_2("a/b/c", 600, 100)
WITHIN_1 = version_1("memory", UNLIMITED, 900) | version_1("memory/a", 1000, 500, 200)
WITHIN_1 |= version_1("memory/a/b", 2000, 100) | version_1("cpu/x", 1)
# Groups of the process, mounts, files of groups below sys/fs/cgroup, and what is left.
SYSTEMS = {
    "no limit": ("0::/a", MOUNT_2, version_2("a", "max"), None),
    "a limit": ("0::/a/b", OTHERS + MOUNT_2, version_2("a/b", 1000, 300, 100), 800),
    "limits around it": ("0::/a/b/c", MOUNT_2, WITHIN, 100),
    "throttled": ("0::/a", MOUNT_2, version_2("a", 1000, 300, high=700), 400),
    "over its limit": ("0::/a", MOUNT_2, version_2("a", 1000, 1300), 0),
    "not numbers": ("0::/a", MOUNT_2, {"a/memory.max": "\n", "a/memory.high": "x y\n"}, None),
    "a container": ("0::/", MOUNT_2, version_2("", 1000, 300), 700),
    "another name inside": ("0::/../b", MOUNT_2.replace(" / ", " /a "), version_2("", 1000, 300), 700),
    "version 1": ("5:cpu:/x\n4:hugetlb,memory:/a/b", MOUNT_CPU + MOUNT_1, WITHIN_1, 700),
    "version 1, a container": ("4:memory:/docker/f00", MOUNT_CONTAINER, version_1("memory", 1000, 400), 600),
    "both versions": ("4:memory:/a\n0::/b", MOUNT_1 + MOUNT_2_BESIDE, BOTH_VERSIONS, 600),
}


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Write the groups of the process, mounts and files of groups to the root of a system of 5000 free bytes."""
    monkeypatch.setattr(limits, "_available", lambda root: 5000)
    monkeypatch.setattr(limits, "_left_of_address_space", lambda: [])

    def write(groups, mounts, files):
        files = {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
        for name, text in ({"proc/self/cgroup": f"{groups}\n", "proc/self/mountinfo": mounts} | files).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="ascii")
        return tmp_path

    return write


@pytest.mark.parametrize(("groups", "mounts", "files", "left"), SYSTEMS.values(), ids=SYSTEMS)
def test_groups(system, groups, mounts, files, left):
    assert limits.free_memory(system(groups, mounts, files)) == (5000 if left is None else left)


def quota_1(quota):
    return {"cpu/x/cpu.cfs_quota_us": f"{quota}\n", "cpu/x/cpu.cfs_period_us": "100000\n"}


# Groups, mounts, files of groups, and the cores of eight whose time is granted.
NO_QUOTA_AROUND = {"cpu/cpu.cfs_quota_us": "-1\n"}
QUOTAS = {
    "no quota": ("0::/a", MOUNT_2, {"a/cpu.max": "max 100000\n"}, 8),
    "a quota": ("0::/a", OTHERS + MOUNT_2, {"a/cpu.max": "200000 100000\n"}, 2),
    "more than there are": ("0::/a", MOUNT_2, {"a/cpu.max": "1600000 100000\n"}, 8),
    "a part of a core": ("0::/a", MOUNT_2, {"a/cpu.max": "5000 100000\n"}, 1),
    "one and a part": ("0::/a", MOUNT_2, {"a/cpu.max": "150000 100000\n"}, 2),
    "around it": ("0::/a/b", MOUNT_2, {"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "max 100000\n"}, 3),
    "a container": ("0::/", MOUNT_2, {"cpu.max": "50000 10000\n"}, 5),
    "not numbers": ("0::/a", MOUNT_2, {"a/cpu.max": "x\n"}, 8),
    "nothing": ("0::/a", MOUNT_2, {"a/cpu.max": ""}, 8),
    "version 1": ("5:cpu,cpuacct:/x\n4:memory:/y", MOUNT_CPU + MOUNT_1, quota_1(400000) | NO_QUOTA_AROUND, 4),
    "version 1, no quota": ("5:cpu:/x", MOUNT_CPU, quota_1(-1), 8),
}


@pytest.mark.parametrize(("groups", "mounts", "files", "cores"), QUOTAS.values(), ids=QUOTAS)
def test_quotas_of_time(system, groups, mounts, files, cores):
    root = system(groups, mounts, files)
    assert limits.usable_cores(set(range(8)), root) == cores
    assert limits.usable_cores({5}, root) == 1


def test_no_more_threads_than_the_quota_grants(monkeypatch):
    monkeypatch.setattr(limits, "usable_cores_by_number", lambda: set(range(8)))
    for granted, threads in ((3, 3), (100, 8)):
        monkeypatch.setattr(limits, "_cores_of_groups", lambda root, granted=granted: granted)
        assert check_options("auto", {}).usable_threads == threads
        assert check_options("auto", {"threads": 5}).threads == 5


def test_a_process_that_is_moved_to_another_group(system):
    for group, limit in (("a", 1000), ("b", 700)):
        assert limits.free_memory(system(f"0::/{group}", MOUNT_2, {f"{group}/memory.max": f"{limit}\n"})) == limit


@pytest.mark.usefixtures("system")
def test_a_system_without_groups(tmp_path):
    assert limits.free_memory(tmp_path) == 5000


@pytest.mark.usefixtures("system")
def test_budget_is_half_of_what_a_group_leaves(monkeypatch):
    monkeypatch.delenv("LAGBC_MEMORY", raising=False)
    monkeypatch.setattr(limits, "_left_by_groups", lambda root: [1000])
    with pytest.raises(MemoryError, match="the budget is 500"):
        lagbc.bc(np.ones((700, 700)))  # a run of less than 4 MiB does not look


def test_what_the_system_can_give(tmp_path):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:    2500 kB\n")
    assert limits._available(tmp_path) == 2500 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone says what is used")
def test_address_space():
    script = """
import resource
from pathlib import Path
from lagbc import limits
status = Path("/proc/self/status").read_text()
used = 1024 * int(status.partition("VmSize:")[2].split()[0])
resource.setrlimit(resource.RLIMIT_AS, (used + 10_000_000, resource.RLIM_INFINITY))
assert limits.free_memory() <= 10_000_000
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_system_without_limits_of_address_space(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "resource", None)
    assert list(limits._left_of_address_space()) == []
    assert limits.free_memory(tmp_path) > 0


def test_the_memory_that_a_process_holds_has_its_arrays():
    array = np.ones(2**22)
    assert limits.held_memory() > array.nbytes


@pytest.mark.parametrize(("process", "cores"), [({"cpu_affinity": lambda: [0, 2]}, {0, 2}), ({}, {0, 1, 2})])
def test_cores_of_a_system_other_than_linux(monkeypatch, process, cores):
    """Windows binds a process to cores, macOS does not."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    monkeypatch.setitem(sys.modules, "psutil", SimpleNamespace(Process=lambda: SimpleNamespace(**process)))
    assert limits.usable_cores_by_number() == cores
