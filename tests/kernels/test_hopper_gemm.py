"""The Hopper GEMM on the virtual sm_90a against float64: tiles, types, modes, epilogues, splits, clusters, edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.gemm import hopper_matmul
from flydsl.kernels.gemm.hopper import operands
from flydsl.kernels.gemm.hopper.checks import check_config
from flydsl.kernels.gemm.hopper.plan import GemmConfig, GemmKind
from flydsl.kernels.gemm.hopper_gemm import build_hopper_gemm
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm
from tests.support.described_calls import describe_calls
from tests.support.hopper_products import TYPES, Product, check, check_bits
from tests.support.turns import in_turns

SMALL = GemmConfig(64, 32, 1, 2)
"""A small tile: quick to compile for the host."""
FEW = GemmConfig(48, 16, 1, 3, 2, "k", swapped=True, staggered=True)
"""Few rows: swapped, K in two parts, fewer rows of weights than wgmma multiplies, and steps that begin anywhere."""


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


@pytest.mark.parametrize("shape", [(1, 8, 8), (7, 136, 72), (200, 104, 328), (520, 72, 136)])
def test_awkward_extents(shape: tuple[int, int, int]) -> None:
    """One kernel for all of them: extents are known at the launch. The last has more tiles than persistent blocks."""
    check(Product(*shape), SMALL)


@pytest.mark.parametrize(
    "config",
    [
        GemmConfig(128, 24, 1, 2),  # two blocks of rows a warpgroup
        GemmConfig(64, 96, 1, 2, 3, "k"),  # three parts, of which each block adds up 32 columns
        GemmConfig(128, 112, 2, 2, sends=True),  # of two boxes of a row, one leaves by TMA
        GemmConfig(64, 128, 2, 2, 2, "m", taking_turns=True, sends=True),
        GemmConfig(64, 48, 2, 3, 2, "m", taking_turns=True),  # a tile has more steps than the ring has stages
        GemmConfig(72, 24, 2, 3),  # of the second warpgroup's rows eight are the tile's
        GemmConfig(144, 40, 3, 2, 2, "n"),  # of the third one's sixteen are
        GemmConfig(192, 208, 3, 2, 2, "m"),  # two products of 104 columns
        GemmConfig(64, 112, 1, 2),  # boxes of 64 and of 48 columns
        GemmConfig(256, 16, 2, 3, 2, "n"),
        GemmConfig(192, 8, 3, 2),
        GemmConfig(128, 16, 2, 3, 4, "k"),  # two blocks of four add up
        GemmConfig(64, 8, 1, 3, 2, "k"),  # one block of two does, and the other may be a tile ahead of it
        GemmConfig(64, 40, 1, 3, 4, "k"),  # three of four do, each for 16 columns, the last of which are moved back
        GemmConfig(64, 136, 1, 2, 2, "k", sends=True),  # 72 columns each, of which both have eight
        GemmConfig(128, 64, 1, 2, 8, "k"),  # all of eight do, each for 8 columns of two blocks of rows
        GemmConfig(64, 32, 1, 3, 4, "m", behind=2),  # two of four blocks share tiles of B, of half of K each
        GemmConfig(64, 32, 1, 2, 4, "mn"),  # two below each other and two beside, which share tiles of B and of A
        GemmConfig(128, 32, 2, 2, 8, "nm"),  # four beside each other
        GemmConfig(64, 32, 1, 3, 8, "mn", behind=2),  # four, of half of K each
        GemmConfig(64, 24, 1, 2, 6, "n", behind=3),  # two of six blocks share tiles of A, of a third of K each
        FEW,
    ],
    ids=str,
)
def test_tiles_and_clusters(config: GemmConfig) -> None:
    """Blocks share tiles by multicast or have parts of K; more tiles than blocks; fewer steps of K than parts."""
    for shape in ((600, 104, 328), (1, 8, 8), (40, 600, 136)):
        check(Product(*shape), config)
    if config.splits > 1:
        check_bits(Product(40, 72, 712), config)


@pytest.mark.parametrize(
    "config",
    [GemmConfig(64, 96, 1, 2, 3, "k"), GemmConfig(64, 40, 1, 2, 4, "k"), GemmConfig(64, 32, 1, 2, 8, "m", behind=4)],
    ids=str,
)
def test_parts_of_k_are_added_up_in_one_order(config: GemmConfig, rng: np.random.Generator) -> None:
    """The last tiles move back, so that other blocks add up the same columns there: the bits stay the same."""
    a, b = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((64, 1024), (192, 1024)))
    whole, edge = np.empty((64, 192), np.float32), np.empty((64, 136), np.float32)
    hopper_gemm(a, b.T, whole, config=config)
    hopper_gemm(a, b[:136].T, edge, config=config)
    assert (whole[:, :136] == edge).all()


@pytest.mark.parametrize(
    "config",
    [
        GemmConfig(128, 104, 2, 2, 2, "n", swapped=True, sends_across=32),  # the last of four boxes moves back
        GemmConfig(192, 48, 3, 2, 2, "m", swapped=True, sends_across=64),
        GemmConfig(64, 80, 1, 3, 2, "k", swapped=True, sends_across=32),  # a block stores 40 columns
        GemmConfig(64, 72, 2, 3, swapped=True, taking_turns=True, sends_across=64),
        GemmConfig(256, 16, 2, 3, swapped=True, sends_across=32),  # two blocks of rows a warpgroup
    ],
    ids=str,
)
def test_results_that_are_sent_across(config: GemmConfig) -> None:
    """Rows of a warpgroup are lines of C: at the edges, of batches, with factors, of numbers that have a mean."""
    for shape in ((600, 104, 328), (200, 136, 72), (40, 600, 136)):
        check(Product(*shape, mean=0.5), config)
    others = (
        (Product(72, 40, 136, batches=2, activation="relu", extras=True), config),
        (Product(264, 72, 136, c_transposed=True, mean=-1.0), replace(config, swapped=False)),
    )
    for other in in_turns(others):
        check(*other)


def test_modes_that_are_contiguous() -> None:
    """Either mode of A, B and C; wgmma takes operands as they are, and C leaves through shared memory."""
    config = GemmConfig(64, 64, 1, 2, 2, "m")
    check(Product(136, 200, 72, a_transposed=True, b_transposed=False, c_transposed=True), config)
    check(Product(24, 136, 72, b_transposed=False), replace(FEW, tile_m=64))


@pytest.mark.parametrize(
    ("product", "config"),
    [
        (Product(21, 131, 71, batches=2), FEW),
        (Product(130, 33, 65, a_transposed=True, b_transposed=False), SMALL),
        (Product(7, 1, 1), SMALL),
        (Product(70, 206, 72), GemmConfig(64, 112, 1, 2)),  # C leaves in pieces of 4 bytes
        (Product(20, 131, 72, c="e4m3"), SMALL),
        (Product(24, 40, 72, offset=1), SMALL),
    ],
    ids=str,
)
def test_lines_that_tma_cannot_reach(product: Product, config: GemmConfig) -> None:
    """Rows of an odd number of bytes, or memory that starts anywhere: copied before, and stored one by one."""
    check(product, config)


def test_one_launch_copies_both_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    build = operands._build_pack
    monkeypatch.setattr(operands, "_build_pack", lambda *form: made.append(form) or build(*form))
    check(Product(7, 40, 71), SMALL)
    assert len(made) == 1 and len(made[0][0]) == 2, "both have rows of 142 bytes"


@pytest.mark.parametrize(
    "product",
    [
        Product(65, 86, 234),
        Product(20, 131, 66, batches=2, activation="relu", extras=True),
        Product(130, 24, 2, offset=2),
        Product(24, 70, 148, a="e4m3", b="e4m3"),
    ],
    ids=str,
)
def test_lines_of_words_are_copied_by_the_loading_warpgroup(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that begin at multiples of four bytes: small products have no launch before them that copies lines. Which
    are small enough is another test's: it depends on how many multiprocessors there are."""
    monkeypatch.setattr(hopper_matmul, "copies_words", lambda *_: True)
    monkeypatch.setattr(operands, "_build_pack", None)
    check(product, None)


def test_a_block_looks_for_its_first_tile_before_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The divisions that say where it is are made while the launch before ends."""
    describe_calls(monkeypatch)
    run = build_hopper_gemm(GemmKind(fx.BFloat16, fx.BFloat16, fx.BFloat16), GemmConfig(64, 64, 1, 3))
    a, b, c = (np.zeros((256, 256), TYPES["bf16"]) for _ in range(3))
    run(a, b.T, c, *[None] * 5, 0.0)
    ahead, waits, _ = run.specialisations[-1].kernels[0].ptx.partition("griddepcontrol.wait")
    assert waits and "div.u32" in ahead and "st.shared" in ahead


def test_lines_of_words_are_not_read_behind_their_end(rng: np.random.Generator) -> None:
    """What a line of A and of B has behind K is another line: zeros are multiplied instead."""
    a, b = (rng.standard_normal((rows, 66)).astype(TYPES["bf16"]) for rows in (40, 24))
    a[:, 34:], b[:, 34:] = np.inf, np.inf
    got = hopper_matmul.hopper_matmul(a[:, :34], b[:, :34].T, out_dtype=np.float32)
    np.testing.assert_allclose(got, a[:, :34].astype(float) @ b[:, :34].astype(float).T, atol=1e-4)


def test_results_of_two_blocks_are_not_added_to() -> None:
    """D may be C: the model takes shares that do not overlap, and others are refused."""
    overlapping = GemmConfig(64, 40, 1, 3, 4, "k")
    with pytest.raises(ValueError, match="D may be C"):
        check(Product(64, 40, 264, extras=True), overlapping)


def test_more_pieces_than_32_bits_count() -> None:
    many = np.lib.stride_tricks.as_strided(np.zeros(65, np.float16), (1 << 28, 65), (0, 2))
    with pytest.raises(ValueError, match=r"2,415,919,104.*fewer rows"):
        operands.packed_lines([(many, 1, operands.OperandLines(True, is_ragged=True))], None)


def test_rows_in_any_order(rng: np.random.Generator) -> None:
    """Strides that are negative, and the same matrix for a whole batch: TMA has neither."""
    a, b = (rng.standard_normal(shape).astype(TYPES["bf16"]) for shape in ((20, 72), (72, 40)))
    backwards = hopper_matmul.hopper_matmul(a[::-1], b, out_dtype=np.float32, config=GemmConfig(64, 64, 1, 2))
    np.testing.assert_allclose(backwards, (a.astype(float) @ b.astype(float))[::-1], atol=1e-4)
    both = np.stack([b, -b])
    batch = hopper_matmul.hopper_matmul(np.broadcast_to(a, (2, *a.shape)), both, out_dtype=np.float32)
    np.testing.assert_allclose(batch, a.astype(float) @ both.astype(float), atol=1e-4)


@pytest.mark.parametrize(
    ("product", "config"),
    [
        (Product(72, 40, 136, a="f16", b="f16", c="f16"), SMALL),
        (Product(72, 48, 272, b_transposed=False, a="e4m3", b="e5m2", c="f32"), SMALL),
        (Product(72, 48, 160, a="s8", b="s8", c="f32"), FEW),
        (Product(20, 48, 160, a="u8", b="s8", c="f32"), SMALL),
        (Product(72, 48, 72, c="e4m3"), SMALL),
        (Product(16, 48, 72, c="e4m3"), FEW),
    ],
    ids=str,
)
def test_types(product: Product, config: GemmConfig) -> None:
    check(product, config)


@pytest.mark.parametrize("activation", ["silu", "gelu", "gelu_erf"])
def test_epilogues(activation: str) -> None:
    check(Product(70, 40, 72, activation=activation, extras=True), SMALL)


def test_what_is_added_to_may_be_the_result(rng: np.random.Generator) -> None:
    """No two tiles have the same results then: the second would add to what the first wrote."""
    a, w = (rng.standard_normal((rows, 72)).astype(ml_dtypes.bfloat16) for rows in (150, 104))
    c = rng.standard_normal((150, 104)).astype(np.float32)
    expected = a.astype(float) @ w.astype(float).T + 2.0 * c
    hopper_gemm(a, w.T, c, D=c, beta=2.0, config=GemmConfig(64, 64, 1, 3))
    np.testing.assert_allclose(c, expected, atol=1e-3)


def test_gated_columns() -> None:
    """One column of two: rows of 16 bytes and others, batches, C with either mode contiguous."""
    check(Product(70, 80, 72, activation="swiglu", extras=True), SMALL)
    check(Product(20, 22, 40, batches=2, activation="swiglu"), SMALL)
    check(Product(24, 80, 72, activation="swiglu", c="f32", c_transposed=True), GemmConfig(64, 16, 1, 3, 2, "k"))


@pytest.mark.parametrize("config", [SMALL, FEW], ids=str)
def test_epilogues_of_batches(config: GemmConfig) -> None:
    """Scales, a bias and another matrix, along the right modes also where operands are swapped."""
    check(Product(24, 40, 200, batches=3, activation="relu", extras=True, c="f32"), config)


def test_the_model_chooses() -> None:
    check(Product(7, 136, 72), None)


@pytest.mark.parametrize(("m", "n", "k"), [(0, 8, 16), (8, 0, 16), (0, 0, 16), (0, 8, 0), (8, 0, 0), (0, 0, 0)])
def test_nothing_to_write(m: int, n: int, k: int) -> None:
    """Empty arrays have strides of 0 or whatever they were cut with: nobody looks at them."""
    for b in (zeros(k, n), zeros(n, k).T, zeros(k + 1, 2 * n + 2)[:k, : 2 * n : 2]):
        hopper_gemm(zeros(m, k), b, zeros(m, n), zeros(n))


@pytest.mark.parametrize("extras", [False, True])
def test_no_products_to_add_up(extras: bool) -> None:
    """K is 0: C = act(bias + beta * D), or zeros, in every element and beside none."""
    check(Product(7, 40, 0, activation="silu", extras=extras), SMALL)


def test_a_matrix_is_returned() -> None:
    """Of A's type, or bf16 where A has 8 bits, or the one asked for."""
    a, b = zeros(3, 16), zeros(8, 16).T
    assert hopper_matmul.hopper_matmul(a, b, config=SMALL).dtype == TYPES["bf16"]
    assert hopper_matmul.hopper_matmul(a, b, config=SMALL, out_dtype=np.float32).dtype == np.float32
    narrow = hopper_matmul.hopper_matmul(zeros(3, 16, dtype=TYPES["e4m3"]), zeros(16, 8, dtype=TYPES["e4m3"]))
    assert narrow.dtype == TYPES["bf16"] and not narrow.any()
    out = zeros(3, 8)
    assert hopper_matmul.hopper_matmul(a, b, config=SMALL, out=out) is out


def test_a_stream_of_number_0_is_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is CUDA's default stream, and no word for "choose one"."""
    seen: list[Any] = []
    monkeypatch.setattr(hopper_matmul, "_CALLS", operands.KeptCalls())
    monkeypatch.setattr(hopper_matmul, "build_hopper_gemm", lambda *_: lambda *given: seen.append(given[-1]))
    monkeypatch.setattr(hopper_matmul, "current_stream", lambda _: 77)
    for stream in (0, 5, None):
        hopper_gemm(zeros(8, 16), zeros(16, 8), zeros(8, 8), stream=stream)
    assert seen == [0, 5, 77]


def test_calls_of_tensors_that_share_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are alike in all that a kernel is built by; what native code cannot say of them is asked for here."""
    torch: Any = pytest.importorskip("torch", reason="facts of tensors are read by native code")
    monkeypatch.setattr(hopper_matmul, "_CALLS", operands.KeptCalls())
    monkeypatch.setattr(hopper_matmul, "_call_for", lambda *_: lambda *given: None)
    a, b, c = (torch.zeros(shape, dtype=torch.bfloat16) for shape in ((16, 32), (32, 24), (16, 24)))
    flat, bias = torch.zeros(1 + a.numel(), dtype=torch.bfloat16), torch.zeros(24, dtype=torch.bfloat16)
    calls = [
        (a, b, c, {}), (a, torch.zeros(24, 32, dtype=torch.bfloat16).T, c, {}), (a[:8], b, c[:8], {}),
        (a.half(), b.half(), c, {}), (a, b, c.float(), {}), (flat[1:].view(16, 32), b, c, {}),
        (a, b, c, {"activation": "silu"}), (a, b, c, {"alpha": 2.0}), (a, b, c, {"use_fast_accum": True}),
        (a, b, c, {"config": SMALL}), (a, b, c, {"bias": bias}),
    ]  # fmt: skip
    for _ in range(2):
        for left, right, product, how in calls:
            hopper_gemm(left.clone() if left.data_ptr() % 16 == 0 else left, right, product, **how)
    assert len(hopper_matmul._CALLS) == len(calls)


def test_the_first_call_launches_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling for arguments launches: where C is its own D, a second launch would add it twice."""
    launched: list[str] = []

    def compile_and_launch(function: Any, *arguments: Any) -> Any:
        launched.append(f"compiled with {arguments}")
        return lambda *later: launched.append(f"called with {later}")

    monkeypatch.setattr(operands.flyc, "compile", compile_and_launch)
    call = operands.Bound(None)
    call(1)
    call(2)
    assert launched == ["compiled with (1,)", "called with (2,)"]
    kept = operands.KeptCalls()
    kept.begin("shape", operands.Bound(None), 3)
    kept["shape"](4)  # what was compiled, with nothing around it
    assert launched[2:] == ["compiled with (3,)", "called with (4,)"] and not isinstance(kept["shape"], operands.Bound)


# What is refused -------------------------------------------------------------------------------------


def zeros(*shape: int, dtype: Any = ml_dtypes.bfloat16) -> np.ndarray[Any, Any]:
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    ("a", "b", "c", "says"),
    [
        (zeros(8, 16), zeros(24, 8), zeros(8, 8), "shapes do not fit"),
        (zeros(8, 16), zeros(16, 8), zeros(8, 16), "shapes do not fit"),
        (zeros(2, 8, 16), zeros(3, 16, 8), zeros(2, 8, 8), "shapes do not fit"),
        (zeros(8), zeros(8, 8), zeros(8, 8), "are matrices"),
        (zeros(8, 16), zeros(16, 8), zeros(8, 16)[:, ::2], "C must have a contiguous mode"),
        (zeros(0, 16, dtype=np.float32), zeros(16, 8, dtype=np.float32), zeros(0, 8), "A is float32"),
        (zeros(16, 32)[::2, ::2], zeros(16, 8), zeros(8, 8), "A must have a contiguous mode"),
        (zeros(8, 16), zeros(32, 16)[::2, ::2], zeros(8, 8), "B must have a contiguous mode"),
        (zeros(8, 16), zeros(16, 8, dtype=np.float16), zeros(8, 8), "give both the same type"),
        (zeros(8, 16, dtype=np.int8), zeros(16, 8, dtype=TYPES["e4m3"]), zeros(8, 8), "give both the same type"),
        (zeros(8, 16), zeros(16, 8), zeros(8, 8, dtype=np.int32), "C is int32; this kernel writes bfloat16"),
    ],
)
def test_operands_that_do_not_fit(a: Any, b: Any, c: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        hopper_gemm(a, b, c)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"bias": zeros(16)}, r"bias has shape \(16,\), and the product has 8 columns"),
        ({"row_scale": zeros(8, 1)}, r"row_scale has shape \(8, 1\), and the product has 8 rows"),
        ({"D": zeros(8, 16), "beta": 1.0}, r"D has shape \(8, 16\), and the product \(8, 8\)"),
        ({"beta": 1.0}, "beta is 1.0, and there is no D: give D=C"),
        ({"activation": "swiglu"}, r"shapes do not fit.*C is \(M, N / 2\)"),
        ({"activation": "swish"}, "activation must be one of"),
    ],
)
def test_epilogues_that_do_not_fit(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        hopper_gemm(zeros(8, 16), zeros(8, 16).T, zeros(8, 8), **given)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (GemmConfig(64, 64, 2), "blocks of 64 rows"),
        (GemmConfig(100, 64, 2), "a multiple of 8 rows"),
        (GemmConfig(64, 64, 1, taking_turns=True), "two warpgroups take turns"),
        (GemmConfig(64, 100, 1), "8 to 256 columns"),
        (GemmConfig(256, 256, 2), "room for 192 sums"),
        (GemmConfig(64, 64, 1, cluster=3), "1, 2, 4 or 8 along m and n, and as many or 3 along k"),
        (GemmConfig(48, 64, 1, sends=True), "boxes leave by TMA where"),
        (GemmConfig(128, 64, 2, sends=True, box_line=64), "or 64 without TMA"),
        (GemmConfig(128, 64, 2, box_line=32), "or 64 without TMA"),
        (GemmConfig(64, 64, 1, sends_across=32), "boxes of 32 or 64 columns leave by TMA across"),
        (GemmConfig(64, 64, 1, stages=1), "a stage more than teams"),
        (GemmConfig(64, 8, 1, cluster=2), "parts of eight rows"),
    ],
)
def test_configurations_that_cannot_be(config: GemmConfig, says: str) -> None:
    with pytest.raises(ValueError, match=rf"{says}.*got GemmConfig\("):
        build_hopper_gemm(GemmKind(fx.BFloat16, fx.BFloat16, fx.BFloat16), config)


def test_a_block_of_rows_may_have_none_of_the_tile() -> None:
    """Two warpgroups multiply 256 rows of a tile of 168, two blocks each."""
    check_config(GemmKind(*[fx.BFloat16] * 3), GemmConfig(168, 64, 2, 4, swapped=True))


def test_kinds_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="neighbours where operands are not swapped"):
        build_hopper_gemm(GemmKind(*[fx.BFloat16] * 3, activation="swiglu"), FEW)
    e4m3, bf16 = fx.Float8E4M3FN, fx.BFloat16
    with pytest.raises(ValueError, match="8-bit matrices are multiplied with K contiguous"):
        build_hopper_gemm(GemmKind(e4m3, e4m3, bf16, b_along_k=False), GemmConfig(64, 64, 1))
    with pytest.raises(ValueError, match="A and B have 8 or 16 bits"):
        build_hopper_gemm(GemmKind(bf16, e4m3, bf16), SMALL)
    with pytest.raises(ValueError, match="of 64 a warpgroup if they are gathered or packed"):
        build_hopper_gemm(GemmKind(e4m3, e4m3, bf16, gathers=True, groups=32), GemmConfig(48, 64, 1))
    with pytest.raises(ValueError, match="columns of two scales at most"):
        build_hopper_gemm(GemmKind(e4m3, e4m3, bf16, block_scaled=True), GemmConfig(128, 168, 2))
    with pytest.raises(ValueError, match="pieces of 16 bytes of C belong to one tile"):
        build_hopper_gemm(GemmKind(e4m3, e4m3, e4m3, c_along_n=False), GemmConfig(40, 16, 1))
    with pytest.raises(ValueError, match="begin anywhere in K where nothing but products depends on it"):
        build_hopper_gemm(GemmKind(e4m3, e4m3, bf16, block_scaled=True), GemmConfig(64, 64, 1, staggered=True))
    with pytest.raises(ValueError, match="a multiple of 64 columns"):
        build_hopper_gemm(GemmKind(bf16, bf16, bf16, b_along_k=False), SMALL)
    with pytest.raises(ValueError, match="integers have 8 or 24 columns, or some in sixteens"):
        build_hopper_gemm(GemmKind(fx.Int8, fx.Int8, bf16), GemmConfig(128, 104, 2))


def test_too_many_stages_for_shared_memory() -> None:
    with pytest.raises(RuntimeError, match="bytes of shared memory, and sm_90a has 232448"):
        hopper_gemm(zeros(8, 16), zeros(8, 16).T, zeros(8, 8), config=GemmConfig(128, 256, 2, 8))
