"""The tests of `fx.nvvm` run on the virtual Hopper GPU."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
