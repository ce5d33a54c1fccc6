"""Many processes over one cache: each key is compiled once, and writers that are killed harm nobody.

The processes are forked from this one, with the compiler loaded, so that they meet in the cache and not in imports.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import Thread

from flydsl.compiler.artifacts import artifact as artifact_file
from flydsl.compiler.cache.compiled_code import place_of
from tests.unit.cache.small import new_function, run


def load_the_compiler() -> None:
    for name in ("tracing.trace", "lowering.driver", "cache.compiled_code"):
        import_module(f"flydsl.compiler.{name}")


def forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def exit_status(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_processes_that_ask_at_the_same_time_compile_once(fresh_cache: Path, tmp_path: Path) -> None:
    load_the_compiler()
    begin = time.time() + 0.3

    def work() -> None:
        time.sleep(max(0.0, begin - time.time()))
        misses = [run(new_function(number), number).misses for number in range(5)]
        (tmp_path / f"misses{os.getpid()}").write_text(str(sum(misses)))

    children = [forked(work) for _ in range(8)]
    assert [exit_status(child) for child in children] == [0] * 8
    assert sum(int(path.read_text()) for path in tmp_path.glob("misses*")) == 5


def test_threads_that_ask_at_the_same_time_compile_once(fresh_cache: Path) -> None:
    functions = [new_function() for _ in range(8)]
    threads = [Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(function.cache_info().misses for function in functions) == 1


def test_sixteen_processes_and_writers_killed_at_random(fresh_cache: Path) -> None:
    load_the_compiler()

    def work() -> None:
        numbers = list(range(20))
        random.Random(os.getpid()).shuffle(numbers)
        for number in numbers:
            run(new_function(number), number)

    children = [forked(work) for _ in range(16)]
    victims = random.sample(children, 6)
    for victim in victims:
        time.sleep(random.random() * 0.2)
        os.kill(victim, signal.SIGKILL)
    for child in children:
        status = exit_status(child)
        assert status == 0 or (child in victims and status == -signal.SIGKILL)
    found = list(fresh_cache.glob("small_*/*.flydsl"))
    assert len(found) == 20
    for path in found:
        whole = artifact_file.read(path.read_bytes())
        assert whole is not None
        folder, name = place_of(whole[1])
        assert (path.parent.name.endswith(folder), path.name) == (True, name)
    assert all(run(new_function(number), number).hits == 1 for number in range(20))


def test_a_killed_writer_blocks_nobody(fresh_cache: Path) -> None:
    """Killed while it holds the lock and has written half a file."""
    load_the_compiler()

    def work() -> None:
        import flydsl.base.files as files

        def half(path: Path, data: bytes, **_: bool) -> None:
            (path.parent / f".{path.name}.half.tmp").write_bytes(data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)

        files.atomic_write = half
        run(new_function())

    assert exit_status(forked(work)) == -signal.SIGKILL
    began = time.monotonic()
    assert run(new_function()).misses == 1
    assert time.monotonic() - began < 60
    assert run(new_function()).hits == 1
