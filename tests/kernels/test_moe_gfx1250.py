"""The stages of a mixture of experts on the virtual gfx1250, and products of rows that lie by expert."""

from __future__ import annotations

import importlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.preshuffle_gemm import shuffle_weight
from flydsl.kernels.moe import references
from flydsl.kernels.moe.wmma_2stage import compile_moe_gemm1, compile_moe_gemm2, compile_moe_gemm2_ex
from flydsl.kernels.moe.wmma_2stage.grouped import launch_moe_gemm_a8w4
from flydsl.kernels.quant.shuffles import preshuffle_b_16x16, scale_32x4
from tests.support import random_data
from tests.support.experts import (
    OUT,
    PLAIN,
    Operand,
    Sizes,
    cosine,
    guarded,
    mx_operand,
    order_of,
    random_ids,
    untouched,
)
from tests.support.turns import in_turns

KINDS = ("fp16", "bf16", "fp8", "fp4", "a8w4")


@pytest.fixture(autouse=True)
def on_gfx1250(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1250")


def shuffled(w: Operand) -> tuple[Any, Any]:
    flat = w.codes.reshape(-1, w.codes.shape[-1])
    return shuffle_weight(flat), None if w.scale is None else scale_32x4(w.scale)


def poisoned(x: Operand) -> Operand:
    """With rows behind the last that would show in any sum."""
    more = [np.full((4, array.shape[-1]), 0x7F, np.uint8).view(array.dtype) if array.itemsize == 1
            else np.full((4, array.shape[-1]), np.nan, array.dtype) for array in (x.codes,)]  # fmt: skip
    codes = x.codes.reshape(-1, x.codes.shape[-1])
    return Operand(np.concatenate([codes, more[0]])[: len(codes)], x.scale, x.numbers)


def stage(second: bool, kind: str, sizes: Sizes, order: Any, ids: Any, weights: Any, **options: Any) -> None:
    """Run one stage on random numbers and compare; rows beside the result must stay as they were."""
    rng, columns, depth = random_data.generator(), sizes.model, sizes.inter
    if not second:
        columns, depth = depth, columns
    rows = (sizes.tokens, sizes.topk, depth) if second else (sizes.tokens, depth)
    x = poisoned(mx_operand(rng.standard_normal(rows).astype(np.float32), kind))
    shape = (sizes.experts, columns * (1 if second else 2), depth)
    w = mx_operand(rng.standard_normal(shape).astype(np.float32) / depth**0.5, kind, True)
    out_dtype, weighted = options.pop("out_dtype", "f16"), options.pop("weighted", second)
    atomic, split = second and options.get("accumulate", True), options.get("k_batch", 1) > 1
    wide = columns * (2 if split else 1)
    out, whole = guarded(
        (sizes.tokens, wide) if atomic else (sizes.tokens, sizes.topk, wide), OUT["f32" if split else out_dtype],
        0.0 if second or split else np.nan,
    )  # fmt: skip
    build, name = (compile_moe_gemm2, "doweight_stage2") if second else (compile_moe_gemm1, "doweight_stage1")
    run = build(
        model_dim=sizes.model, inter_dim=sizes.inter, experts=sizes.experts, topk=sizes.topk, tile_m=sizes.unit,
        in_dtype=kind, out_dtype=out_dtype,
        **{name: weighted, "tile_n": 64, "tile_k": 32 if kind in PLAIN else 128, "n_warp": 2, **options},
    )  # fmt: skip
    run(out, x.codes, shuffled(w)[0], x.scale, shuffled(w)[1], order.ids, order.expert_ids, order.weights,
        order.num_valid, sizes.tokens, columns, depth, len(order.expert_ids))  # fmt: skip
    numbers = x.numbers.reshape(rows)
    if split:
        want = references.stage2(np.repeat(numbers[:, None], sizes.topk, 1), w.numbers, ids)
    else:
        want = references.stage2(numbers, w.numbers, ids) if second else references.stage1(numbers, w.numbers, ids)
    want = want * weights[..., None] if weighted else want
    want = references.reduce_slots(want) if atomic else want
    out = np.where((ids < 0)[..., None] & np.isnan(out), np.zeros_like(out), out) if out.ndim == 3 else out
    rounding = 1e-5 if split else {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 1e-5}[out_dtype]
    bound = rounding * (sizes.topk if atomic else 1) * np.abs(want).max()
    assert np.abs(out.astype(np.float64) - want).max() <= bound and cosine(out, want) > 0.9999
    assert untouched(whole), "wrote outside"


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str) -> None:
    """Acceptance shapes: both stages, with a weight in either, sums by atomics and rows apart."""
    sizes = Sizes(*((3, 4, 2) if kind in PLAIN else (33, 8, 2)), inter=256)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    stage(False, kind, sizes, order, ids, weights, weighted=kind == "fp8")
    stage(True, kind, sizes, order, ids, weights, accumulate=kind != "bf16", out_dtype="bf16")


def test_tiles_and_sums_of_32_bits() -> None:
    sizes = Sizes(70, 4, 3, unit=64, inter=256)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    wide = {"tile_n": 128, "n_warp": 4, "num_buffers": 3, "tile_k": 64}
    narrow = {"out_dtype": "f32", "m_warp": 2, "tile_k": 128}
    for second, kind, options in in_turns(((False, "fp16", wide), (True, "fp16", wide), (True, "fp4", narrow))):
        stage(second, kind, sizes, order, ids, weights, **options)


def test_parts_of_k_are_added() -> None:
    sizes = Sizes(11, 4, 2, model=512, inter=128)
    ids, weights = random_ids(sizes)
    stage(False, "fp8", sizes, order_of(ids, weights, sizes), ids, weights, k_batch=2)


def test_no_bank_conflicts() -> None:
    """Rows of 64 results pass through LDS, two of which the banks serve at once."""
    run = compile_moe_gemm1(model_dim=128, inter_dim=64, experts=1, topk=1, tile_m=16, tile_n=64, tile_k=64, n_warp=2,
                            in_dtype="fp16", doweight_stage1=False)  # fmt: skip
    x, w, zeros = np.zeros((16, 128), np.float16), np.zeros((128, 128), np.float16), np.zeros(16, np.int32)
    order = (zeros, zeros, np.zeros(16, np.float32), np.full(2, 16, np.int32))
    report = flyc.lds_report(run, np.zeros((16, 1, 64), np.float16), x, w, None, None, *order, 16, 64, 128, 1)
    assert {row.kind for row in report.rows} == {"read", "write"}
    assert report.extra_cycles == 0, str(report)


def test_orders_and_guards(rng: np.random.Generator) -> None:
    """One kernel of each stage: one expert for all, experts without tokens, ids of no expert, blocks behind the last
    that would be wrong, padding that names a token or a slot."""
    for round_ in range(4):
        sizes = Sizes(int(rng.integers(1, 40)), 8, 2)
        ids, weights = random_ids(sizes)
        if round_ == 1:
            ids[:] = 5
        if round_ == 2:
            ids[ids > 1] = 7
        if round_ == 3:
            ids[::2, 0] = -1
        order = order_of(ids, weights, sizes)
        valid = int(order.num_valid[0])
        order.ids[valid:], order.weights[valid:], order.expert_ids[valid // sizes.unit :] = 0, np.nan, 0
        padding = order.ids[:valid] == sizes.tokens | sizes.topk << 24
        order.ids[:valid][padding] = np.where(np.arange(padding.sum()) % 2, sizes.topk << 24, sizes.tokens)
        for second in (False, True):
            stage(second, "bf16", sizes, order, ids, weights, out_dtype="bf16")


def test_no_races() -> None:
    sizes = Sizes(20, 4, 2, inter=256)
    ids, weights = random_ids(sizes)
    order = order_of(ids, weights, sizes)
    with flyc.sanitize("race", "barrier"):
        for second in (False, True):
            stage(second, "a8w4", sizes, order, ids, weights)


def test_second_stage_with_a_reduction(rng: np.random.Generator) -> None:
    sizes = Sizes(13, 4, 2)
    ids, weights = random_ids(sizes)
    mask = (ids != 2).astype(np.int8)
    order = order_of(np.where(mask, ids, -1), weights, sizes)
    a2 = rng.standard_normal((13, 2, 128)).astype(np.float16)
    w2 = (rng.standard_normal((4, 256, 128)) / 12).astype(np.float16)
    run = compile_moe_gemm2_ex(
        model_dim=256, inter_dim=128, experts=4, topk=2, tile_m=16, tile_n=64, tile_k=32, doweight_stage2=True,
        in_dtype="fp16", mode="reduce", n_warp=2,
    )  # fmt: skip
    out, whole = guarded((13, 256), np.float16)
    run(out, a2, shuffle_weight(w2.reshape(-1, 128)), None, None, order.ids, order.expert_ids, order.weights,
        order.num_valid, 13, 256, 128, len(order.expert_ids), valid_mask=mask)  # fmt: skip
    want = references.reduce_slots(references.stage2(a2, w2, np.where(mask, ids, -1), weights))
    assert np.abs(out - want).max() <= 2.0**-9 * np.abs(want).max() and untouched(whole)


# Rows that lie by expert ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fp4", "act", "has_bias", "cluster", "tile_n"),
    [(False, "swiglu", True, 1, 64), (True, None, False, 1, 64), (False, "silu", False, 2, 32)],
)
def test_rows_by_expert(
    fp4: bool, act: str | None, has_bias: bool, cluster: int, tile_n: int, rng: np.random.Generator
) -> None:
    """Tiles of experts in any order, one of none; the same bits in every run."""
    experts, rows, n, k = 3, 150, 192, 512
    a = mx_operand(rng.standard_normal((rows, k)), "fp4" if fp4 else "fp8")
    b = mx_operand(rng.standard_normal((experts, n, k)) / 16, "fp4", True)
    bias, tiles = rng.standard_normal((experts, n)).astype(np.float32), np.array([0, 2, -1, 1, 2], np.int32)
    columns = n // 2 if act else n
    scale_a = scale_32x4(a.scale)
    found = []
    for _ in range(2):
        c, whole = guarded((rows, columns), ml_dtypes.bfloat16, 77.0)
        launch_moe_gemm_a8w4(
            c, a.codes, preshuffle_b_16x16(b.codes, *b.codes.shape), scale_a, scale_32x4(b.scale), rows, None, n, k, 32,
            tile_n, 128, 2, 2, False, 2, fp4, tiles, experts, act, has_bias, bias, 3.0, 1, cluster,
        )  # fmt: skip
        assert untouched(whole)
        found.append(c)
    want = np.full((rows, columns), 77.0)
    for tile, expert in enumerate(tiles):
        here = slice(tile * 32, tile * 32 + 32)
        if expert >= 0:
            h = a.numbers[here] @ b.numbers[expert].T + (bias[expert] if has_bias else 0)
            want[here] = references.gated(h[:, ::2], h[:, 1::2], act, 3.0) if act else h
    assert (np.abs(found[0].astype(np.float64) - want) <= 2.0**-8 * np.abs(want) + 1e-3).all()
    assert found[0].tobytes() == found[1].tobytes()


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"in_dtype": "int8"}, "in_dtype must be one of fp16, f16, bf16, fp4, fp8, a8w4"),
        ({"topk": 0}, "topk must be at least 1, got 0"),
        ({"inter_dim": 96}, "inter_dim must be a positive multiple of tile_n = 64, got 96"),
        ({"tile_n": 72}, "tile_n must be a positive multiple of 64, 16 for each wave; got 72"),
        ({"model_dim": 128}, "has 1 tiles of 128, and num_buffers = 2 want as many"),
        ({"out_dtype": "f32"}, "out_dtype of the first stage must be f16 or bf16"),
        ({"k_batch": 3}, "k_batch must divide 256 elements, got 3"),
        ({"scale_is_bf16": True}, "leave group_size and scale_is_bf16 out"),
        ({"act": "relu"}, "act must be one of silu, swiglu"),
        ({"tile_m": 512, "tile_n": 512, "inter_dim": 512, "num_buffers": 4, "model_dim": 512, "in_dtype": "fp8"},
         "bytes of LDS, and 327680 are there"),
    ],
)  # fmt: skip
def test_bad_choices_are_refused(change: dict[str, Any], message: str) -> None:
    choice = {"model_dim": 256, "inter_dim": 128, "experts": 8, "topk": 2, "tile_m": 16, "tile_n": 64, "tile_k": 128,
              "doweight_stage1": False, **change}  # fmt: skip
    with pytest.raises(ValueError) as error:
        compile_moe_gemm1(**choice)
    assert message in str(error.value)


def test_bad_calls_are_refused() -> None:
    run = compile_moe_gemm2(
        model_dim=256, inter_dim=256, experts=8, topk=2, tile_m=16, tile_n=64, tile_k=128, doweight_stage2=True
    )
    rows, words, numbers = np.zeros((4, 256), np.uint8), np.zeros(64, np.int32), np.zeros(64, np.float32)
    out, order = np.zeros((2, 256), np.float16), (words, words, numbers, words, 2)
    with pytest.raises(ValueError, match="and is called without"):
        run(out, rows, rows, None, None, *order, 256, 256, 4)
    with pytest.raises(ValueError, match="rows must hold bytes for this stage, not Float16"):
        run(out, out, rows, rows, rows, *order, 256, 256, 4)
    with pytest.raises(ValueError, match="compiled for inter_dim = 256, and is called with 128"):
        run(out, rows, rows, rows, rows, *order, 256, 128, 4)
    sizes = (64, None, 64, 256, 32, 32, 128, 2, 2, True, 2, False, words, 3)
    for extra, message in (
        ((None, False, None, 0.0, 2), "cluster_m must be 1"),
        (("relu",), "stage1_act must be one of"),
        ((None, True), "has_bias=True, and there is no bias"),
    ):
        with pytest.raises(ValueError, match=message):
            launch_moe_gemm_a8w4(out, rows, rows, rows, rows, *sizes, *extra)


def test_names_of_flydsl() -> None:
    """The modules that FlyDSL has these in lead here."""
    for name, wanted in (
        ("moe_gemm_2stage_wmma_gfx1250", "compile_moe_gemm1"),
        ("moe_gemm_2stage_mxscale_gfx1250", "compile_moe_gemm2_ex"),
        ("moe.moe_a8w4_mxscale_gfx1250", "launch_moe_gemm_a8w4"),
    ):
        assert hasattr(importlib.import_module(f"kernels.{name}"), wanted)


def test_arrays_that_end_too_early() -> None:
    """What lies behind them was read and written."""
    run = compile_moe_gemm2(model_dim=64, inter_dim=256, experts=2, topk=1, tile_m=16, tile_n=64, tile_k=128,
                            doweight_stage2=False, in_dtype="a8w4", n_warp=2)  # fmt: skip
    ids = np.zeros(32, np.int32)
    given = [np.zeros(3 * 64, np.float16), np.zeros(3 * 256, np.uint8), np.zeros(2 * 64 * 128, np.uint8),
             np.zeros(3 * 8, np.uint8), np.zeros(2 * 64 * 8, np.uint8)]  # fmt: skip
    names = ("out", "the array of rows", "the array of weights", "the array of scales of rows",
             "the array of scales of weights")  # fmt: skip

    def call(arrays: list[Any]) -> None:
        run(*arrays, ids, ids, None, ids, 3, 64, 256, 0)

    call(given)
    for place, name in enumerate(names):
        with pytest.raises(RuntimeError, match=rf"{name} has \d+ elements, and the kernel uses {given[place].size}"):
            call([array[:-1] if index == place else array for index, array in enumerate(given)])


def test_grouped_rows_that_end_too_early() -> None:
    given = [np.zeros(32 * 64, np.float16), np.zeros(32 * 256, np.uint8), np.zeros(2 * 64 * 128, np.uint8),
             np.zeros(32 * 8, np.uint8), np.zeros(2 * 64 * 8, np.uint8)]  # fmt: skip

    def call(arrays: list[Any], tiles: Any) -> None:
        launch_moe_gemm_a8w4(*arrays, 32, None, 64, 256, 32, 64, 128, 1, 2, True, 2, False, tiles, 2)

    call(given, np.full(1, -1, np.int32))
    for place, name in enumerate(("C", "A", "B", "scale_a", "scale_b")):
        with pytest.raises(RuntimeError, match=rf"{name} has \d+ elements, and the kernel uses {given[place].size}"):
            call(
                [array[:-1] if index == place else array for index, array in enumerate(given)], np.full(1, -1, np.int32)
            )
    with pytest.raises(RuntimeError, match="m_tile_map has 0 elements, and the kernel uses 1"):
        call(given, np.zeros(0, np.int32))
