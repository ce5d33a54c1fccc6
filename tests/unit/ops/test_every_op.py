"""Ops of rows that `test_ops.py` does not draw, on random shapes; and every operator by torch's own checks."""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flydsl.ops as ops
from flydsl.kernels.quant import formats
from flydsl.ops.table import PARTS, TABLE
from tests.support.turns import in_turns
from tests.unit.ops import test_ops

BF16 = ml_dtypes.bfloat16
TOLERANCE = {np.float32: 4e-6, np.float16: 2e-3, BF16: 1.6e-2}
ROUNDING = {np.float32: 1e-6, np.float16: 2**-11, BF16: 2**-8}
Draw = Callable[[int, int], int]


def close(got: np.ndarray, want: np.ndarray, kind: Any) -> None:
    assert got.dtype == kind and got.shape == want.shape
    assert np.abs(got.astype(float) - want).max() <= TOLERANCE[kind] * max(np.abs(want).max(), 1e-3)


def gated(rng: np.random.Generator, draw: Draw, kind: Any) -> None:
    x = rng.standard_normal((draw(1, 4), 2 * draw(1, 200))).astype(kind)
    gate, up = np.split(x.astype(float), 2, -1)
    close(ops.geglu(x), gate * (1 + np.vectorize(erf)(gate / 2**0.5)) / 2 * up, kind)


def rotated(rng: np.random.Generator, draw: Draw, kind: Any) -> None:
    tokens, heads, half = draw(1, 6), draw(1, 5), draw(1, 40)
    x = rng.standard_normal((draw(1, 3), tokens, heads, 2 * half)).astype(kind)
    angles = rng.standard_normal((tokens, half))
    cos, sin = np.cos(angles).astype(kind), np.sin(angles).astype(kind)
    turn = (cos.astype(float) + 1j * sin.astype(float))[:, None]
    neighbours = bool(draw(0, 1))
    first, second = (x[..., 0::2], x[..., 1::2]) if neighbours else (x[..., :half], x[..., half:])
    want = (first.astype(float) + 1j * second.astype(float)) * turn
    want = np.stack([want.real, want.imag], -1 if neighbours else -2).reshape(x.shape)
    close(ops.rope(x, cos, sin, neighbours), want, kind)


def quantised(rng: np.random.Generator, draw: Draw, kind: Any) -> None:
    """Scales to 1e-6 and codes to a step of what the formats say; groups of 32 bit by bit."""
    x = (rng.standard_normal((draw(1, 5), draw(1, 300))) * 3).astype(kind)
    groups = (rng.standard_normal((draw(1, 5), 32 * draw(1, 5))) * 3).astype(kind)
    tall, form = draw(0, 1), sorted(formats.MX)[draw(0, 2)]
    blocks = (rng.standard_normal((128 if tall else draw(1, 5), 128 * draw(1, 2))) * 3).astype(kind)
    rows = 128 if tall else 1
    for (q, scale), (codes, wanted), steps in (
        (ops.quantize_per_token(x), formats.quantize_per_token(x), 1),
        (ops.quantize_per_tensor(x), formats.quantize_per_tensor(x), 1),
        (ops.quantize_mx(groups, form), formats.quantize_mx(groups, form), 0),
        (ops.quantize_blocks(blocks, (rows, 128)), formats.quantize_blocks(blocks, rows), 1),
    ):
        assert np.abs(q.view(np.int8).astype(int) - codes.view(np.int8).astype(int)).max() <= steps
        np.testing.assert_allclose(scale.reshape(-1), np.reshape(wanted, -1), rtol=1e-6)


def multiplied(rng: np.random.Generator, draw: Draw, kind: Any) -> None:
    m, n, k = draw(1, 20), draw(1, 40), draw(1, 70)
    x, w, b = (rng.standard_normal(shape).astype(kind) for shape in ((2, m, k), (n, k), (n,)))
    product = x.astype(float) @ w.astype(float).T
    for got, want in ((ops.linear(x, w, b), product + b.astype(float)), (ops.matmul(x, w.T), product)):
        assert (np.abs(got.astype(float) - want) <= ROUNDING[kind] * np.abs(want) + 1e-5 * k**0.5).all()


DRAWN = (gated, rotated, quantised, multiplied)


@pytest.mark.parametrize("arch", test_ops.TARGETS)
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_shapes(arch: str, monkeypatch: pytest.MonkeyPatch, data: st.DataObject) -> None:
    monkeypatch.setenv("ARCH", arch)
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")
    op, kind = data.draw(st.sampled_from(DRAWN)), data.draw(st.sampled_from(list(TOLERANCE)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    op(rng, lambda low, high: data.draw(st.integers(low, high)), kind)


@pytest.mark.torch
def test_operators_pass_torchs_own_checks(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of all that are registered, in turns: their schemas, fake results, gradients and tracing."""
    monkeypatch.setenv("FLYDSL_COMPILE_OPT_LEVEL", "0")
    ops.register_operators()
    x, w = torch.randn(3, 8, requires_grad=True), torch.randn(8, requires_grad=True)
    t, cos = torch.randn(1, 3, 2, 4, requires_grad=True), torch.rand(3, 2)
    h = torch.randn(1, 1, 4, 32, dtype=torch.float16, requires_grad=True)
    flat, pages, ends = h.detach()[0, 0, None, :2], torch.zeros(1, 1, dtype=torch.int32), torch.tensor([2, 3]).int()
    cache, weights = torch.randn(2, 16, 1, 32, dtype=torch.float16), torch.randn(2, 8, 8, dtype=torch.float16)
    tokens = torch.randn(2, 64, dtype=torch.float16)
    cases: dict[str, tuple[Any, ...]] = {
        "softmax": (x,), "rms_norm": (x, w, 1e-5, 8), "layer_norm": (x, w, None, 1e-5, 8),
        "add_rms_norm": (x, x, w, 1e-5, 8), "add_layer_norm": (x, x, w, w, 1e-5, 8), "glu": (x, x, "silu"),
        "cross_entropy": (x, torch.tensor([1, 2, -100]), -100, 1, 0.0), "rope": (t, cos, cos, False),
        "attention": (h, h, h, None, None, None, None, None, True, 0.2, -1, -1, 0.0, -1, -1, False),
        "paged_attention": (flat, cache, cache, pages, torch.ones(1).int(), None, 0.2, -1, 0.0, 1.0, 1.0),
        "mla_decode": (flat, cache[:, :, 0], pages, torch.ones(1).int(), 32, 0.2, 1.0),
        "matmul": (x, torch.randn(8, 8, requires_grad=True)), "linear": (x, torch.randn(8, 8), None),
        "route": (x.detach(), 2, True), "quantize_rows": (x.detach(), "i8", False),
        "quantize_mx": (torch.randn(2, 32), "mxfp8"), "quantize_blocks": (torch.randn(2, 128), 1, "fp8"),
        "grouped_mm": (tokens[:, :8].repeat(2, 1)[:3], weights, ends),
        "scaled_mm": (torch.zeros(2, 16).to(torch.float8_e4m3fn), torch.zeros(8, 16).to(torch.float8_e4m3fn).T,
                      torch.ones(1), torch.ones(1), None, "bf16", False),
        "linear_int4": (tokens, torch.zeros(1, 1, 512).int(), torch.ones(8, 1).half(), None, None, 64, "int4"),
    }  # fmt: skip
    registered = {row.op.name for row in TABLE.values()} | {part.name for part in PARTS}
    apart = {name for name in registered if name.startswith(("all_reduce", "moe"))}
    assert set(cases) == registered - apart, "those need ranks, or experts (test_moe_op.py)"
    for name, arguments in in_turns(cases.items(), len(cases) // 2):
        hopper = name in ("grouped_mm", "scaled_mm", "linear_int4")
        monkeypatch.setenv("ARCH", "sm_90a" if hopper else "gfx942")
        checks = ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
        if name in ("scaled_mm", "quantize_blocks"):
            del checks[0]  # it multiplies what it compares, which torch's fp8 cannot
        torch.library.opcheck(getattr(torch.ops.flydsl, name).default, arguments, test_utils=checks)
