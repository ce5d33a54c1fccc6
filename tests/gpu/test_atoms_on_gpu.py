"""Every copy atom of Hopper with every element it takes, on a real GPU: the cases of `tests/unit/copies`."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
from tests.unit.copies.test_every_atom import CASES
from tests.unit.nvvm import running

pytestmark = pytest.mark.gpu

HOPPER = {name: case for name, case in CASES.items() if case[0] == "sm_90a"}


@pytest.mark.parametrize("name", HOPPER)
def test_the_elements_arrive(name: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    if flyc.current_device().kind != "cuda" or flyc.current_device().target.arch != "sm_90a":
        pytest.skip("needs a Hopper GPU")
    monkeypatch.setattr(running.Where, "gpu", True)
    _, dtype, runner = HOPPER[name]
    runner(dtype, rng)
