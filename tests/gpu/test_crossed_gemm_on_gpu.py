"""Products on a real Hopper GPU with every two of their features together, against float64, in sizes no tile divides:
matrices, groups, weights of four bits, layers of experts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from flydsl.kernels.gemm.hopper.plan import GemmConfig
from tests.support import gemm_cases, group_cases, moe_cases, weight_cases
from tests.support.gpu_arrays import from_gpu, on_gpu
from tests.support.pairwise import crossed

PRODUCTS = crossed(gemm_cases.FEATURES | gemm_cases.LARGE, gemm_cases.REFUSED)
GROUPS = crossed(group_cases.FEATURES | group_cases.LARGE, group_cases.REFUSED)
WEIGHTS = crossed(weight_cases.FEATURES | weight_cases.LARGE, weight_cases.REFUSED)
LAYERS = crossed(moe_cases.FEATURES | moe_cases.LARGE)
CONFIGS = (
    GemmConfig(128, 112, 2, 3, sends=True), GemmConfig(64, 128, 2, 2, 2, "m", taking_turns=True),
    GemmConfig(64, 96, 1, 2, 3, "k"), GemmConfig(48, 16, 1, 3, 2, "k", swapped=True, staggered=True),
    GemmConfig(144, 40, 3, 2, 2, "n"), GemmConfig(128, 128, 2, 4), GemmConfig(64, 64, 1, 4, sends_across=32),
    GemmConfig(128, 128, 2, 4, draws=True), GemmConfig(128, 256, 2, 4, sends=True, defers=True),
)  # fmt: skip
"""Given where a kernel can be built so."""

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.usefixtures("hopper")]


@pytest.fixture
def to_gpu(torch: Any) -> dict[str, Any]:
    """How arrays come to the GPU and back."""
    return {"there": partial(on_gpu, torch), "back": partial(from_gpu, torch)}


def as_told(run: Any, number: int, case: Any, rng: np.random.Generator, to_gpu: dict[str, Any]) -> None:
    """Run a case in one of the configurations, if that can be."""
    try:
        run(case, rng, **to_gpu, on_gpu=True, config=CONFIGS[number % len(CONFIGS)])
    except ValueError as refused:
        if "GemmConfig(" not in str(refused) and "leave later" not in str(refused):
            raise


@pytest.mark.parametrize("number", range(len(PRODUCTS)))
def test_products(number: int, to_gpu: dict[str, Any], rng: np.random.Generator) -> None:
    gemm_cases.run_case(PRODUCTS[number], rng, **to_gpu, on_gpu=True)


@pytest.mark.parametrize("number", range(len(PRODUCTS)))
def test_products_as_told(number: int, to_gpu: dict[str, Any], rng: np.random.Generator) -> None:
    as_told(gemm_cases.run_case, number, PRODUCTS[number], rng, to_gpu)


@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_groups(number: int, to_gpu: dict[str, Any], rng: np.random.Generator) -> None:
    group_cases.run_case(GROUPS[number], rng, **to_gpu, on_gpu=True)


@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_groups_as_told(number: int, to_gpu: dict[str, Any], rng: np.random.Generator) -> None:
    as_told(group_cases.run_case, number, GROUPS[number], rng, to_gpu)


@pytest.mark.parametrize("number", range(len(WEIGHTS)))
def test_weights_of_four_bits(number: int, to_gpu: dict[str, Any], rng: np.random.Generator) -> None:
    weight_cases.run_case(WEIGHTS[number], rng, **to_gpu)


@pytest.mark.parametrize("number", range(len(LAYERS)))
def test_layers_of_experts(number: int, to_gpu: dict[str, Any], rng: np.random.Generator) -> None:
    moe_cases.run_case(LAYERS[number], rng, **to_gpu, extents=(512, 384))
