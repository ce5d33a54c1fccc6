"""Products, groups, weights of four bits and layers of experts with every two of their features together, against
float64, on the virtual GPU; `make test` has a few of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import gemm_cases, group_cases, moe_cases, weight_cases
from tests.support.pairwise import crossed

PRODUCTS = crossed(gemm_cases.FEATURES, gemm_cases.REFUSED)
GROUPS = crossed(group_cases.FEATURES, group_cases.REFUSED)
WEIGHTS = crossed(weight_cases.FEATURES, weight_cases.REFUSED)
LAYERS = crossed(moe_cases.FEATURES | {"target": ("sm_90a", "gfx942", "gfx950")})


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


@pytest.mark.parametrize("number", range(len(PRODUCTS)))
def test_products(number: int, rng: np.random.Generator) -> None:
    gemm_cases.run_case(PRODUCTS[number], rng)


@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_groups(number: int, rng: np.random.Generator) -> None:
    group_cases.run_case(GROUPS[number], rng)


@pytest.mark.parametrize("number", range(len(WEIGHTS)))
def test_weights_of_four_bits(number: int, rng: np.random.Generator) -> None:
    weight_cases.run_case(WEIGHTS[number], rng)


@pytest.mark.parametrize("number", range(len(LAYERS)))
def test_layers_of_experts(number: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", LAYERS[number]["target"])
    moe_cases.run_case(LAYERS[number], rng)
