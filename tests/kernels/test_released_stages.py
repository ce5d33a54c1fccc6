"""Stages of rings that a warpgroup on Hopper gives back unread: none of its warps may still wait for them.

Two phases of a barrier later the one that a warp waits for looks as if it had not come: it would wait for ever.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.attention.attention import attention, forward
from flydsl.kernels.attention.fp8_forward import attention_fp8, forward_fp8
from flydsl.kernels.attention.hopper_forward import ForwardPlan
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from tests.support.described_calls import describe_calls

WAIT, SYNC, RELEASE = "mbarrier.try_wait", r"wgmma.wait_group|barrier.sync", "mbarrier.arrive"
WINDOW = ForwardPlan(fx.BFloat16, 64, 64, 64, stages=3, consumers=3, ping_pong=False)
EIGHT_BITS = ForwardPlan(fx.Float8E4M3FN, 64, 64, 64, stages=4, consumers=3, ping_pong=False)


@pytest.fixture(autouse=True)
def for_hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    describe_calls(monkeypatch)


def computing_part(run: Any) -> str:
    """What the computing warpgroups of a kernel do, as PTX."""
    ptx = next(kernel.ptx for kernel in run.specialisations[-1].kernels if "wgmma" in kernel.ptx)
    return ptx.split("setmaxnreg.inc")[1].split("setmaxnreg.dec")[0]


def releases_without_warps(part: str) -> int:
    """How many stages one thread gives back when other warps may still wait for them."""
    last, found = "", 0
    for event in re.findall(f"{WAIT}|{SYNC}|{RELEASE}", part):
        found += event == RELEASE and last == WAIT
        last = last if event == RELEASE else event
    return found


@pytest.mark.parametrize(("eight_bits", "joint"), [(False, False), (False, True), (True, False)])
def test_all_warps_come_first(eight_bits: bool, joint: bool) -> None:
    """Warpgroups see different blocks of keys here, and pass by those that only others see."""
    dtype = ml_dtypes.float8_e4m3fn if eight_bits else ml_dtypes.bfloat16
    heads = [np.zeros((1, 1, 256, 64), dtype) for _ in range(3)]
    if eight_bits:
        attention_fp8(*heads, plan=EIGHT_BITS, is_causal=True, use_fast_accum=True)
    else:
        attention(*heads, plan=replace(WINDOW, joint=joint), is_causal=True, window=(100, None))
    part = computing_part(forward_fp8 if eight_bits else forward)
    assert RELEASE in part and releases_without_warps(part) == 0
    alone = part.replace("barrier.sync", "")
    assert releases_without_warps(alone) > 0  # the check is able to fail


@pytest.mark.parametrize(("consumers", "columns", "scaled"), [(2, 256, False), (3, 192, False), (2, 128, True)])
def test_all_warps_come_first_where_a_group_has_no_rows_for_them(consumers: int, columns: int, scaled: bool) -> None:
    """The last tile of a group may have rows for the first warpgroup only."""
    elem, dtype = (fx.Float8E4M3FN, ml_dtypes.float8_e4m3fn) if scaled else (fx.BFloat16, ml_dtypes.bfloat16)
    kind = GemmKind(elem, elem, fx.BFloat16, groups=32, block_scaled=scaled)
    run = build_hopper_gemm(kind, GemmConfig(64 * consumers, columns, consumers, stages=3))
    a, b = np.zeros((256, 128), dtype), np.zeros((4, 256, 128), dtype).swapaxes(1, 2)
    out, sizes = np.zeros((256, 256), ml_dtypes.bfloat16), np.zeros(4, np.int32)
    scales = (np.zeros((256, 1), np.float32), np.zeros((4, 1, 2), np.float32)) if scaled else (None, None)
    run(a, b, out, *[None] * 5, 0.0, *scales, sizes, None, None)
    part = computing_part(run)
    assert RELEASE in part and releases_without_warps(part) == 0
    assert releases_without_warps(part.replace("barrier.sync", "")) > 0
