"""What tests on real GPUs ask for."""

from __future__ import annotations

import pytest

import flydsl.compiler as flyc


@pytest.fixture
def hopper() -> None:
    if flyc.current_device().kind != "cuda" or flyc.current_device().target.arch != "sm_90a":
        pytest.skip("needs a Hopper GPU")
