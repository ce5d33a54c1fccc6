"""What the environment asks of the disk cache, and what is never kept."""

from __future__ import annotations

import errno
import linecache
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import code_reads, files, knobs
from flydsl.base.errors import DslRuntimeError
from flydsl.base.log import get_logger
from flydsl.base.own_code import own_file
from flydsl.compiler.artifacts import artifact as site_map
from flydsl.compiler.artifacts.artifact import Artifact
from flydsl.compiler.cache import compiled_code
from tests.unit.cache.small import new_function, run


def artifacts(cache: Path, name: str = "small") -> list[Path]:
    return sorted(cache.glob(f"{name}_*/*.flydsl"))


def test_layout_of_the_directory(fresh_cache: Path) -> None:
    function = new_function()
    assert function.cache_info() is None
    assert run(function) == (0, 1, 1, 1)
    assert run(function) == (1, 1, 1, 1)
    (found,) = artifacts(fresh_cache)
    prefix, digest = found.parent.name.rsplit("_", 1)
    assert prefix == "small" and len(digest) == 32 and int(digest, 16) >= 0
    assert len(found.stem) == 16 and int(found.stem, 16) >= 0
    assert found.stat().st_mode & 0o777 == 0o600 and fresh_cache.stat().st_mode & 0o777 == 0o700
    assert not list(fresh_cache.rglob("*.pkl"))
    assert run(new_function()) == (1, 0, 1, 1)


def test_the_cache_can_be_off(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "0")
    assert run(new_function()) == (0, 1, 1, 0)
    assert not fresh_cache.exists()


def test_compile_only_fills_and_run_only_uses(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.full(4, -1, np.int32)
    with knobs.scope({knobs.COMPILE_ONLY: True, knobs.RUNTIME_KIND: "host"}):
        function = new_function()
        assert function(out) is None
        assert (out == -1).all()
        assert function.cache_info()[:2] == (0, 1)
    assert len(artifacts(fresh_cache)) == 1
    assert len(artifacts(fresh_cache, "host_pool")) == 1
    monkeypatch.setenv(knobs.RUNTIME_RUN_ONLY.name, "1")
    assert run(new_function()) == (1, 0, 1, 1)


def test_run_only_refuses_to_compile(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.RUNTIME_RUN_ONLY.name, "1")
    with pytest.raises(RuntimeError, match=r"'small' has no compiled code .* forbids compiling") as caught:
        run(new_function())
    assert isinstance(caught.value, DslRuntimeError) and "COMPILE_ONLY=1" in str(caught.value)
    assert not artifacts(fresh_cache)
    monkeypatch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "0")
    with pytest.raises(RuntimeError, match="FLYDSL_RUNTIME_ENABLE_CACHE=1"):
        run(new_function())


def test_run_only_with_dumps_makes_no_sense(fresh_cache: Path, tmp_path: Path) -> None:
    run(new_function())
    settings: Any = {knobs.RUNTIME_RUN_ONLY: True, knobs.DUMP_IR: True, knobs.DUMP_DIR: tmp_path / "dumps"}
    with knobs.scope(settings), pytest.raises(ValueError, match="nothing to dump"):
        run(new_function())


def test_a_dump_that_is_asked_for_compiles(fresh_cache: Path, tmp_path: Path) -> None:
    run(new_function())
    with knobs.scope({knobs.DUMP_IR: True, knobs.DUMP_DIR: tmp_path / "dumps"}):
        assert run(new_function()) == (0, 1, 1, 1)
    assert list((tmp_path / "dumps").rglob("*.mlir"))
    assert run(new_function()) == (1, 0, 1, 1)


def test_the_least_recently_used_goes_first(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        run(new_function(number), number)
    now = time.time()
    store = files.open_store()
    assert store is not None
    entries = store.entries()
    for entry in entries:
        os.utime(entry.path, (now - 1000, now - 1000))
    run(new_function(2), 2)  # used again
    limit = sum(entry.size for entry in entries) // 3
    left = store.evict(limit)
    assert left <= limit
    assert run(new_function(2), 2).hits == 1
    assert run(new_function(0), 0).misses == 1
    assert not [p for p in fresh_cache.iterdir() if not any(p.iterdir())], "an empty directory was left behind"


def test_writing_keeps_within_the_limit(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_code, "_sizes", {})
    monkeypatch.setenv(knobs.RUNTIME_CACHE_SIZE.name, "16K")
    for number in range(8):
        run(new_function(number), number)
        time.sleep(0.01)
    total = sum(path.stat().st_size for path in fresh_cache.rglob("*.flydsl"))
    assert 0 < total <= 16 << 10
    assert run(new_function(7), 7).hits == 1


def test_leftovers_of_killed_writers_go(fresh_cache: Path) -> None:
    run(new_function())
    folder = artifacts(fresh_cache)[0].parent
    old, new = folder / ".x.flydsl.1.2.3.tmp", folder / ".y.flydsl.1.2.3.tmp"
    old.write_bytes(b"half"), new.write_bytes(b"half")
    os.utime(old, (1, 1))
    store = files.open_store()
    assert store is not None
    store.evict(1 << 30)
    assert not old.exists() and new.exists()


# Trouble with the disk -----------------------------------------------------------------------------------------------


@pytest.fixture
def warnings_of_the_cache(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(files, "_warned", set())
    monkeypatch.setattr(get_logger(files.__name__), "warning", said.append)
    return said


def test_a_full_disk(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch, warnings_of_the_cache: list[str]) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("flydsl.base.files.os.replace", full)
    for number in range(2):
        assert run(new_function(number), number) == (0, 1, 1, 0)
    assert [text for text in warnings_of_the_cache if "No space left" in text] == warnings_of_the_cache
    assert len(warnings_of_the_cache) == 1
    assert not list(fresh_cache.rglob("*.tmp"))


def test_a_directory_that_cannot_be_made(tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch,
                                         warnings_of_the_cache: list[str]) -> None:  # fmt: skip
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(knobs.RUNTIME_CACHE_DIR.name, str(tmp_path / "file" / "cache"))
    assert run(new_function()) == (0, 1, 1, 0)
    assert len(warnings_of_the_cache) == 1 and "not kept" in warnings_of_the_cache[0]


def test_a_directory_that_others_can_write(fresh_cache: Path, warnings_of_the_cache: list[str]) -> None:
    run(new_function())
    fresh_cache.chmod(0o777)
    assert run(new_function()).hits == 0
    assert "could be written by others" in warnings_of_the_cache[0]
    fresh_cache.chmod(0o700)
    artifacts(fresh_cache)[0].parent.chmod(0o770)
    assert run(new_function()).hits == 0


# What is never kept --------------------------------------------------------------------------------------------------

COUNTED: list[int] = []
COUNTER = 0


def plain_kernel_with(statement: str, tmp_path: Path, name: str) -> Any:
    """A jit function in a file of its own, whose kernel runs a statement while it is traced."""
    source = (
        "import flydsl.compiler as flyc\nimport flydsl.expr as fx\nSEEN = []\nCOUNT = 0\n"
        f"@flyc.kernel\ndef kernel(out: fx.Tensor):\n    {statement}\n    out[0] = 35\n"
        "@flyc.jit\ndef small(out: fx.Tensor):\n    kernel(out).launch()\n"
    )
    path = tmp_path / f"{name}.py"
    path.write_text(source)
    scope: dict[str, Any] = {"__name__": name}
    exec(compile(source, str(path), "exec", dont_inherit=True), scope)
    return scope


NOT_KEPT = {
    "a list it appends to": "SEEN.append(1)",
    "eval": "value = eval('35')",
    "all globals": "value = globals()",
    "a file": "open('/dev/null').close()",
}


@pytest.mark.parametrize("name", NOT_KEPT)
def test_what_tracing_does_beside_compiling_is_done_again(name: str, fresh_cache: Path, tmp_path: Path) -> None:
    for attempt in range(2):
        scope = plain_kernel_with(NOT_KEPT[name], tmp_path, f"program{attempt}")
        out = np.zeros(1, np.int32)
        scope["small"](out)
        scope["small"](out)
        assert out[0] == 35
        info = scope["small"].cache_info()
        assert (info.misses, info.disk_size) == (1, 0)
        if "SEEN" in NOT_KEPT[name]:
            assert scope["SEEN"] == [1]


def test_a_file_edited_after_it_was_imported(fresh_cache: Path, tmp_path: Path) -> None:
    """Tracing would read the new source, the key describes the old code: it is refused, and nothing kept under it."""
    scope = plain_kernel_with("value = 1", tmp_path, "edited")
    path = tmp_path / "edited.py"
    path.write_text(path.read_text().replace("out[0] = 35", "out[0] = 36"))
    linecache.checkcache(str(path))
    out = np.zeros(1, np.int32)
    with pytest.raises(RuntimeError, match="has changed since"):
        scope["small"](out)
    path.write_text(path.read_text().replace("out[0] = 36", "out[0] = 35"))
    linecache.checkcache(str(path))
    scope = plain_kernel_with("value = 1", tmp_path, "edited")
    scope["small"](out)
    assert out[0] == 35
    assert scope["small"].cache_info() == (0, 1, 1, 1)


def test_errors_name_the_line_where_the_function_is_now(fresh_cache: Path, tmp_path: Path) -> None:
    """A function that moved keeps its code, and a failing launch still names its line and file."""
    template = (
        "import flydsl.compiler as flyc\nimport flydsl.expr as fx\n{more}"
        "@flyc.kernel\ndef kernel(out: fx.Tensor):\n    out[0] = 35\n"
        "@flyc.jit\ndef small(out: fx.Tensor, n: fx.Int32):\n    kernel(out).launch(grid=(n, 1, 1))\n"
    )
    for name, more in (("before", ""), ("after", "# moved\n" * 17)):
        path = tmp_path / f"{name}.py"
        path.write_text(template.format(more=more))
        scope: dict[str, Any] = {"__name__": name}
        exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), scope)
        out = np.zeros(1, np.int32)
        scope["small"](out, 1)
        with pytest.raises(RuntimeError, match="negative") as caught:
            scope["small"](out, -1)
        line = 1 + path.read_text()[: path.read_text().index("kernel(out).launch")].count("\n")
        assert f"{path}:{line}" in str(caught.value)
    assert scope["small"].cache_info().misses == 0


def test_a_line_of_this_package_is_found_where_the_package_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    line = (own_file("kernels", "norm", "softmax.py"), 7, "negative")
    artifact = Artifact(name="a", target="", device="host", argument_format="", host_object=b"", sites=(line,))
    kept = site_map.portable(artifact, ())
    assert own_file("") not in kept.sites[0][0]
    monkeypatch.setattr(site_map, "own_file", lambda path: f"/elsewhere/{path}")
    moved = site_map.local(kept, ())
    assert moved is not None and moved.sites == (("/elsewhere/kernels/norm/softmax.py", 7, "negative"),)


def test_a_kernel_of_this_package_edited_after_the_start_is_not_kept(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flydsl.kernels.norm import softmax

    out = np.zeros((2, 32), np.float32)
    for edited, size in ((True, 0), (False, 1)):
        built = softmax.build_softmax_module.__wrapped__(2, 32, "f32")
        with monkeypatch.context() as patch:
            if edited:
                patch.setattr(code_reads, "_STARTED", os.stat(softmax.__file__).st_mtime - 1)
            built(out, out, 2)
        assert built.cache_info().disk_size == size


def test_a_closure_counter_is_no_reason_to_compile_for_ever(fresh_cache: Path) -> None:
    count = 0

    def bump() -> int:
        nonlocal count
        count += 1
        return 7

    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[0] = bump()

    @flyc.jit
    def fn(out: fx.Tensor):
        kernel(out).launch()

    out = np.zeros(1, np.int32)
    fn(out)
    fn(out)
    assert (count, fn.cache_info().misses, fn.cache_info().disk_size) == (1, 1, 0)
