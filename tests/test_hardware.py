"""What the machine offers: hand-made system files, hand-computed figures."""

import sys
from pathlib import Path

import psutil
import pytest

from nongda.errors import WeightsError
from nongda.models.hardware import (
    GB,
    check_cpu,
    choose_profile,
    cpu_features,
    free_disk,
    memory,
    physical_cores,
)

linux = pytest.mark.skipif(sys.platform == "win32", reason="reads /proc")
NEW = {"lite": int(0.57 * GB), "standard": int(1.2 * GB)}  # bytes to fetch on a new machine


def machine(root: Path, **files: str) -> Path:
    """A made-up root folder; double underscores in a name stand for slashes."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def meminfo(total_kib: int, available_kib: int) -> str:
    return f"MemTotal: {total_kib} kB\nMemFree: 7 kB\nMemAvailable: {available_kib} kB\nHugePages_Total: 0\n"


@linux
def test_features_are_read_from_the_flags_line(tmp_path):
    root = machine(tmp_path, proc__cpuinfo="model name\t: a CPU named avx2\nflags\t\t: fpu sse4_2 avx\n")
    assert cpu_features(root) == {"fpu", "sse4_2", "avx"}


@linux
def test_a_system_that_does_not_tell_has_no_features_and_is_not_refused(tmp_path):
    assert cpu_features(tmp_path) == frozenset()
    check_cpu(frozenset(), "x86_64")


@pytest.mark.parametrize("name", ["x86_64", "AMD64"])
def test_an_x86_processor_without_avx2_is_refused_in_words(name):
    with pytest.raises(WeightsError, match="没有 AVX2"):
        check_cpu(frozenset({"sse4_2", "avx"}), name)
    check_cpu(frozenset({"sse4_2", "avx", "avx2"}), name)


def test_other_processors_need_no_avx2():
    check_cpu(frozenset({"fp", "asimd"}), "aarch64")


def test_this_machine_passes_its_own_check():
    check_cpu()


@linux
def test_memory_without_a_container_is_what_the_kernel_says(tmp_path):
    root = machine(tmp_path, proc__meminfo=meminfo(8_000_000, 3_000_000))
    assert memory(root) == (8_192_000_000, 3_072_000_000)


@linux
def test_a_version_2_group_limits_memory_and_its_idle_cache_counts_as_free(tmp_path):
    root = machine(tmp_path, proc__meminfo=meminfo(8_000_000, 6_000_000),
                   proc__self__cgroup="0::/docker/abc\n")
    group = root / "sys/fs/cgroup/docker/abc"
    group.mkdir(parents=True)
    (group / "memory.max").write_text("2000000000\n")
    (group / "memory.current").write_text("900000000\n")
    (group / "memory.stat").write_text("anon 600000000\ninactive_file 300000000\n")
    assert memory(root) == (2_000_000_000, 1_400_000_000)


@linux
def test_the_limit_of_an_outer_group_holds_too(tmp_path):
    root = machine(tmp_path, proc__meminfo=meminfo(8_000_000, 6_000_000), proc__self__cgroup="0::/a/b\n")
    inner, outer = root / "sys/fs/cgroup/a/b", root / "sys/fs/cgroup/a"
    inner.mkdir(parents=True)
    (inner / "memory.max").write_text("max\n")
    (outer / "memory.max").write_text("1000000000\n")
    (outer / "memory.current").write_text("1200000000\n")
    assert memory(root) == (1_000_000_000, 0)


@linux
def test_version_1_groups_are_read_and_their_word_for_no_limit_is_none(tmp_path):
    root = machine(tmp_path, proc__meminfo=meminfo(8_000_000, 6_000_000),
                   proc__self__cgroup="5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n")
    base = root / "sys/fs/cgroup/memory"
    (base / "x").mkdir(parents=True)
    (base / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    (base / "x/memory.limit_in_bytes").write_text("4000000000\n")
    (base / "x/memory.usage_in_bytes").write_text("1500000000\n")
    (base / "x/memory.stat").write_text("total_inactive_file 500000000\n")
    assert memory(root) == (4_000_000_000, 3_000_000_000)


def test_memory_of_this_machine_is_within_what_psutil_reports():
    total, available = memory()
    assert 0 < available <= total <= psutil.virtual_memory().total


def test_there_is_at_least_one_core_and_never_more_than_logical_ones():
    assert 1 <= physical_cores() <= (psutil.cpu_count() or 1)


def test_free_disk_of_a_folder_not_yet_made_is_that_of_its_nearest_parent(tmp_path):
    assert free_disk(tmp_path / "模型 库" / "a" / "b") == pytest.approx(free_disk(tmp_path), rel=0.05)


def test_auto_takes_standard_from_six_gigabytes():
    assert choose_profile("auto", NEW, 6 * GB, 100 * GB)[0] == "standard"
    profile, why = choose_profile("auto", NEW, 6 * GB - 1, 100 * GB)
    assert profile == "lite" and "6.0 GB" in why and "内存" in why


def test_auto_takes_lite_when_the_disk_is_too_small_for_standard():
    # standard: 2 x 1.2 + 0.5 = 2.9 GB while it is put together; lite: 2 x 0.57 + 0.5 = 1.64 GB
    assert choose_profile("auto", NEW, 8 * GB, int(2.9 * GB))[0] == "standard"
    profile, why = choose_profile("auto", NEW, 8 * GB, int(2.8 * GB))
    assert profile == "lite" and "磁盘" in why and "2.9 GB" in why


def test_auto_keeps_a_complete_profile_so_that_a_later_start_needs_no_network():
    assert choose_profile("auto", {"lite": 0, "standard": int(1.2 * GB)}, 16 * GB, 100 * GB)[0] == "lite"
    assert choose_profile("auto", {"lite": int(0.5 * GB), "standard": 0}, 4 * GB, 0)[0] == "standard"


def test_auto_with_both_complete_goes_by_memory():
    both = {"lite": 0, "standard": 0}
    assert choose_profile("auto", both, 8 * GB, 0)[0] == "standard"
    assert choose_profile("auto", both, 4 * GB, 0)[0] == "lite"


def test_auto_leaves_a_complete_profile_that_memory_no_longer_carries():
    assert choose_profile("auto", {"lite": int(0.5 * GB), "standard": 0}, 2 * GB, 10 * GB)[0] == "lite"


def test_a_chosen_profile_is_followed_or_refused_with_both_figures():
    assert choose_profile("standard", NEW, 3 * GB, 3 * GB)[0] == "standard"
    with pytest.raises(WeightsError, match=r"2\.5 GB，standard 档至少要 3\.0 GB"):
        choose_profile("standard", NEW, int(2.5 * GB), 100 * GB)
    with pytest.raises(WeightsError, match=r"磁盘只剩 2\.0 GB，standard 档要 2\.9 GB"):
        choose_profile("standard", NEW, 8 * GB, 2 * GB)


@pytest.mark.parametrize(("free_memory", "disk", "word"), [(GB, 100 * GB, "内存"), (8 * GB, GB, "磁盘")])
def test_a_machine_too_small_for_lite_is_told_what_to_free(free_memory, disk, word):
    with pytest.raises(WeightsError, match=word):
        choose_profile("auto", NEW, free_memory, disk)
