"""Every test of tuning has timings of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from flydsl.base import knobs


@pytest.fixture(autouse=True)
def timings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of timings, empty."""
    directory = tmp_path / "autotune"
    monkeypatch.setenv(knobs.AUTOTUNE_CACHE_DIR.name, str(directory))
    return directory
