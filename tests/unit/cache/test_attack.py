"""The cache under attack: whatever lies in the directory, results are right and nothing untrusted is run."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from flydsl.base import files
from flydsl.base.errors import FlyDSLError
from flydsl.compiler.artifacts import artifact as artifact_file
from flydsl.compiler.cache import compiled_code
from flydsl.compiler.cache.compiled_code import CacheKey
from flydsl.runtime.object_code import load_object
from tests.unit.cache.small import new_function, run
from tests.unit.cache.test_artifact_file import mutate

Attack = Callable[[Path, Path], None]
"""Does something to an artifact; the second path is the artifact of another function."""


def flip(path: Path, other: Path) -> None:
    data = bytearray(path.read_bytes())
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(data)


def truncate(path: Path, other: Path) -> None:
    os.truncate(path, random.randrange(1, path.stat().st_size))


def link(path: Path, other: Path) -> None:
    moved = path.parent.parent.parent / "moved"
    shutil.move(path, moved)
    path.symlink_to(moved)


def replaced_by(make: Callable[[Path], object]) -> Attack:
    def attack(path: Path, other: Path) -> None:
        path.unlink()
        make(path)

    return attack


def sealed_for_another_key(path: Path, other: Path) -> None:
    """The other function's code under this one's name, whole and with a digest that is right."""
    found = artifact_file.read(other.read_bytes())
    assert found is not None
    path.write_bytes(artifact_file.to_bytes(found[0], "a key of no function"))


ATTACKS: dict[str, Attack] = {
    "flipped bit": flip,
    "truncated": truncate,
    "emptied": lambda path, other: os.truncate(path, 0),
    "longer": lambda path, other: path.write_bytes(path.read_bytes() + b"more"),
    "another's": lambda path, other: path.write_bytes(other.read_bytes()),
    "another's, sealed": sealed_for_another_key,
    "zeros": lambda path, other: path.write_bytes(bytes(path.stat().st_size)),
    "a symbolic link to the real one": link,
    "a link to nothing": replaced_by(lambda path: path.symlink_to("/nonexistent/file")),
    "a link to itself": replaced_by(lambda path: path.symlink_to(path)),
    "a pipe": replaced_by(os.mkfifo),
    "a huge sparse file": replaced_by(lambda path: (path.touch(), os.truncate(path, 1 << 40))),
    "writable by all": lambda path, other: path.chmod(0o666),
    "writable by the group": lambda path, other: path.chmod(0o660),
}


@pytest.fixture
def attacked(fresh_cache: Path) -> tuple[Path, Path]:
    """The artifacts of two functions."""
    found = []
    for number in (5, 6):
        before = set(fresh_cache.glob("small_*/*.flydsl"))
        run(new_function(number), number)
        (new,) = set(fresh_cache.glob("small_*/*.flydsl")) - before
        found.append(new)
    return found[0], found[1]


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attacked_artifact_is_ignored_and_made_anew(name: str, attacked: tuple[Path, Path]) -> None:
    ATTACKS[name](*attacked)
    assert run(new_function()).misses == 1
    assert run(new_function()).hits == 1
    assert run(new_function(6), 6).hits == 1


def test_a_directory_in_its_place(attacked: tuple[Path, Path]) -> None:
    attacked[0].unlink()
    attacked[0].mkdir()
    assert run(new_function()).misses == 1
    assert run(new_function(6), 6).hits == 1


def test_a_socket_in_its_place(attacked: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    attacked[0].unlink()
    monkeypatch.chdir(attacked[0].parent)  # a path to a socket may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(attacked[0].name)
        assert run(new_function()).misses == 1
    assert run(new_function()).hits == 1


def needs_root() -> None:
    if os.geteuid():
        pytest.skip("only root can give files to another user")


def test_a_file_of_another_user(attacked: tuple[Path, Path]) -> None:
    needs_root()
    os.chown(attacked[0], 65534, 65534)
    assert run(new_function()).misses == 1
    assert attacked[0].stat().st_uid == 0
    assert run(new_function()).hits == 1


def test_a_directory_of_another_user(attacked: tuple[Path, Path]) -> None:
    needs_root()
    folder = attacked[0].parent
    os.chown(folder, 65534, 65534)
    assert run(new_function()).misses == 1
    assert run(new_function()).misses == 1
    os.chown(folder, 0, 0)
    assert run(new_function()).hits == 1


def test_an_unreadable_file(attacked: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Root reads everything, so for root the refusal comes from a stand-in."""
    attacked[0].chmod(0)
    if os.geteuid() == 0:
        real = os.open

        def refusing(path: object, *rest: int) -> int:
            if str(path) == str(attacked[0]):
                raise PermissionError(13, "Permission denied")
            return real(path, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(files.os, "open", refusing)
    assert run(new_function()).misses == 1


def test_a_link_in_place_of_the_directory(attacked: tuple[Path, Path], tmp_path: Path) -> None:
    folder = attacked[0].parent
    shutil.move(folder, tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert run(new_function()).misses == 1


def test_the_pool_is_checked_too(fresh_cache: Path) -> None:
    from flydsl.compiler.cache.compiled_code import pool_object

    good = pool_object()
    (path,) = fresh_cache.glob("host_pool_*/*.flydsl")
    flip(path, path)
    assert pool_object() == good
    assert artifact_file.read(path.read_bytes()) is not None


def test_random_damage_end_to_end(attacked: tuple[Path, Path]) -> None:
    """Mutations of a real file, through a whole call each."""
    rng = random.Random()
    whole = attacked[0].read_bytes()
    for _ in range(25):
        data = mutate(whole, rng)
        attacked[0].write_bytes(data)
        assert run(new_function()).misses == (data != whole)


def test_two_thousand_damaged_objects_never_crash(attacked: tuple[Path, Path]) -> None:
    """The loader behind a digest that somebody made fit: it loads or refuses, and maps no more than it should."""
    rng = random.Random()
    found = artifact_file.read(attacked[0].read_bytes())
    assert found is not None
    refused = 0
    for _ in range(2000):
        try:
            load_object(mutate(found[0].host_object, rng))
        except FlyDSLError:
            refused += 1
    assert refused > 500


def test_a_disk_that_is_really_full(fresh_cache: Path) -> None:
    """A child that may write only so many bytes to a file: its artifacts do not fit, its results are right."""

    def child() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        assert run(new_function()) == (0, 1, 1, 0)

    assert status_of(child) == 0
    assert not list(fresh_cache.rglob("*.flydsl")) and not list(fresh_cache.rglob("*.tmp"))


def status_of(work: Callable[[], None]) -> int:
    """Exit status of a forked child that does some work."""
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_nobody_waits_for_ever(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder of the lock that is stopped, not dead."""
    run(new_function())
    (path,) = fresh_cache.glob("small_*/*.flydsl")
    path.unlink()
    held: list[CacheKey] = []
    key_of = compiled_code.key_of

    def remembering(*arguments: object) -> object:
        found = key_of(*arguments)  # type: ignore[arg-type]
        held.append(found[0])  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(compiled_code, "key_of", remembering)
    run(new_function())
    path.unlink()
    monkeypatch.setattr(compiled_code, "PATIENCE_SECONDS", 0.05)
    store = files.open_store()
    assert store is not None
    with store.lock(held[0].place, 1):
        assert run(new_function()).misses == 1
    assert run(new_function()).hits == 1
