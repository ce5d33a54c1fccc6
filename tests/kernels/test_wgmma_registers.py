"""Registers of products in flight, in the PTX of every kernel of attention and of groups of rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.kernels.attention.attention import attention, forward
from flydsl.kernels.attention.backward import attention_backward, backward
from flydsl.kernels.attention.fp8_forward import attention_fp8, forward_fp8
from flydsl.kernels.attention.hopper_decode import decode
from flydsl.kernels.attention.latent_decode import latent_decode
from flydsl.kernels.attention.paged import paged_attention
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.hopper_plan import GemmConfig, GemmKind
from tests.support.described_calls import describe_calls
from tests.support.wgmma_registers import Flow, crossing_loops, early_accesses

TILES = GemmConfig(128, 128, 2, 4)
LATER = GemmConfig(128, 256, 2, 3, sends=True, defers=True)
THREE = GemmConfig(192, 128, 3, 3, sends=True, defers=True)
BF16, FP8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn


@pytest.fixture(autouse=True)
def for_hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    describe_calls(monkeypatch)


def heads(d: int, dtype: Any = BF16) -> Any:
    return np.zeros((1, 2, 256, d), dtype)


def of_forward(d: int, **features: Any) -> Any:
    attention(heads(d), heads(d), heads(d), **features)
    return forward


def of_fp8(d: int, fast: bool) -> Any:
    attention_fp8(heads(d, FP8), heads(d, FP8), heads(d, FP8), use_fast_accum=fast)
    return forward_fp8


def of_gradients(d: int, **features: Any) -> Any:
    x = heads(d)
    attention_backward(x, x, x, x, x, np.zeros((1, 2, 256), np.float32), **features)
    return backward


def of_paged(q: Any, k: Any, v: Any, run: Any) -> Any:
    paged_attention(q, k, v, np.zeros((2, 64), np.int32), np.array([100, 200], np.int32))
    return run


def of_decode() -> Any:
    cache = np.zeros((8, 64, 2, 64), BF16)
    return of_paged(np.zeros((2, 80, 64), BF16), cache, cache.copy(), decode)


def of_latent() -> Any:
    cache = np.zeros((8, 64, 1, 576), BF16)
    return of_paged(np.zeros((2, 16, 576), BF16), cache, cache[..., :512], latent_decode)


def of_groups(dtype: Any, a: Any, block_scaled: bool, config: GemmConfig = TILES) -> Any:
    run = build_hopper_gemm(GemmKind(dtype, dtype, fx.BFloat16, block_scaled=block_scaled, groups=32), config)
    b = np.zeros((4, 256, 256), a).swapaxes(1, 2)
    scales = (np.ones((256, 2), np.float32), np.ones((4, 2, 2), np.float32)) if block_scaled else (None, None)
    sizes = np.zeros(4, np.int32)
    taken = np.zeros(1, np.int32) if config.draws else None
    run(np.zeros((256, 256), a), b, np.zeros((256, 256), BF16), *[None] * 5, 0.0, *scales, sizes, None, None, taken)
    return run


def ptx_of(run: Any) -> str:
    """The kernel with products, of what was compiled last, at the level of users: others have other registers."""
    with knobs.scope({knobs.COMPILE_OPT_LEVEL: 2}):
        return next(kernel.ptx for kernel in run.specialisations[-1].kernels if "wgmma" in kernel.ptx)


KERNELS: dict[str, Callable[[], Any]] = {
    "forward": lambda: of_forward(64, is_causal=True),
    "fp8": lambda: of_fp8(128, False),
    "fp8 of short heads": lambda: of_fp8(64, False),
    "fp8 alone": lambda: of_fp8(128, True),
    "fp8 alone of short heads": lambda: of_fp8(64, True),
    "gradients": lambda: of_gradients(64, is_causal=True),
    "gradients of long heads": lambda: of_gradients(128),
    "gradients in parts": lambda: of_gradients(128, is_causal=True, parts=2),
    "decode": of_decode,
    "latent": of_latent,
    "groups": lambda: of_groups(fx.BFloat16, BF16, block_scaled=False),
    "groups whose results are held": lambda: of_groups(fx.BFloat16, BF16, False, replace(LATER, draws=True)),
    "scaled groups": lambda: of_groups(fx.Float8E4M3FN, FP8, block_scaled=True),
    "scaled groups whose results leave later": lambda: of_groups(fx.Float8E4M3FN, FP8, True, LATER),
    "scaled groups of three warpgroups": lambda: of_groups(fx.Float8E4M3FN, FP8, True, THREE),
    "scaled groups that are drawn": lambda: of_groups(fx.Float8E4M3FN, FP8, True, replace(LATER, draws=True)),
}
ATTENTION = (
    "forward", "fp8", "fp8 of short heads", "fp8 alone", "fp8 alone of many queries", "gradients",
    "gradients of long heads", "gradients in parts", "decode", "latent",
)  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_registers_of_products_in_flight(name: str) -> None:
    """Nobody touches them, and no product of attention is in flight where a loop goes back: ptxas would serialise."""
    ptx = ptx_of(KERNELS[name]())
    flow = Flow(ptx)
    assert not list(early_accesses(flow))
    if name in ATTENTION:
        assert not list(crossing_loops(flow))
        # Else ptxas may say that it cannot tell how many registers there are at entry, and leave setmaxnreg out.
        assert ("setmaxnreg" in ptx) == (".maxnreg" in ptx)
    never_waiting = Flow(re.sub(r"wgmma\.wait_group\S* \d+;", "", ptx))
    assert any(early_accesses(never_waiting)) and any(crossing_loops(never_waiting))  # the checks are able to fail


def test_products_of_a_tile_add_to_one_descriptor() -> None:
    """Each adds to the whole of it, which ptxas does in uniform registers: latent decoding spilled what it added to
    words."""
    ptx = ptx_of(of_latent())
    given = [name for line in ptx.splitlines() if "mma_async" in line for name in re.findall(r"%rd\d+", line)]
    sums = set(re.findall(r"add\.s64\s+(%rd\d+), %rd\d+, -?\d+;", ptx))
    assert len(sums.intersection(given)) > len(given) // 2


def test_registers_at_entry_are_said() -> None:
    """Where ptxas cannot tell them, it leaves `setmaxnreg` out, and warpgroups that multiply spill."""
    ptx = ptx_of(of_groups(fx.Float8E4M3FN, FP8, block_scaled=True))
    assert "setmaxnreg.inc" in ptx and re.search(r"\.maxnreg 168\b", ptx)
