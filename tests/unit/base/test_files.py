"""Atomic writes, locks and directories, also between processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flydsl.base import files, knobs
from flydsl.base.errors import FlyDSLError


@pytest.mark.parametrize(("umask", "rights"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_a_file_for_others_follows_the_umask(tmp_path: Path, umask: int, rights: int) -> None:
    before = os.umask(umask)
    try:
        files.atomic_write(tmp_path / "mine", b"")
        files.atomic_write(tmp_path / "shared", b"", mode=0o666)
    finally:
        os.umask(before)
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "shared").stat().st_mode & 0o777 == rights


def test_atomic_write_replaces_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "entry"
    files.atomic_write(path, b"one")
    files.atomic_write(path, b"two" * 1000)
    assert path.read_bytes() == b"two" * 1000
    assert os.listdir(tmp_path) == ["entry"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "entry"
    files.atomic_write(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.atomic_write(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["entry"]


def test_readers_see_whole_files_only(tmp_path: Path) -> None:
    path = tmp_path / "entry"
    bodies = [bytes([value]) * 200_000 for value in range(8)]
    files.atomic_write(path, bodies[0])
    stop = threading.Event()
    torn: list[bytes] = []

    def read() -> None:
        while not stop.is_set():
            data = path.read_bytes()
            if data not in bodies:
                torn.append(data[:8])

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    for body in bodies * 5:
        files.atomic_write(path, body)
    stop.set()
    for thread in readers:
        thread.join()
    assert not torn


_COUNT = """
import sys
from pathlib import Path
from flydsl.base.files import file_lock
lock, counter = Path(sys.argv[1]), Path(sys.argv[2])
for _ in range(50):
    with file_lock(lock):
        counter.write_text(str(int(counter.read_text()) + 1))
"""


def test_processes_exclude_each_other(tmp_path: Path) -> None:
    lock, counter = tmp_path / "lock", tmp_path / "counter"
    counter.write_text("0")
    command = [sys.executable, "-c", _COUNT, str(lock), str(counter)]
    children = [subprocess.Popen(command) for _ in range(4)]
    assert [child.wait(timeout=60) for child in children] == [0] * 4
    assert counter.read_text() == "200"
    assert lock.exists(), "a lock file is never deleted"


def test_threads_exclude_each_other_and_a_timeout_says_which_file(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with files.file_lock(lock):
        with pytest.raises(TimeoutError, match="lock was not free within"), files.file_lock(lock, timeout=0.05):
            pass
    with files.file_lock(lock, timeout=0.05):
        pass


def test_shared_locks_admit_each_other_only(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with files.file_lock(lock, shared=True), files.file_lock(lock, shared=True, timeout=0.05):
        with pytest.raises(TimeoutError), files.file_lock(lock, timeout=0.05):
            pass


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    hold = (
        "import os, sys; from pathlib import Path; from flydsl.base.files import file_lock\n"
        "with file_lock(Path(sys.argv[1])): os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", hold, str(lock)], check=True)
    with files.file_lock(lock, timeout=1):
        pass


def test_the_cache_directory_is_made_private(fresh_cache: Path) -> None:
    assert files.cache_directory() == fresh_cache
    assert fresh_cache.stat().st_mode & 0o777 == 0o700


def test_no_cache_directory_when_the_cache_is_off(fresh_cache: Path) -> None:
    with knobs.scope({knobs.RUNTIME_ENABLE_CACHE: False}):
        assert files.cache_directory() is None
    assert not fresh_cache.exists()


def test_a_directory_that_cannot_be_made_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with knobs.scope({knobs.DUMP_DIR: tmp_path / "file" / "dumps"}), pytest.raises(FlyDSLError) as caught:
        files.directory_of(knobs.DUMP_DIR)
    assert "set FLYDSL_DUMP_DIR to a directory you can write" in str(caught.value)
