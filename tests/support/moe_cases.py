"""Layers of experts in which every two choices of their features meet, and what float64 says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from flydsl import ops
from tests.support.gemm_cases import untouched
from tests.support.pairwise import Case
from tests.support.placed import placed

Array = Any
TYPES: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
FEATURES: dict[str, tuple[Any, ...]] = {
    "kind": ("plain", "fp8_blockscale"),
    "dtype": ("bf16", "f16"),
    "tokens": (1, 3, 40, 150),
    "experts": (2, 9, 33),
    "topk": (1, 2),
    "router": ("bf16", "f32", "int32", "int64", "strange int64"),
    "renormalize": (True, False),
    "mask": ("none", "int32", "bool", "one"),
    "atomic": (False, True),
    "x": ("whole", "odd", "across"),
    "out": ("none", "pitched", "odd"),
}
"""Name -> its choices. Strange ids are of no expert, some of which have an expert's low 32 bits. Of a mask of one, a
single expert is here, and a token asks for more."""
LARGE = {"tokens": (1, 3, 8, 77, 700, 3000), "experts": (8, 33, 128), "topk": (1, 2, 7)}
EXTENTS = 256, 128
LIMITS = {("plain", "bf16"): 2**-6, ("plain", "f16"): 2**-8}
"""Of a result, as a part of the largest one; kinds of 8 bits have two codes of 2^-4 each."""


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def routed(case: Case, rng: np.random.Generator, experts: int) -> tuple[Any, Array, Array]:
    """Return what the router is, ids and weights."""
    tokens, topk = case["tokens"], case["topk"]
    if "int" not in case["router"]:
        logits = rng.permuted(np.tile(np.arange(experts) * 0.25 - 3, (tokens, 1)), axis=1).astype(TYPES[case["router"]])
        chances = softmax(logits.astype(np.float64))
        ids = np.argsort(-chances, -1)[:, :topk]
        weights = np.take_along_axis(chances, ids, -1)
        return logits, ids, weights / weights.sum(-1, keepdims=True) if case["renormalize"] else weights
    ids = rng.integers(0, experts, (tokens, topk)).astype(case["router"].split()[-1])
    if "strange" in case["router"]:
        ids[rng.random(ids.shape) < 0.4] = 2**32 + 1
        ids[rng.random(ids.shape) < 0.2] = -1
    weights = rng.uniform(-0.3, 1, ids.shape).astype(np.float32)
    return (ids, weights), ids, weights


def run_case(
    case: Case, rng: np.random.Generator, there: Callable[[Any], Any] = lambda x: x,
    back: Callable[[Any], Any] = lambda x: x, extents: tuple[int, int] = EXTENTS,
) -> None:  # fmt: skip
    """Run a layer and check it; results are poisoned before, and memory around them is."""
    (model, inter), dtype = extents, TYPES[case["dtype"]]
    tokens, experts = case["tokens"], case["experts"]
    router, ids, weights = routed(case, rng, experts)
    mask = None
    if case["mask"] != "none":
        here = (rng.random(experts) < 0.6) & (case["mask"] != "one")
        here[0] = True
        mask = here.astype("bool" if case["mask"] == "one" else case["mask"])
    own = np.arange(experts) if mask is None else np.flatnonzero(mask)
    x = rng.normal(0.3, 1, (tokens, model)).astype(dtype)
    w1 = (rng.normal(0.2, 1, (len(own), 2 * inter, model)) / model**0.5).astype(dtype)
    w2 = (rng.normal(0.2, 1, (len(own), model, inter)) / inter**0.5).astype(dtype)
    expected = np.zeros((tokens, model))
    for name, expert in enumerate(own):
        token, slot = np.nonzero(ids == expert)
        h = x[token].astype(np.float64) @ w1[name].astype(np.float64).T
        gate, up = h[:, :inter], h[:, inter:]
        rows = (gate / (1 + np.exp(-gate)) * up) @ w2[name].astype(np.float64).T
        np.add.at(expected, token, rows * weights[token, slot, None])
    given: dict[str, Any] = {"renormalize": case["renormalize"], "atomic": case["atomic"]}
    if mask is not None:
        given["expert_mask"] = there(mask)
    laid = placed(np.full((tokens, model), np.nan, dtype), case["out"])
    memory, out = laid.lay(lambda array: there(array.copy()))
    if case["out"] != "none":
        given["out"] = out
    if isinstance(router, tuple):
        router = tuple(map(there, router))
    else:
        router, given["topk"] = there(router), case["topk"]
    prepared = ops.moe_weights(there(w1), there(w2), case["kind"])
    found = back(ops.moe(placed(x, case["x"]).put(there), router, prepared, **given)).astype(np.float64)
    if case["out"] != "none":
        untouched(back(memory), laid, case)
        assert (replace(laid, memory=back(memory)).array.astype(np.float64) == found).all(), case
    limit = LIMITS.get((case["kind"], case["dtype"]), 0.09)
    off = np.abs(found - expected)
    top = np.abs(expected).max() + 1e-3
    assert (off <= limit * top).all(), (case, float(np.nanmax(off) / top), int(np.isnan(off).sum()))
