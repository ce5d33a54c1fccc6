"""A cache with the base program in it, shared by the tests of what is and what is not compiled again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flydsl.base import knobs
from tests.unit.cache.programs import FILES, imported, numbers


@pytest.fixture(scope="session")
def filled_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[int]]]:
    """A cache directory that holds the base program, and what the program computes."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(knobs.RUNTIME_CACHE_DIR.name, str(folder / "cache"))
        patch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "1")
        with imported(FILES, folder / "base") as main:
            result = numbers(main)
            info = main.fn.cache_info()
        assert (info.hits, info.misses, info.disk_size) == (0, 1, 1)
    yield folder / "cache", result


@pytest.fixture
def base_result(filled_cache: tuple[Path, list[int]], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the base program computes; the filled cache is in use."""
    monkeypatch.setenv(knobs.RUNTIME_CACHE_DIR.name, str(filled_cache[0]))
    monkeypatch.setenv(knobs.RUNTIME_ENABLE_CACHE.name, "1")
    return filled_cache[1]


@pytest.fixture
def fresh_folder(tmp_path: Path) -> Callable[[], Path]:
    """A new directory at each call."""
    count = iter(range(1000))
    return lambda: tmp_path / f"program{next(count)}"
