"""The two stages of a mixture of experts on the virtual GPU, against float64 of the dequantised operands."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.moe import references
from flydsl.kernels.moe.moe_gemm_2stage.stages import compile_moe_gemm1, compile_moe_gemm2
from flydsl.kernels.moe.references import Order
from tests.support import random_data
from tests.support.experts import (
    OUT,
    PLAIN,
    Operand,
    Sizes,
    cosine,
    guarded,
    order_of,
    random_ids,
    rows_of,
    untouched,
    weights_of,
)
from tests.support.turns import in_turns

SHAPES = (Sizes(3, 4, 2), Sizes(33, 8, 2))
ALIKE = {("fp16", "gfx950"), ("int8smooth", "gfx942"), ("int4_bf16", "gfx950"), ("int4_bf16_f32", "gfx950"),
         ("int4_bf16_bf16", "gfx942")}  # fmt: skip
"""Kinds that differ from a tested one in what does not depend on the target."""
KINDS = ("fp16", "bf16", "fp8", "int8", "int8smooth", "int4", "int4_bf16", "int4_bf16_f32", "int4_bf16_bf16")


def stage(
    second: bool, kind: str, arch: str, sizes: Sizes, order: Order, ids: np.ndarray, weights: np.ndarray, **options: Any
) -> None:
    """Run one stage on random numbers and compare; rows beside the result must stay as they were."""
    rng, (model, inter) = random_data.generator(), (sizes.model, sizes.inter)
    columns, depth = (model, inter) if second else (inter, model)
    rows = (sizes.tokens, sizes.topk, depth) if second or kind == "int8smooth" else (sizes.tokens, depth)
    x = rng.standard_normal(rows).astype(np.float32)
    w = rng.standard_normal((sizes.experts, columns if second else 2 * columns, depth)).astype(np.float32) / depth**0.5
    a, b = activations(x, kind, arch, second), weights_of(w, kind, arch)
    if kind.startswith("int4_bf16_"):
        options |= {"group_size": 32, "scale_is_bf16": kind.endswith("bf16")}
        kind = "int4_bf16"
    out_dtype, atomic = options.pop("out_dtype", "f16"), options.get("accumulate", second)
    shape = (sizes.tokens, columns) if second and atomic else (sizes.tokens, sizes.topk, columns)
    weighted = options.pop("weighted", second)
    out, whole = guarded(shape, OUT[out_dtype], 0.0 if second else np.nan)
    run = (compile_moe_gemm2 if second else compile_moe_gemm1)(
        model_dim=model, inter_dim=inter, experts=sizes.experts, topk=sizes.topk, tile_m=sizes.unit,
        in_dtype=kind, out_dtype=out_dtype, **{"doweight_stage2" if second else "doweight_stage1": weighted},
        **{"tile_n": 64, "tile_k": 128, **options},
    )  # fmt: skip
    run(out, a.codes, b.codes, a.scale, b.scale, order.ids, order.expert_ids, order.weights, order.num_valid,
        sizes.tokens, columns, depth, len(order.expert_ids))  # fmt: skip
    want = references.stage2(a.numbers, b.numbers, ids) if second else references.stage1(a.numbers, b.numbers, ids)
    want = want * weights[..., None] if weighted else want
    want = references.reduce_slots(want) if second and atomic else want
    if not second:
        out = np.where((ids < 0)[..., None] & np.isnan(out), np.zeros_like(out), out)  # nobody computes those
    additions = sizes.topk if second and atomic else 1
    if "group_size" in options:
        assert cosine(out, want) > 0.9999  # numbers of weights are rounded to bf16
    else:
        compare(out, want, out_dtype, additions)
    assert untouched(whole), "wrote outside"


def activations(x: np.ndarray, kind: str, arch: str, second: bool) -> Operand:
    """The rows of x in a kind, poisoned behind the last; of a smooth kind slot by slot."""
    kind = "bf16" if kind.startswith("int4_bf16") else kind
    if kind in PLAIN:
        poisoned, _ = guarded(x.shape, PLAIN[kind])
        poisoned[:] = x.astype(PLAIN[kind])
        return Operand(poisoned, None, poisoned.astype(np.float64))
    found = rows_of(x.reshape(-1, x.shape[-1]), {"int8smooth": "int8", "int4": "int8"}.get(kind, kind), arch)
    numbers = found.numbers.reshape(x.shape)
    if kind == "int8smooth" and not second:
        turned = found.codes.reshape(x.shape).swapaxes(0, 1).copy(), found.scale.reshape(x.shape[:2]).T.ravel().copy()
        return Operand(*turned, numbers)
    return Operand(found.codes, found.scale, numbers)


def compare(out: np.ndarray, want: np.ndarray, out_dtype: str, additions: int) -> None:
    """Every element within the roundings of the result's type, of which atomics do one for each addition."""
    rounding = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 1e-5}[out_dtype] * additions
    assert np.abs(out.astype(np.float64) - want).max() <= rounding * max(np.abs(want).max(), 1e-3)
    assert cosine(out, want) > 0.9999


@pytest.mark.parametrize(
    ("kind", "arch"),
    [(kind, arch) for kind in KINDS for arch in ("gfx942", "gfx950") if (kind, arch) not in ALIKE],
)
def test_kinds(kind: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    sizes = SHAPES[arch == "gfx950"]
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    stage(False, kind, arch, sizes, order, ids, weights, weighted=kind == "int8")
    stage(True, kind, arch, sizes, order, ids, weights, accumulate=kind != "bf16", out_dtype="bf16")


def test_many_experts_for_each_token() -> None:
    sizes = Sizes(129, 128, 8)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    for second in in_turns((False, True)):
        stage(second, "int8", "gfx942", sizes, order, ids, weights)


@pytest.mark.parametrize(
    ("unit", "options"),
    [(64, {"tile_n": 128, "tile_k": 64}), (48, {"tile_k": 64, "out_dtype": "bf16"})], ids=str
)  # fmt: skip
def test_tiles(unit: int, options: dict[str, Any]) -> None:
    sizes = Sizes(70, 4, 2, unit=unit, inter=256)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    for second in (False, True):
        stage(second, "fp16", "gfx942", sizes, order, ids, weights, **options)


def test_sums_of_32_bits() -> None:
    sizes = Sizes(20, 4, 3)
    ids, weights = random_ids(sizes)
    stage(True, "bf16", "gfx942", sizes, order_of(ids, weights, sizes), ids, weights, out_dtype="f32")


def test_all_kinds_of_orders(rng: np.random.Generator) -> None:
    """One kernel of each stage: random tokens, one expert for all, experts without tokens, ids of no expert."""
    for round_ in range(4):
        sizes = Sizes(int(rng.integers(1, 60)), 8, 2)
        ids, weights = random_ids(sizes)
        if round_ == 1:
            ids[:] = 5
        if round_ == 2:
            ids[ids > 1] = 7
        if round_ == 3:
            ids[::2, 0] = -1
        order = order_of(ids, weights, sizes)
        for second in (False, True):
            stage(second, "fp16", "gfx942", sizes, order, ids, weights, tile_k=64)


def test_random_sizes(rng: np.random.Generator) -> None:
    """Whatever tokens, experts, slots and dimensions: the tiles are small enough for all."""
    model, inter = (int(64 * rng.integers(1, 7)) for _ in range(2))
    experts = int(rng.integers(1, 20))
    sizes = Sizes(int(rng.integers(1, 90)), experts, int(rng.integers(1, min(experts, 8) + 1)), model, inter, 16)
    ids, weights = random_ids(sizes)
    for second in (False, True):
        kind = "int8" if rng.integers(2) else "bf16"
        stage(second, kind, "gfx942", sizes, order_of(ids, weights, sizes), ids, weights, tile_k=64)


def test_what_lies_behind_the_order_is_not_read() -> None:
    """Blocks behind num_valid that look like work, padding that looks like token 0 of no slot, a block of no expert."""
    sizes = Sizes(9, 4, 2)
    ids, weights = random_ids(sizes)
    ids[0] = 0
    order = order_of(ids, weights, sizes)
    valid = int(order.num_valid[0])
    order.ids[valid:], order.weights[valid:], order.expert_ids[valid // sizes.unit :] = 0, np.nan, 0
    padding = order.ids[:valid] == sizes.tokens | sizes.topk << 24
    order.ids[:valid][padding] = np.where(np.arange(padding.sum()) % 2, sizes.topk << 24, sizes.tokens)
    for second in (False, True):
        stage(second, "fp16", "gfx942", sizes, order, ids, weights, tile_k=64)
    order.expert_ids[0], ids[ids == ids.min()] = 99, -1
    stage(True, "fp16", "gfx942", sizes, order, ids, weights, tile_k=64)


def test_no_races() -> None:
    sizes = Sizes(20, 4, 2, unit=32)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    with flyc.sanitize("race", "barrier"):
        for second in (False, True):
            stage(second, "fp16", "gfx942", sizes, order, ids, weights, tile_k=64)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_no_bank_conflicts(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of A, and results on their way through LDS: to stores of the first stage, to atomics of the second."""
    monkeypatch.setenv("ARCH", arch)
    dims: dict[str, Any] = {"model_dim": 128, "inter_dim": 128, "experts": 1, "topk": 1, "tile_m": 32, "tile_n": 128,
                            "tile_k": 64, "in_dtype": "fp16"}  # fmt: skip
    x, w, zeros = np.zeros((32, 128), np.float16), np.zeros((256, 128), np.float16), np.zeros(32, np.int32)
    order = (zeros, zeros, np.zeros(32, np.float32), np.full(2, 32, np.int32))
    stages = compile_moe_gemm1(doweight_stage1=False, **dims), compile_moe_gemm2(doweight_stage2=True, **dims)
    for run, result, read in zip(stages, ((32, 1, 128), (32, 128)), (128, 32), strict=True):
        report = flyc.lds_report(run, np.zeros(result, np.float16), x, w, None, None, *order, 32, 128, 128, 1)
        assert {(row.kind, row.bits) for row in report.rows} >= {("write", 128), ("write", 64), ("read", read)}
        assert report.extra_cycles == 0, str(report)


@pytest.mark.parametrize("kind", ["int4", "int4_bf16"])
def test_the_order_of_nibbles_matters(kind: str, rng: np.random.Generator) -> None:
    """With the halves of every byte of the weights exchanged the second stage gives something else."""
    sizes = Sizes(5, 4, 2)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    a = activations(rng.standard_normal((5, 2, 128)).astype(np.float32), kind, "gfx942", True)
    b = weights_of(rng.standard_normal((4, 256, 128)).astype(np.float32), kind, "gfx942")
    turned = ((b.codes.view(np.uint8) >> 4) | (b.codes.view(np.uint8) << 4)).view(np.int8)
    run = compile_moe_gemm2(
        model_dim=256, inter_dim=128, experts=4, topk=2, tile_m=16, tile_n=64, tile_k=128, doweight_stage2=True,
        in_dtype=kind, out_dtype="f32",
    )  # fmt: skip
    want = references.reduce_slots(references.stage2(a.numbers, b.numbers, ids, weights))
    for codes, right in ((b.codes, True), (turned, False)):
        y = np.zeros((5, 256), np.float32)
        run(y, a.codes, codes, a.scale, b.scale, order.ids, order.expert_ids, order.weights, order.num_valid, 5, 256,
            128, len(order.expert_ids))  # fmt: skip
        assert cosine(y, want) > 0.9999 if right else cosine(y, want) < 0.5


def test_parts_of_k_are_added() -> None:
    sizes = Sizes(11, 4, 2, model=512)
    ids, weights = random_ids(sizes)
    order, rng = order_of(ids, weights, sizes), random_data.generator()
    x = rng.standard_normal((11, 512)).astype(np.float32)
    w = rng.standard_normal((4, 256, 512)).astype(np.float32) / 20
    for kind, dtype in (("int8", np.float32), ("bf16", ml_dtypes.bfloat16)):
        a, b = activations(x, kind, "gfx942", False), weights_of(w, kind, "gfx942")
        out, whole = guarded((11, 2, 256), dtype, 0.0)
        run = compile_moe_gemm1(
            model_dim=512, inter_dim=128, experts=4, topk=2, tile_m=16, tile_n=64, tile_k=64, doweight_stage1=False,
            in_dtype=kind, k_batch=2,
        )  # fmt: skip
        run(out, a.codes, b.codes, a.scale, b.scale, order.ids, order.expert_ids, order.weights, order.num_valid, 11,
            128, 512, len(order.expert_ids))  # fmt: skip
        want = references.stage2(np.repeat(a.numbers[:, None], 2, 1), b.numbers, ids)
        np.testing.assert_allclose(out.astype(np.float64), want, atol=(1e-5 if dtype == np.float32 else 2e-2) * 8)
        assert untouched(whole)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"in_dtype": "f64"}, "in_dtype must be one of fp8, fp16, bf16, int8"),
        ({"out_dtype": "f32"}, "out_dtype of the first stage must be f16 or bf16"),
        ({"topk": 0}, "topk must be at least 1, got 0"),
        ({"inter_dim": 96}, "inter_dim must be a positive multiple of 64, got 96"),
        ({"tile_k": 192, "model_dim": 384}, "must be a power of two"),
        ({"tile_m": 20}, "tile_m must be a positive multiple of 16, got 20"),
        ({"k_batch": 3}, "k_batch must divide 256 elements, got 3"),
    ],
)
def test_bad_choices_are_refused(change: dict[str, Any], message: str) -> None:
    choice = {"model_dim": 256, "inter_dim": 128, "experts": 8, "topk": 2, "tile_m": 16, "tile_n": 64, "tile_k": 128,
              "doweight_stage1": False, **change}  # fmt: skip
    with pytest.raises(ValueError) as error:
        compile_moe_gemm1(**choice)
    assert message in str(error.value)


def test_bad_second_stages_are_refused() -> None:
    choice: dict[str, Any] = {"model_dim": 256, "inter_dim": 128, "experts": 8, "topk": 2, "tile_m": 16, "tile_n": 64,
                              "tile_k": 128, "doweight_stage2": True}  # fmt: skip
    with pytest.raises(ValueError, match="a row for each slot is f16 or bf16"):
        compile_moe_gemm2(**choice, out_dtype="f32", accumulate=False)
    with pytest.raises(ValueError, match="leave use_cshuffle_epilog out"):
        compile_moe_gemm2(**choice, out_dtype="f32", use_cshuffle_epilog=True)
    run = compile_moe_gemm2(**choice, in_dtype="int8")
    x, ids, numbers = np.zeros((2, 2, 128), np.int8), np.zeros(144, np.int32), np.zeros(16, np.float32)
    arguments = (x, x, numbers, numbers, ids, ids, numbers, ids, 2)
    with pytest.raises(ValueError, match="compiled for model_dim = 256, and is called with 128"):
        run(np.zeros((2, 256), np.float16), *arguments, 128, 128, 9)
    with pytest.raises(ValueError, match="out must hold Float16, not Float32"):
        run(np.zeros((2, 256), np.float32), *arguments, 256, 128, 9)
    with pytest.raises(RuntimeError, match="out has 256 elements, and the kernel uses 512"):
        run(np.zeros((1, 256), np.float16), *arguments, 256, 128, 9)
    with pytest.raises(RuntimeError, match="the array of rows has 256 elements, and the kernel uses 512"):
        run(np.zeros((2, 256), np.float16), x[:1], *arguments[1:], 256, 128, 9)
    w, of_w = np.zeros(8 * 256 * 128, np.int8), np.zeros(8 * 256, np.float32)
    given = [np.zeros((2, 256), np.float16), x, w, numbers[:4], of_w]
    for place, name in ((2, "weights"), (3, "scales of rows"), (4, "scales of weights")):
        short = [array[:-1] if index == place else array for index, array in enumerate(given)]
        size = given[place].size
        with pytest.raises(
            RuntimeError, match=f"the array of {name} has {size - 1} elements, and the kernel uses {size}"
        ):
            run(*short, *arguments[4:], 256, 128, 0)
    run(*given, *arguments[4:], 256, 128, 0)
