"""Attention on a real Hopper GPU with every two of its features together, against float64, in sizes no tile divides."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from flydsl import ops
from flydsl.kernels.attention.attention import attention
from flydsl.kernels.attention.backward import attention_backward
from flydsl.kernels.attention.fp8_forward import attention_fp8
from flydsl.kernels.attention.paged import mla_decode, paged_attention, paged_workspace
from tests.support import attention_cases, fp8_cases, paged_cases
from tests.support.gpu_arrays import from_gpu, on_gpu
from tests.support.pairwise import crossed

CASES = crossed(attention_cases.FEATURES, attention_cases.REFUSED)
EIGHT_BITS = crossed(fp8_cases.FEATURES)
HOPPER = {"target": ("sm_90a",)}
PAGED = crossed(paged_cases.FEATURES | HOPPER, paged_cases.REFUSED)
MANY_HEADS = {"heads": ((128, 1), (16, 1), (5, 1))}
LATENT = crossed(paged_cases.LATENT | HOPPER | MANY_HEADS, paged_cases.LATENT_REFUSED)
FUNCTIONS = {
    "its own": paged_attention, "workspace": paged_workspace, "mla_decode": mla_decode,
    "an op's": ops.paged_attention, "ops.mla_decode": ops.mla_decode,
}  # fmt: skip

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.usefixtures("hopper")]


@pytest.mark.parametrize("number", range(len(EIGHT_BITS)))
def test_eight_bits(number: int, torch: Any, rng: np.random.Generator) -> None:
    there, back = partial(on_gpu, torch), partial(from_gpu, torch)
    fp8_cases.run_fp8_case(EIGHT_BITS[number], rng, (500, 1500), attention_fp8, there, back, fp8_cases.GPU_ERROR)


@pytest.mark.parametrize("number", range(len(PAGED)))
def test_paged_caches(number: int, torch: Any, rng: np.random.Generator) -> None:
    call = paged_cases.paged_call(PAGED[number], rng, 130, 9000)
    paged_cases.run_paged_case(PAGED[number], call, FUNCTIONS, partial(on_gpu, torch), partial(from_gpu, torch))


@pytest.mark.parametrize("number", range(len(LATENT)))
def test_latent_caches(number: int, torch: Any, rng: np.random.Generator) -> None:
    call = paged_cases.paged_call(LATENT[number], rng, 130, 5000)
    paged_cases.run_paged_case(LATENT[number], call, FUNCTIONS, partial(on_gpu, torch), partial(from_gpu, torch))


@pytest.mark.parametrize("number", range(len(CASES)))
def test_features(number: int, torch: Any, rng: np.random.Generator) -> None:
    """Results and gradients."""
    case = CASES[number]
    call = attention_cases.call_of(case, rng, 1500, 700)
    attention_cases.run_case(
        case, call, attention, attention_backward, partial(on_gpu, torch), partial(from_gpu, torch), times=3
    )
