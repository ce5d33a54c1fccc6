"""Arrays, extents and numbers that launchers refuse, instead of reaching what lies beside them or trapping."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.attention.qk_norm_rope import flydsl_qk_norm_rope_quant
from flydsl.kernels.attention.rope_cache import build_fused_rope_cache_module, build_rope_module
from flydsl.kernels.comm.dispatch_combine import FlyDSLDispatchCombineConfig, FlyDSLDispatchCombineIntraNodeOp
from flydsl.kernels.moe.references import order_length
from flydsl.kernels.moe.sorting import moe_softmax_sort_flydsl, moe_sorting_flydsl
from flydsl.kernels.norm.cross_entropy import build_cross_entropy_bwd_module, build_cross_entropy_module
from tests.support.placed import placed, vector

BF16, FP8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
Order = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
TOO_FEW = "1 numbers are asked for, and an array has 0"


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def drawn(rng: np.random.Generator, *shape: int, dtype: Any = np.float16) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


# Sorting and gating --------------------------------------------------------------------------------------------------


def order_of(tokens: int, experts: int = 8, topk: int = 2, unit: int = 4) -> Order:
    entries = order_length(tokens, topk, experts, unit)
    names, number = np.zeros(-(-entries // unit), np.int32), np.zeros(2, np.int32)
    return np.zeros(entries, np.int32), np.zeros(entries, np.float32), names, number


@pytest.mark.parametrize("local", [-1_500_000_000, np.array([-1_500_000_000]), np.array([1000 - (1 << 32)])])
def test_tokens_below_zero(local: Any) -> None:
    ids, room = np.tile(np.arange(8, dtype=np.int32), 100)[:10].reshape(5, 2), order_of(400)
    order = cast("Order", tuple(whole[: len(part)] for whole, part in zip(room, order_of(5), strict=True)))
    with flyc.sanitize("bounds"):
        moe_sorting_flydsl(ids, np.ones((5, 2), np.float32), *order, None, 8, 4, None, local)
    assert order[3].tolist() == [0, 5]
    assert not any(whole[len(part) :].any() for whole, part in zip(room, order, strict=True))


@pytest.mark.parametrize("local", [np.zeros(0, np.int32), np.ones(1, np.float32)])
def test_numbers_of_local_tokens(local: np.ndarray, rng: np.random.Generator) -> None:
    ids, weights, order = np.zeros((5, 2), np.int32), np.ones((5, 2), np.float32), order_of(5)
    says = r"num_local_tokens holds \d of \w+; it must have at least 1 of int32 or int64"
    with pytest.raises(ValueError, match=says):
        moe_sorting_flydsl(ids, weights, *order, None, 8, 4, None, local)
    with pytest.raises(ValueError, match=says):
        moe_softmax_sort_flydsl(drawn(rng, 5, 8), weights, ids, *order, None, 8, 2, "f16", 4, num_local_tokens=local)
    assert not ids.any()


@pytest.mark.parametrize("tokens", [5, 1300])
def test_chosen_experts_of_other_shapes(tokens: int, rng: np.random.Generator) -> None:
    logits, order = drawn(rng, tokens, 8), order_of(tokens)
    ids, weights = np.full((tokens, 4), -9, np.int32), np.full((tokens, 4), -9, np.float32)
    for other in (np.s_[:, :1], np.s_[:-1, :2], np.s_[:, :3]):
        given = np.ascontiguousarray(weights[other]), np.ascontiguousarray(ids[other])
        with pytest.raises(ValueError, match=r"topk_ids (holds \d+ of|is \(\d+, 2\), 2 for each token, got)"):
            moe_softmax_sort_flydsl(logits, *given, *order, None, 8, 2, "f16", 4)
        assert (given[0] == -9).all()
        assert (given[1] == -9).all()


@pytest.mark.parametrize("kind", [np.float64, np.int32])
def test_logits_without_a_kernel(kind: Any, rng: np.random.Generator) -> None:
    ids, weights = np.zeros((1300, 2), np.int32), np.zeros((1300, 2), np.float32)
    with pytest.raises(ValueError, match="logits are float32, float16, bfloat16, got"):
        moe_softmax_sort_flydsl(
            drawn(rng, 1300, 8, dtype=kind), weights, ids, *order_of(1300), None, 8, 2, "f32", 4
        )  # fmt: skip


# Rotations -----------------------------------------------------------------------------------------------------------


def test_rotation_beyond_an_end(rng: np.random.Generator) -> None:
    run, room = build_rope_module(4, 64, "f16"), np.full((6, 256), 7, np.float16)
    x, table = drawn(rng, 6, 256), drawn(rng, 3, 32)
    for given in (
        (x, table, table, room[:2], 6, 3), (x[:5], table, table, room, 6, 3), (x, table[:2], table, room, 6, 3),
        (x, table, table[:, :16], room, 6, 3), (x[:, :192], table, table, room, 6, 3),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=r"\d rows of \d+ elements are asked for, and a matrix has"):
            run(*given)
    with pytest.raises(RuntimeError, match="6 tokens are rotated by the rows of tables, which are said to be 0"):
        run(x, table[:0], table[:0], room, 6, 0)
    with pytest.raises(RuntimeError, match="elements of a row must lie side by side"):
        run(np.asfortranarray(x), table, table, room, 6, 3)
    assert (room == 7).all()
    run(x[:0], table[:0], table[:0], room, 0, 0)
    run(x, table, table, room, 6, 3)
    assert not (room == 7).all()


def test_caches_that_are_scaled(rng: np.random.Generator) -> None:
    """They have 8 bits; without ``apply_scale`` no scale is read."""
    given, none = np.arange(2, dtype=np.int32), np.zeros(0, np.float32)
    q, k, table = drawn(rng, 2, 4, 64), drawn(rng, 2, 2, 64), drawn(rng, 7, 32)

    def run(scale: np.ndarray, cache: np.ndarray, **options: Any) -> None:
        launch = build_fused_rope_cache_module(
            64, num_q_heads=4, num_kv_heads=2, block_size=4, dtype_str="f16", **options
        )
        results = cache, np.zeros_like(cache), np.zeros_like(q), np.zeros_like(k)
        launch(q, k, k, given, table, table, given, *results, 2, scale, scale)

    for kind in (np.float16, np.float32):
        with pytest.raises(TypeError, match=r"with apply_scale caches are of 8 bits, .*Float8E4M3FN.*one holds Float"):
            run(np.ones(1, np.float32), np.zeros((3, 4, 2, 64), kind), apply_scale=True)
    cache = np.zeros((3, 4, 2, 64), np.float16)
    with flyc.sanitize("bounds"):
        run(none, cache)
    assert cache.any()


def qk_norm_rope(rng: np.random.Generator, rope: int = 64, **other: Any) -> np.ndarray:
    q, kv, weight = (drawn(rng, *shape, dtype=BF16) for shape in ((4, 1024), (4, 512), (512,)))
    table = np.ones((9, rope // 2), np.float32)
    given: dict[str, Any] = {"q": q, "kv": kv, "kv_weight": weight, "cos_cache": table, "sin_cache": table, **other}
    return flydsl_qk_norm_rope_quant(
        **given, positions=np.arange(4), num_q_heads=2, head_dim=512, rope_head_dim=rope
    )[0]  # fmt: skip


@pytest.mark.parametrize("name", ["q", "kv", "kv_weight", "q_out", "kv_out", "codes"])
def test_heads_between_accesses(name: str, rng: np.random.Generator) -> None:
    qk_norm_rope(rng)
    other = {
        "q": {"q": vector(drawn(rng, 4096, dtype=BF16)).array.reshape(4, 1024)},
        "kv": {"kv": placed(drawn(rng, 4, 512, dtype=BF16), "odd").array},
        "kv_weight": {"kv_weight": vector(drawn(rng, 512, dtype=BF16)).array},
        "q_out": {"q_out": placed(np.zeros((8, 512), BF16), "late").array},
        "kv_out": {"kv_out": np.zeros((4, 513), BF16)[:, :512]},
        "codes": {"q_out": placed(np.zeros((8, 512), FP8), "late").array, "quant": True},
    }[name]
    with pytest.raises(RuntimeError, match=f"elements are reached {8 if name == 'codes' else 16} bytes at once"):
        qk_norm_rope(rng, **other)


def test_heads_without_a_rotation(rng: np.random.Generator) -> None:
    """Tables without columns are not read, and a position that they do not have makes a head no number."""
    q = drawn(rng, 4, 1024, dtype=BF16)
    none = np.zeros((3, 0), np.float32)
    with flyc.sanitize("bounds"):
        found = qk_norm_rope(rng, 0, q=q, cos_cache=none, sin_cache=none).astype(np.float64)
    heads = q.astype(np.float64).reshape(4, 2, 512)
    wanted = (heads / np.sqrt((heads**2).mean(-1, keepdims=True) + 1e-6)).reshape(4, 1024)
    np.testing.assert_allclose(found[:3], wanted[:3], rtol=1e-2)
    assert np.isnan(found[3]).all()


# Losses --------------------------------------------------------------------------------------------------------------


def losses(rows: int, averaged: bool, **other: np.ndarray) -> tuple[float, float]:
    parts = {"result": np.full(1, 7, np.float32), "scale": np.full(1, 7, np.float32), "counter": np.zeros(1, np.int32)}
    parts |= other
    lines, run = np.zeros((3, rows), np.float32), build_cross_entropy_module(64, "f16")
    x, target = np.zeros((rows, 64), np.float16), np.zeros(rows, np.int64)
    run(x, target, lines[0], lines[1:], rows, -100, 0.0, None, *parts.values(), int(averaged))
    assert not parts["counter"].any()
    return float(parts["result"][0]), float(parts["scale"][0])


def test_losses_of_no_rows() -> None:
    assert losses(0, averaged=False) == (0.0, 1.0)
    assert np.isnan(losses(0, averaged=True)[0])
    np.testing.assert_allclose(losses(3, averaged=True), (np.log(64), 1 / 3), rtol=1e-6)


@pytest.mark.parametrize("name", ["result", "scale", "counter"])
def test_losses_without_room(name: str) -> None:
    with pytest.raises(RuntimeError, match=TOO_FEW):
        losses(3, averaged=True, **{name: np.zeros(0, np.int32 if name == "counter" else np.float32)})


def test_gradients_of_losses_without_a_factor() -> None:
    x, powers, one = np.zeros((3, 64), np.float16), np.ones((2, 3), np.float32), np.ones(1, np.float32)
    run, target = build_cross_entropy_bwd_module(64, "f16"), np.zeros(3, np.int64)
    with pytest.raises(RuntimeError, match=TOO_FEW):
        run(x, target, powers, one, x, 3, -100, 0.0, one[:0])
    run(x, target, powers, one, x, 3, -100, 0.0, one)


# Ranks, and tensors of torch -----------------------------------------------------------------------------------------


def exchanged(given: np.ndarray, way: str = "") -> None:
    """Send rows to the ranks of their experts and back, where they lie in a way."""
    weights, indices = np.ones((5, 2), np.float32), np.tile(np.array([[0, 3]], np.int32), (5, 1))

    def program(rank: Any) -> None:
        config = FlyDSLDispatchCombineConfig(
            rank.number, 2, 32, 9, 2, 2, given.dtype, block_num=2, threads=32
        )  # fmt: skip
        op = FlyDSLDispatchCombineIntraNodeOp(config, rank)
        rows = np.array(op.dispatch(given, weights, None, indices)[0])
        op.combine(placed(rows, way).array if way else rows)

    flyc.virtual_ranks(2, seed=1).run(program)


def test_rows_between_packs(rng: np.random.Generator) -> None:
    rows = drawn(rng, 5, 32, dtype=np.float32)
    exchanged(rows)
    for given, way in ((placed(rows, "late").array, ""), (placed(rows.astype(BF16), "late").array, ""), (rows, "late")):
        with pytest.raises(ValueError, match=r"input is reached 16 bytes at once, and begins \d bytes behind"):
            exchanged(given, way)
    for given, way in ((drawn(rng, 5, 33, dtype=np.float32)[:, :32], ""), (placed(rows, "pitched").array, "odd")):
        with pytest.raises(ValueError, match=r"input (is|are) reached 16 bytes at once"):
            exchanged(given, way)
    with pytest.raises(ValueError, match="elements of a row of input lie side by side, and are 5 apart"):
        exchanged(np.asfortranarray(rows))


def test_tensors_of_torch_with_a_sanitizer() -> None:
    torch = pytest.importorskip("torch")
    ops = pytest.importorskip("flydsl.ops")
    x = torch.randn(4, 512).half()
    wanted = ops.swiglu(x[:2], x[2:])
    with flyc.sanitize("bounds"):
        for _ in range(2):
            assert torch.equal(ops.swiglu(x[:2], x[2:]), wanted)
