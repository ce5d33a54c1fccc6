"""Layers with weights of four bits in which every two choices of their features meet, and what float64 says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from flydsl.kernels.gemm.few_rows.plan import MOST_ROWS
from flydsl.kernels.gemm.hopper.weights import shuffle_weights
from flydsl.kernels.gemm.hopper_matmul import hopper_linear4
from tests.support.gemm_cases import check_results, untouched
from tests.support.hopper_products import TYPES
from tests.support.pairwise import Case, together
from tests.support.placed import WAYS, placed, vector

FEATURES: dict[str, tuple[Any, ...]] = {
    "kind": ("int4", "mxfp4"),
    "x": ("bf16", "f16"),
    "out": ("bf16", "f16", "f32", "e4m3", "e5m2"),
    "zeros": (False, True),
    "bias": (False, True),
    "group": (32, 64, 192),
    "activation": ("none", "relu", "silu", "gelu", "gelu_erf"),
    "x_way": WAYS,
    "y_way": WAYS,
    "scales_way": WAYS,
    "m": (1, 5, 9, 70),
    "n": (1, 40, 136),
    "k": (1, 40, 136, 450),
}
LARGE = {"m": (1, 5, 9, 70, 333), "n": (1, 40, 1030), "k": (1, 136, 450, 4104)}
REFUSED = [
    together(kind="mxfp4", x="f16"), together(kind="mxfp4", zeros=True), together(kind="mxfp4", group=64),
    together(kind="mxfp4", group=192),
]  # fmt: skip


def run_case(
    case: Case, rng: np.random.Generator, there: Callable[[Any], Any] = lambda x: x,
    back: Callable[[Any], Any] = lambda x: x,
) -> None:  # fmt: skip
    """Run a layer and check it; results are poisoned before, and memory around arrays is."""
    m, n, k, group, dtype = case["m"], case["n"], case["k"], case["group"], TYPES[case["x"]]
    x, codes = rng.normal(0.3, 1, (m, k)).astype(dtype), rng.integers(0, 16, (n, k))
    groups = -(-k // group)
    given: dict[str, Any] = {"kind": case["kind"], "group_size": group, "activation": case["activation"]}
    if case["kind"] == "mxfp4":
        scales = rng.integers(124, 130, (n, groups)).astype(np.uint8)
        wide_scales, numbers = 2.0 ** (scales.astype(float) - 127), codes.astype(np.uint8).view(ml_dtypes.float4_e2m1fn)
    else:
        scales = rng.normal(0.5, 1, (n, groups)).astype(dtype)
        zeros = rng.integers(0, 16, (n, groups)).astype(dtype) if case["zeros"] else None
        wide_scales = scales.astype(float)
        numbers = codes - (8 if zeros is None else np.repeat(zeros.astype(float), group, 1)[:, :k])
        if zeros is not None:
            given["zeros"] = placed(zeros, case["scales_way"]).put(there)
    weights = numbers.astype(float) * np.repeat(wide_scales, group, 1)[:, :k]
    if m > MOST_ROWS or case["out"] in ("e4m3", "e5m2"):
        weights = weights.astype(dtype).astype(float)
    wide = x.astype(float)
    expected, magnitude = wide @ weights.T, np.abs(wide) @ np.abs(weights).T
    if case["bias"]:
        bias = rng.normal(1, 2, n).astype(np.float32)
        given["bias"] = vector(bias).put(there)
        expected, magnitude = expected + bias, magnitude + np.abs(bias)
    target = placed(np.full((m, n), np.nan, TYPES[case["out"]]), case["y_way"])
    memory, y = target.lay(lambda array: there(array.copy()))
    laid = placed(x, case["x_way"]).put(there), placed(scales, case["scales_way"]).put(there)
    hopper_linear4(laid[0], there(shuffle_weights(codes)), laid[1], y, **given)
    found = replace(target, memory=back(memory))
    check_results(found.array, expected, magnitude, case["activation"], case["out"], 4e-6, case)
    untouched(found.memory, target, case)
