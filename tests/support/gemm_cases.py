"""Products on Hopper in which every two choices of their features meet, and what float64 says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flydsl.kernels.gemm.hopper.plan import GemmConfig
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm
from tests.support.hopper_products import TYPES, activated
from tests.support.pairwise import Case, together
from tests.support.placed import WAYS, Placed, placed, vector

Array = Any
There = Callable[[Any], Any]
FP8 = ("e4m3", "e5m2", "e4m3 e5m2")
KINDS = ("bf16", "f16", *FP8, "s8", "s8 u8")
"""Types of A and B, or that of both."""
FEATURES: dict[str, tuple[Any, ...]] = {
    "kind": KINDS,
    "out": ("bf16", "f16", "f32", "e4m3", "e5m2"),
    "activation": ("none", "relu", "silu", "gelu", "gelu_erf", "swiglu"),
    "alpha": (1.0, -0.37, 0.0),
    "added": ("none", "bf16", "f32 across", "f32 odd", "shared", "itself"),
    "bias": ("none", "f32", "bf16", "one"),
    "scales": ("none", "rows", "columns", "both", "one", "blocks"),
    "a": WAYS,
    "b": WAYS,
    "c": WAYS,
    "batch": ("none", "three", "a shared", "b shared"),
    "fast": (False, True),
    "m": (1, 5, 70, 200),
    "n": (2, 24, 134),
    "k": (0, 1, 40, 130, 272),
}
"""Name -> its choices: types, what the epilogue does, where matrices lie, extents."""
LARGE = {"m": (1, 7, 64, 333, 1030), "n": (2, 24, 190, 1034), "k": (1, 33, 256, 2056)}
REFUSED = [
    *(together(scales="blocks", kind=kind) for kind in KINDS if kind not in FP8),
    together(activation="swiglu", added="itself"),  # C has half of the columns that are added
]
NARROW = {"bf16": 2**-8, "f16": 2**-11, "f32": 2**-22, "e4m3": 2**-4, "e5m2": 2**-3}
LEAST = {"e4m3": 2**-10, "e5m2": 2**-17, "f16": 2**-25}
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0, "f16": 65504.0}
BLOCK = 128
BETA = -1.5


# Numbers -------------------------------------------------------------------------------------------------------------


def drawn(rng: np.random.Generator, shape: tuple[int, ...], kind: str, mean: float) -> Array:
    """Numbers with a mean."""
    if kind in ("s8", "u8"):
        return rng.integers(-40 if kind == "s8" else 0, 100, shape).astype(TYPES[kind])
    return rng.normal(mean, 1.0, shape).astype(TYPES[kind])


def factors(rng: np.random.Generator, many: int) -> Array:
    """Scales that differ by up to five, of either sign."""
    return (np.exp(rng.uniform(-0.8, 0.8, many)) * rng.choice((-1, 1), many)).astype(np.float32)


def block_scales(rng: np.random.Generator, a: Array, b: Array) -> tuple[Array, Array]:
    """Scales of 1 x 128 of A and of 128 x 128 of B."""
    of_k, of_n = -(-a.shape[-1] // BLOCK), -(-b.shape[-1] // BLOCK)
    shapes = (*a.shape[:-1], of_k), (*b.shape[:-2], of_k, of_n)
    of_a, of_b = (factors(rng, int(np.prod(shape))).reshape(shape) for shape in shapes)
    return of_a, of_b


def widened(a: Array, b: Array, scales: tuple[Array, Array] | None) -> tuple[Array, Array]:
    """In float64, times the scales of blocks."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    if scales is not None:
        of_a, of_b = scales
        a = a * np.repeat(of_a, BLOCK, -1)[..., : a.shape[-1]]
        b = b * np.repeat(np.repeat(of_b, BLOCK, -1)[..., : b.shape[-1]], BLOCK, -2)[..., : b.shape[-2], :]
    return a, b


# What is right -------------------------------------------------------------------------------------------------------


def finished(expected: Array, magnitude: Array, activation: str) -> tuple[Array, Array]:
    """Return results, and their magnitudes: of gates, an error of either factor counts as much as the other is
    large."""
    if activation == "swiglu":
        slopes = 1.1 + np.abs(expected)
        magnitude = magnitude[..., ::2] * slopes[..., 1::2] + magnitude[..., 1::2] * slopes[..., ::2]
    with np.errstate(over="ignore"):
        return activated(expected, activation), magnitude


def check_results(
    found: Array, expected: Array, magnitude: Array, activation: str, out: str, error: float, what: object
) -> None:
    """Each result is right but for its rounding, and for so much of its terms' magnitudes, if its type holds it."""
    expected, magnitude = finished(expected, magnitude, activation)
    bound = NARROW[out] * np.abs(expected) + LEAST.get(out, 0.0) + error * (magnitude + 1)
    fits = np.abs(expected) + bound < LARGEST.get(out, np.inf)
    with np.errstate(all="ignore"):
        off = np.abs(found.astype(np.float64) - expected)
        worst = float(np.nanmax(np.where(fits, off / bound, 0), initial=0))
    assert (off <= bound)[fits].all(), (what, worst, int(np.isnan(off[fits]).sum()), int((off > bound)[fits].sum()))


def untouched(after: Array, target: Placed, what: object) -> None:
    """Nothing beside an array was written."""
    size = target.memory.itemsize
    before, after = (x.view(np.uint8).reshape(-1, size)[~target.is_own] for x in (target.memory, after))
    assert (before == after).all(), (what, "written beside", int((before != after).any(-1).sum()))


def error_of(case: Case, k: int, on_gpu: bool) -> float:
    """Of sums of products, as a part of the terms' magnitudes: tensor cores keep 14 bits of those of fp8."""
    if on_gpu and case["kind"] in FP8:
        return 2**-12 * (max(k / 64, 1) ** 0.5 if case["fast"] else 2)
    return 4e-6


# Calls ---------------------------------------------------------------------------------------------------------------


@dataclass
class Product:
    """What is expected of a product, the sum of its terms' magnitudes, and what the call is given."""

    expected: Array
    magnitude: Array
    given: dict[str, Any] = field(default_factory=dict)

    def scale(self, factor: Array) -> None:
        self.expected, self.magnitude = self.expected * factor, self.magnitude * np.abs(factor)

    def add(self, term: Array) -> None:
        self.expected, self.magnitude = self.expected + term, self.magnitude + np.abs(term)


def product_of(case: Case, rng: np.random.Generator, a: Array, b: Array, there: There) -> Product:
    """Return a product with its scales and its bias."""
    (m, n), kind = (a.shape[-2], b.shape[-1]), case["scales"]
    scales = block_scales(rng, a, b) if kind == "blocks" else None
    wide_a, wide_b = widened(a, b, scales)
    made = Product(wide_a @ wide_b, np.abs(wide_a) @ np.abs(wide_b))
    made.scale(case["alpha"])
    made.given = {"alpha": case["alpha"], "activation": case["activation"], "use_fast_accum": case["fast"]}
    if scales is not None:
        laid = placed(scales[0], "across" if case["fast"] else "whole"), placed(scales[1], "odd")
        made.given["block_scales"] = tuple(x.put(there) for x in laid)
    if kind in ("rows", "both", "one"):
        factor = factors(rng, 1 if kind == "one" else m)
        made.given["row_scale"] = vector(factor, 0).put(there)
        made.scale(factor[:, None])
    if kind in ("columns", "both", "one"):
        factor = factors(rng, 1 if kind == "one" else n)
        made.given["column_scale"] = vector(factor).put(there)
        made.scale(factor)
    if case["bias"] != "none":
        bias = rng.normal(1, 2, 1 if case["bias"] == "one" else n).astype(TYPES[case["bias"].replace("one", "f32")])
        made.given["bias"] = vector(bias).put(there)
        made.add(bias.astype(np.float64))
    return made


def run_case(
    case: Case, rng: np.random.Generator, there: There = lambda x: x, back: There = lambda x: x,
    config: GemmConfig | None = None, on_gpu: bool = False,
) -> None:  # fmt: skip
    """Run a product and check it; results are poisoned before, and memory around matrices is."""
    (m, n, k), batch, kinds = (case[name] for name in "mnk"), (3,) * (case["batch"] != "none"), case["kind"].split()
    laid = [
        placed(drawn(rng, (*batch, *shape), kind, 0.3), case[name], case["batch"] == f"{name} shared")
        for name, shape, kind in zip("ab", ((m, k), (k, n)), (kinds[0], kinds[-1]), strict=True)
    ]
    made = product_of(case, rng, laid[0].array, laid[1].array, there)
    columns = n // 2 if case["activation"] == "swiglu" else n
    target = placed(np.full((*batch, m, columns), np.nan, TYPES[case["out"]]), case["c"])
    if case["added"] != "none":
        kind = case["out"] if case["added"] == "itself" else "f32" if "f32" in case["added"] else "bf16"
        added = rng.normal(0.5, 1.0, (*batch, m, n)).astype(TYPES[kind])
        way = {"f32 across": "across odd", "f32 odd": "odd", "itself": case["c"]}.get(case["added"], "whole")
        term = placed(added, way, case["added"] == "shared" and bool(batch))
        target = term if case["added"] == "itself" else target
        made.given |= {"D": term.put(there), "beta": BETA}
        made.add(BETA * term.array.astype(np.float64))
    memory, result = target.lay(lambda x: there(x.copy()))
    if case["added"] == "itself":
        made.given["D"] = result
    hopper_gemm(*(x.put(there) for x in laid), result, config=config, **made.given)
    found, error = replace(target, memory=back(memory)), error_of(case, k, on_gpu)
    check_results(found.array, made.expected, made.magnitude, case["activation"], case["out"], error, case)
    untouched(found.memory, target, case)
