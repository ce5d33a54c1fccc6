"""Products of groups on Hopper in which every two choices of their features meet, and what float64 says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flydsl.kernels.gemm.hopper.plan import GemmConfig
from flydsl.kernels.gemm.hopper_grouped import hopper_grouped_gemm
from tests.support.gemm_cases import (
    BLOCK,
    FP8,
    block_scales,
    check_results,
    drawn,
    error_of,
    factors,
    finished,
    untouched,
    widened,
)
from tests.support.hopper_products import TYPES
from tests.support.pairwise import Case, together
from tests.support.placed import WAYS, Placed, placed, vector

Array = Any
ROWS = ("contiguous", "masked", "gathered", "scattered", "added", "gathered and scattered", "gathered and added")
KINDS = ("bf16", "f16", "e4m3", "e5m2", "s8")
QUANTISED = "e4m3 and scales"
FEATURES: dict[str, tuple[Any, ...]] = {
    "rows": ROWS,
    "kind": KINDS,
    "out": ("bf16", "f16", "f32", "e4m3", "e5m2", QUANTISED),
    "activation": ("none", "relu", "silu", "gelu", "gelu_erf", "swiglu"),
    "alpha": (1.0, -0.37),
    "scales": ("none", "rows", "one", "blocks", "blocks and rows"),
    "a": WAYS,
    "b": WAYS,
    "c": WAYS,
    "sizes": ("some", "empty", "one", "many"),
    "weights_first": (False, True),
    "fast": (False, True),
    "n": (24, 128, 134, 256),
    "k": (0, 1, 40, 130, 272),
}
"""Name -> its choices: types, what the epilogue does, where matrices lie, and how many rows groups have."""
LARGE = {"n": (128, 190, 1032, 256), "k": (1, 33, 256, 2056)}
SIZES = {"some": (70, 0, 130, 1), "empty": (0, 0, 0), "one": (67,), "many": (3,) * 33}
BEHIND = 5
"""Rows behind the last group."""
ADDED = tuple(rows for rows in ROWS if "added" in rows)
INDEXED = tuple(rows for rows in ROWS if "added" in rows or "scattered" in rows)
REFUSED = [
    *(together(scales=x, kind=kind) for x in ("blocks", "blocks and rows") for kind in KINDS if kind not in FP8),
    *(together(rows="masked", scales=scales) for scales in ("rows", "one", "blocks and rows")),
    *(together(rows=rows, out=out) for rows in ADDED for out in ("e4m3", "e5m2")),
    *(together(rows=rows, out=QUANTISED) for rows in ("masked", *INDEXED)),
    *(together(n=n, out=QUANTISED) for n in (24, 134, 190, 1032)),
    together(n=128, out=QUANTISED, activation="swiglu"),
    *(together(rows=rows, c=way) for rows in INDEXED for way in ("across", "across odd")),
    *(together(out=QUANTISED, c=way) for way in ("odd", "late", "across", "across odd")),
]


@dataclass(frozen=True)
class Rows:
    """Which row of A each row of the product is, and in which of C it goes; how many those two have."""

    taken: Array
    targets: Array
    of_a: int
    of_c: int

    @property
    def count(self) -> int:
        return len(self.taken)

    def written(self, total: int) -> Array:
        """Return which rows of the product are written, of so many."""
        return np.flatnonzero((self.targets[:total] >= 0) & (self.targets[:total] < self.of_c))


def rows_of(case: Case, rng: np.random.Generator, count: int) -> Rows:
    """Return rows of a product; some indices name none."""
    taken = targets = np.arange(count, dtype=np.int32)
    of_a = of_c = count
    if "gathered" in case["rows"]:
        of_a = 37
        taken = rng.integers(-1, of_a + 2, count).astype(np.int32)
    if case["rows"] in ADDED:
        of_c = 90
        targets = rng.integers(-1, of_c + 2, count).astype(np.int32)
    elif case["rows"] in INDEXED:
        of_c = count + 9
        targets = (rng.permutation(of_c + 4)[:count] - 2).astype(np.int32)
    return Rows(taken, targets, of_a, of_c)


def products(rows: Rows, a: Array, b: Array, sizes: tuple[int, ...], factor: Array) -> tuple[Array, Array]:
    """Return rows of groups, each times its factor, and the magnitudes of their terms."""
    total = sum(sizes)
    taken = rows.taken[:total]
    inside = (taken >= 0) & (taken < rows.of_a)
    wide = np.where(inside[:, None], a[np.clip(taken, 0, rows.of_a - 1)], 0.0)
    expected, magnitude = np.empty((total, b.shape[-1])), np.empty((total, b.shape[-1]))
    of_group = np.repeat(np.arange(len(sizes)), sizes)
    for group in range(len(sizes)):
        mine = of_group == group
        expected[mine], magnitude[mine] = wide[mine] @ b[group], np.abs(wide[mine]) @ np.abs(b[group])
    factor = factor[:total, None].astype(np.float64)
    return expected * factor, magnitude * np.abs(factor)


def run_case(
    case: Case, rng: np.random.Generator, there: Callable[[Any], Any] = lambda x: x,
    back: Callable[[Any], Any] = lambda x: x, config: GemmConfig | None = None, on_gpu: bool = False,
) -> None:  # fmt: skip
    """Run groups and check them; results are poisoned before, and memory around matrices is."""
    sizes, n, k, masked = SIZES[case["sizes"]], case["n"], case["k"], case["rows"] == "masked"
    rows = rows_of(case, rng, max(sizes) + BEHIND if masked else sum(sizes) + BEHIND)
    lead = (len(sizes),) if masked else ()
    a = drawn(rng, (*lead, rows.of_a, k), case["kind"], 0.3)
    b = drawn(rng, (len(sizes), k, n), case["kind"], 0.3)
    given: dict[str, Any] = {
        "alpha": case["alpha"], "activation": case["activation"], "use_fast_accum": case["fast"],
        "weights_first": case["weights_first"], "config": config,
    }  # fmt: skip
    if "gathered" in case["rows"]:
        given["rows"] = vector(rows.taken).put(there)
    if case["rows"] in INDEXED:
        given |= {"to_rows": vector(rows.targets).put(there), "add": case["rows"] in ADDED}
    scales, factor = block_scales(rng, a, b) if "blocks" in case["scales"] else None, np.ones(rows.count)
    if scales is not None:
        laid = placed(scales[0], "across" if case["fast"] else "whole"), placed(scales[1], "odd")
        given["block_scales"] = tuple(x.put(there) for x in laid)
    if case["scales"] in ("rows", "one", "blocks and rows"):
        of_rows = factors(rng, 1 if case["scales"] == "one" else rows.count)
        given["row_scale"], factor = vector(of_rows).put(there), factor * of_rows
    out, columns = case["out"].split()[0], n // 2 if case["activation"] == "swiglu" else n
    before = np.full((*lead, rows.of_c, columns), np.nan, TYPES[out])
    if case["rows"] in ADDED:
        before = rng.normal(0.5, 1.0, before.shape).astype(TYPES[out])
    target, of_c = placed(before, case["c"]), placed(np.full((rows.of_c, columns // BLOCK), np.nan, np.float32), "odd")
    memory, c = target.lay(lambda x: there(x.copy()))
    memory_of_scales, scale_c = of_c.lay(lambda x: there(x.copy()))
    if case["out"] == QUANTISED:
        given["scale_c"] = scale_c
    ends = np.array(sizes if masked else np.cumsum(sizes), np.int32)
    operands = placed(a, case["a"]).put(there), placed(b, case["b"]).put(there)
    hopper_grouped_gemm(*operands, c, vector(ends).put(there), **given)
    found, found_scales = replace(target, memory=back(memory)), replace(of_c, memory=back(memory_of_scales))
    untouched(found.memory, target, case)
    untouched(found_scales.memory, of_c, case)
    wide, error = widened(a, b, scales), error_of(case, k, on_gpu)
    if masked:
        check_masked(case, found.array, wide, sizes, error)
        return
    expected, magnitude = products(rows, *wide, sizes, case["alpha"] * factor)
    used = rows.written(sum(sizes))
    if case["rows"] in ADDED:
        check_added(case, found.array, before, rows.targets[used], expected[used], magnitude[used], error)
        return
    left = np.ones(rows.of_c, bool)
    left[rows.targets[used]] = False
    assert np.isnan(found.array[left].astype(np.float32)).all(), (case, "rows of no group are written")
    if case["out"] == QUANTISED:
        assert np.isnan(found_scales.array[left]).all(), (case, "scales of no group are written")
        check_quantised(case, found, found_scales, rows.targets[used], expected[used], error)
    else:
        got = found.array[rows.targets[used]]
        check_results(got, expected[used], magnitude[used], case["activation"], out, error, case)


def check_masked(case: Case, found: Array, wide: tuple[Array, Array], sizes: tuple[int, ...], error: float) -> None:
    """Rows that count are right, and others are as they were."""
    rest = found.astype(np.float32)
    for group, size in enumerate(sizes):
        a, b = wide[0][group, :size], case["alpha"] * wide[1][group]
        magnitude = np.abs(a) @ np.abs(b)
        check_results(found[group, :size], a @ b, magnitude, case["activation"], case["out"], error, case)
        rest[group, :size] = np.nan
    assert np.isnan(rest).all(), (case, "rows of no group are written")


def check_added(
    case: Case, found: Array, before: Array, targets: Array, expected: Array, magnitude: Array, error: float
) -> None:
    """Each row is added once; sums are rounded at every step."""
    steps = {"bf16": 2**-6, "f16": 2**-9, "f32": 1e-5}[case["out"]]
    added, magnitude = finished(expected, magnitude, case["activation"])
    sums, terms = before.astype(np.float64), np.abs(before.astype(np.float64))
    np.add.at(sums, targets, added)
    np.add.at(terms, targets, np.abs(added) + error / steps * magnitude)
    check_results(found, sums, terms, "none", case["out"], steps, case)


def check_quantised(case: Case, found: Placed, scales: Placed, targets: Array, expected: Array, error: float) -> None:
    """Scales are those of the largest of 128 results, and codes times them are the results; of zeros a scale is 1."""
    wanted, _ = finished(expected, expected, case["activation"])
    largest = np.abs(wanted).reshape(len(wanted), wanted.shape[1] // BLOCK, BLOCK).max(-1)
    scale = scales.array[targets].astype(np.float64)
    near = np.abs(scale * 448 - largest) <= (2**-7 + 64 * error) * largest + 1e-6
    assert (near | ((largest == 0) & (scale == 1))).all(), (case, "scales")
    spread = np.repeat(scale, BLOCK, -1)
    got = found.array[targets].astype(np.float64) * spread
    bound = (2**-4 + 2**-7) * np.abs(got) + 2**-4 * spread + 2 * error * (10 * largest.max(initial=0) + 1)
    off = np.abs(got - wanted)
    assert (off <= bound).all(), (case, float((off / bound).max()))
