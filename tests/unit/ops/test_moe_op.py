"""`flydsl.ops.moe` on the virtual GPU: kinds, routers, masks, torch, and what it refuses."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.kernels.moe import references
from tests.support.experts import cosine

MODEL, INTER, EXPERTS, TOPK = 256, 128, 8, 2


def layer(rng: np.random.Generator, tokens: int, dtype: Any = ml_dtypes.bfloat16) -> tuple[Any, Any, Any, Any]:
    x, logits = (rng.standard_normal((tokens, n)).astype(dtype) for n in (MODEL, EXPERTS))
    w1 = (rng.standard_normal((EXPERTS, 2 * INTER, MODEL)) / 16).astype(dtype)
    return x, logits, w1, (rng.standard_normal((EXPERTS, MODEL, INTER)) / 11).astype(dtype)


@pytest.mark.parametrize(
    ("arch", "kind", "least"),
    [("gfx942", "int4", 0.96), ("gfx950", "fp8", 0.996), ("gfx950", "fp8_blockscale", 0.996),
     ("gfx942", "int4_bf16", 0.96), ("sm_90a", "fp8_blockscale", 0.996)],
)  # fmt: skip
def test_kinds(arch: str, kind: str, least: float, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against weights that are not quantised: what is left is what the kind loses."""
    monkeypatch.setenv("ARCH", arch)
    x, logits, w1, w2 = layer(rng, 19)
    y = ops.moe(x, logits, ops.moe_weights(w1, w2, kind), topk=TOPK)
    want = references.moe(x, *references.route(logits, TOPK), w1, w2)
    assert y.dtype == x.dtype and cosine(y, want) > least


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_routers_masks_and_shapes(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """One kind: ids and weights of the caller's, ids of no expert, half of the experts elsewhere, atomics, no token."""
    monkeypatch.setenv("ARCH", arch)
    x, _, w1, w2 = layer(rng, 12, np.float16)
    ids = rng.integers(-1, EXPERTS, (12, TOPK)).astype(np.int32)
    weights = rng.uniform(0.2, 1, ids.shape).astype(np.float32)
    want = references.moe(x, ids, weights, w1, w2)
    shaped = ops.moe(x.reshape(3, 4, MODEL), (ids.reshape(3, 4, 2), weights.reshape(3, 4, 2)), w1, w2)
    assert shaped.shape == (3, 4, MODEL) and np.abs(shaped.reshape(12, -1) - want).max() < 2.0**-9 * np.abs(want).max()
    again = ops.moe(x, (ids, weights), w1, w2)
    assert shaped.tobytes() == again.tobytes(), "a run is like another"
    out = np.zeros_like(x)
    assert ops.moe(x, (ids, weights), w1, w2, atomic=True, out=out) is out
    assert cosine(out, want) > 0.99999

    apart, wide = np.zeros((12, 2 * MODEL), x.dtype), np.zeros((12, 2 * MODEL), x.dtype)
    apart[:, :MODEL], lists = x, np.zeros((12, 5), np.int32)
    lists[:, :TOPK] = ids
    ops.moe(apart[:, :MODEL], (lists[:, :TOPK], weights), w1, w2, out=wide[:, MODEL:])
    assert wide[:, MODEL:].tobytes() == again.tobytes() and (wide[:, :MODEL] == 0).all()

    mask = np.arange(EXPERTS, dtype=np.int32) % 2
    local = ops.moe_weights(w1[mask == 1], w2[mask == 1])
    here = np.where((ids >= 0) & (mask[ids] == 1), ids, -1)
    part = ops.moe(x, (ids, weights), local, expert_mask=mask)
    np.testing.assert_allclose(part.astype(float), references.moe(x, here, weights, w1, w2), atol=2e-2)
    assert ops.moe(x[:0], (ids[:0], weights[:0]), w1, w2).shape == (0, MODEL)


def test_with_torch(torch: Any, rng: np.random.Generator) -> None:
    ops.register_operators()
    x, logits, w1, w2 = (torch.from_numpy(t.astype(np.float32)).bfloat16() for t in layer(rng, 9))
    experts = ops.moe_weights(w1, w2)
    y = ops.moe(x, logits, experts, topk=TOPK)
    weights, ids = torch.softmax(logits.float(), -1).topk(TOPK, -1)
    weights = weights / weights.sum(-1, keepdim=True)
    numbers = [t.float().numpy() for t in (x, w1, w2)]
    want = references.moe(numbers[0], ids.numpy(), weights.numpy(), *numbers[1:])
    assert cosine(y.float().numpy(), want) > 0.9999
    compiled = torch.compile(lambda a: ops.moe(a, (ids.int(), weights), experts), backend="eager", fullgraph=True)
    assert cosine(compiled(x).float().numpy(), want) > 0.9999

    x.requires_grad_()
    with pytest.warns(RuntimeWarning, match="its gradient has no kernel yet"):
        ops.moe(x, logits, w1, w2, topk=TOPK).sum().backward()
    assert x.grad.shape == x.shape and torch.isfinite(x.grad.float()).all()


def test_what_is_refused(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x, logits, w1, w2 = layer(rng, 3)
    ids, weights = references.route(logits, TOPK)
    for call, message in (
        (lambda: ops.moe(x, logits, w1, w2), "logits of a router need topk"),
        (lambda: ops.moe(x, logits, w1, w2, topk=9), "topk is 1 to 8, the number of experts, got 9"),
        (lambda: ops.moe(x, (ids.astype(np.int16), weights), w1, w2), "ids are int32 or int64"),
        (lambda: ops.moe(x, (ids[:2], weights), w1, w2), "ids are int32 or int64 of"),
        (lambda: ops.moe(x.astype(np.float16), (ids, weights), w1, w2), "x is float16 and the weights are bfloat16"),
        (lambda: ops.moe(x[:, :128], (ids, weights), w1, w2), r"x and y are \(T, 256\)"),
        (lambda: ops.moe_weights(w1, w2[:, :128]), r"w1 of \(8, 256, 256\) goes with w2 of \(8, 256, 128\)"),
        (lambda: ops.moe_weights(w1, w2, "fp4"), "kind must be one of plain, fp8, int8, int4"),
        (lambda: ops.moe_weights(w1.astype(np.float32), w2), "weights are given in float16 or bfloat16"),
        (lambda: ops.moe_weights(w1[..., :96], w2[:, :96]), "model must be a positive multiple of 64"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert ops.explain("moe", x, logits, w1, w2, topk=2) == "moe runs FlyDSL's kernels (moe) on the virtual GPU"
    experts = ops.moe_weights(w1, w2)
    monkeypatch.setenv("ARCH", "gfx950")
    with pytest.raises(ValueError, match="put in order for gfx942, and the input is on gfx950"):
        ops.moe(x, logits, experts, topk=2)
    monkeypatch.setenv("ARCH", "gfx1201")
    with pytest.raises(TypeError, match="experts have no kernels for gfx1201"):
        ops.moe(x, logits, w1, w2, topk=2)
