"""The pieces that FlyDSL's kernels are made of, under the paths they have there, in kernels that address by hand."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir.dialects import arith, scf
from flydsl.expr import rocdl
from flydsl.expr.typing import T
from flydsl.kernels.gemm.preshuffle_plan import shuffle_weight
from flydsl.kernels.quant.shuffles import e8m0_shuffle, pack_int4
from kernels import (
    dpp_utils,
    kernels_common,
    layout_utils,
    mfma_epilogues,
    mfma_preshuffle_pipeline,
    moe_common,
    pipeline_utils,
    tensor_shim,
)
from kernels.common import utils as common_utils
from tests.compat.launching import run

pipe = mfma_preshuffle_pipeline
TILE_M, TILE_N, TILE_K, THREADS, COLUMNS = 32, 256, 128, 256, 64


@flyc.kernel
def hand_kernel(
    C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, m: fx.Int32, k: fx.Constexpr[int], shuffled: fx.Constexpr[bool]
) -> None:
    """One row of tiles of C = A * B^T in 8-bit floats: A through exchanged LDS, B from shuffled weights."""
    tid = fx.thread_idx.x
    bx, by = pipe.xcd_remap_bx_by(fx.block_idx.x, fx.block_idx.y, fx.grid_dim.x, fx.grid_dim.y, 0)
    lane, wave = tid % 64, tid // 64
    lane_div, lane_mod = lane // 16, lane % 16
    rows = tensor_shim.GTensor(A, fx.Int32, (None, k // 4))
    layout = pipe.make_preshuffle_b_layout(TILE_N, k)
    storage = fx.SharedAllocator().allocate(fx.Array[fx.Int8, TILE_M * TILE_N * 2, 128]).peek().ptr
    sums = [[fx.Float32x4(0.0) for _ in range(COLUMNS // 16)] for _ in range(TILE_M // 16)]
    for tile in fx.range_constexpr(k // TILE_K):
        fx.barrier()
        row, word = pipe.tile_chunk_coord_i32(tid, 0, THREADS, TILE_K // 4)
        place = pipe.lds_row_major_idx(bx * TILE_M + row, tile * (TILE_K // 4) + word, k // 4)
        held = pipe.buffer_copy_gmem16_dwordx4(rows.resource, place)
        pipe.lds_store_16b_xor16(storage, row, word * 4, held, row_bytes=TILE_K)
        fx.barrier()
        for step in fx.range_constexpr(TILE_K // 32):
            at = step * 32 + lane_div * 8
            for i in fx.range_constexpr(TILE_M // 16):
                a = pipe.lds_load_pack_k32(storage, i * 16 + lane_mod, at, row_bytes=TILE_K)
                for j in fx.range_constexpr(COLUMNS // 16):
                    column = wave * COLUMNS + j * 16 + lane_mod
                    b = pipe.load_b_pack_k32(B, layout, column, tile * TILE_K + at)
                    operands = [a.ir_value(), b.ir_value(), sums[i][j].ir_value(), 0, 0, 0]
                    sums[i][j] = fx.Vector(rocdl.mfma_f32_16x16x32_fp8_fp8(T.f32x4, operands))
    fx.barrier()
    write(C, m, sums, storage, (tid, lane_div, lane_mod, wave), (bx, by), shuffled)


def write(C: Any, m: Any, sums: Any, storage: Any, threads: Any, at: Any, shuffled: bool) -> None:
    tid, lane_div, lane_mod, wave = threads
    out = tensor_shim.GTensor(C, shape=(None, TILE_N))

    def store(row: Any, col: Any, value: Any) -> None:
        out.vec_store((row, col), value)

    def row_body(mi: int, ii: int, row_in_tile: Any, row: Any) -> None:
        for j in range(COLUMNS // 16):
            out[row, wave * COLUMNS + j * 16 + lane_mod] = sums[mi][j][ii].to(fx.Float16)

    given: dict[str, Any] = {"m_repeat": TILE_M // 16, "lane_div_16": lane_div, "bx_m": at[0] * TILE_M}
    if shuffled:
        given |= {
            "tile_m": TILE_M, "tile_n": TILE_N, "e_vec": 8, "num_acc_n": COLUMNS // 16, "tid": tid, "by_n": 0,
            "lane_mod_16": lane_mod, "n_tile_base": wave * COLUMNS, "lds_out": fx.recast_iter(fx.Float16, storage),
            "value_at": lambda mi, ii, ni: sums[mi][ni][ii], "store": store,
        }  # fmt: skip
    else:
        given["body_row"] = row_body
    mfma_epilogues.mfma_epilog(use_cshuffle=shuffled, **given)


@flyc.jit
def hand_gemm(
    C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, m: fx.Int32, k: fx.Constexpr[int], shuffled: fx.Constexpr[bool],
    stream: fx.Stream = fx.Stream(None),
) -> None:  # fmt: skip
    token = kernels_common.stream_ptr_to_async_token(stream)
    hand_kernel(C, A, B, m, k, shuffled).launch(grid=(fx.ceildiv(m, TILE_M), 1, 1), block=THREADS, stream=token)


@pytest.mark.parametrize("shuffled", [False, True], ids=["default", "cshuffle"])
def test_a_product_by_hand(shuffled: bool, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Rows beyond M are neither read nor written: buffers end there."""
    monkeypatch.setenv("ARCH", "gfx942")
    m, k = 45, 256
    a, b = (rng.standard_normal((rows, k)).astype(ml_dtypes.float8_e4m3fnuz) for rows in (m, TILE_N))
    c = np.full((m, TILE_N), np.nan, np.float16)
    tensor_shim._run_compiled(hand_gemm, c, a, shuffle_weight(b.view(np.int8)), m, k, shuffled)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=2e-3, atol=0.05)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"tile_m": 20}, "tile_m must be a positive multiple of 8"), ({"tile_n": 96}, "tile_n must .* of 128"),
     ({"block_size": 100}, "block_size = 100 is no multiple of nlane = 32"), ({"e_vec": 3}, "e_vec is 2, 4 or 8")],
)  # fmt: skip
def test_tiles_that_cannot_be_shuffled(wrong: dict[str, int], said: str) -> None:
    given: dict[str, Any] = {"tile_m": 32, "tile_n": 128, "e_vec": 4, "block_size": 256, "nlane": 32} | wrong
    with pytest.raises(ValueError, match=said):
        mfma_epilogues.check_shuffle(**given)
    names = (
        "m_repeat", "num_acc_n", "tid", "lane_div_16", "lane_mod_16", "n_tile_base", "bx_m", "by_n", "lds_out",
        "value_at", "store",
    )  # fmt: skip
    with pytest.raises(ValueError, match=said):
        mfma_epilogues.c_shuffle_epilog(**dict.fromkeys(names), **given)


def test_where_shuffled_things_lie(rng: np.random.Generator) -> None:
    n, k = 48, 96
    weights = rng.integers(-100, 100, (n, k)).astype(np.int8)
    layout, flat = pipe.make_preshuffle_b_layout(n, k), shuffle_weight(weights).reshape(-1)
    assert all(flat[pipe.crd2idx((i, j), layout)] == weights[i, j] for i in range(0, n, 7) for j in range(0, k, 5))
    layout, flat = pipe.make_preshuffle_b_layout(n, k, 2), shuffle_weight(weights.astype(np.int16)).reshape(-1)
    assert all(flat[pipe.crd2idx((i, j), layout)] == weights[i, j] for i in range(0, n, 7) for j in range(0, k, 5))
    scales = rng.integers(0, 255, (256, 16)).astype(np.uint8)
    layout, flat = pipe.make_preshuffle_scale_layout(256, 16), np.asarray(e8m0_shuffle(scales)).reshape(-1)
    assert all(flat[pipe.crd2idx((i, j), layout)] == scales[i, j] for i in range(0, 256, 11) for j in range(16))
    assert pipe.split_row_major_2d(37, 10) == (3, 7) and pipe.swizzle_xor16(5, 40, 4) == 40 ^ 16
    with pytest.raises(ValueError, match="power of two of 16-byte pieces"):
        pipe.swizzle_xor16(1, 0, 6)


@pytest.mark.parametrize("grid", [(8, 4), (5, 8), (16, 3)])
def test_blocks_by_chiplet(grid: tuple[int, int]) -> None:
    gx, gy = grid
    found = {pipe.xcd_remap_bx_by(bx, by, gx, gy, 2) for bx in range(gx) for by in range(gy)}
    assert found == {(x, y) for x in range(gx) for y in range(gy)}


def test_weights_of_four_bits(rng: np.random.Generator) -> None:
    n, k = 16, 64
    weights = rng.integers(-8, 8, (n, k)).astype(np.int8)
    packed = np.asarray(pack_int4(shuffle_weight(weights)))
    scales = rng.random((2, n)).astype(ml_dtypes.bfloat16)
    pairs = scales.T.copy().view(np.int32).reshape(-1)
    plain, scaled = (np.zeros((n, k), np.float32) for _ in range(2))

    def body(packed: fx.Tensor, pairs: fx.Tensor, plain: fx.Tensor, scaled: fx.Tensor) -> None:
        t = fx.thread_idx.x
        row, place = t // 8, t % 8 * 8
        word = pipe.load_b_raw_w4a16(packed, pipe.make_preshuffle_b_layout(n, k), row, place)
        eight = pipe.unpack_b_w4a16(word)
        assert eight.dtype is fx.BFloat16
        scale = pipe.extract_bf16_scale(pairs[row], place // 32)
        times = pipe.unpack_b_w4a16_groupwise(word, scale, fx.Float16)
        for i in fx.range_constexpr(8):
            plain[row, place + i] = eight[i].to(fx.Float32)
            scaled[row, place + i] = times[i].to(fx.Float32)

    run(body, packed.reshape(-1).view(np.int8), pairs, plain, scaled, block=128)
    np.testing.assert_array_equal(plain, weights)
    wide = weights * np.repeat(scales.T.astype(np.float32), 32, axis=1)
    np.testing.assert_array_equal(scaled, wide.astype(np.float16).astype(np.float32))


def test_words_exchanged_in_lds() -> None:
    out = np.zeros((16, 8), np.int64)

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int8, 16 * 64, 16]).peek().ptr
        row, column = t // 4, t % 4 * 16
        first = fx.Int32(t * 4)
        pipe.lds_store_8b_xor16(tile, row, column, fx.Vector.from_elements([first, first + 1], fx.Int32), row_bytes=64)
        pipe.lds_store_4b_xor16(tile, row, column + 8, first + 2, row_bytes=64)
        pipe.lds_store_4b_xor16(tile, row, column + 12, first + 3, row_bytes=64)
        fx.barrier()
        for half in fx.range_constexpr(2):
            out[row, t % 4 * 2 + half] = pipe.lds_load_pack_k32(tile, row, column + half * 8, row_bytes=64)

    run(body, out, block=64)
    np.testing.assert_array_equal(out.view(np.int32), np.arange(256).reshape(16, 16))


def test_views_of_global_and_shared_memory(rng: np.random.Generator) -> None:
    a, out = rng.random((16, 8), np.float32), np.zeros((20, 8), np.float32)

    def body(a: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        source, target = tensor_shim.GTensor(a, shape=(16, 8)), tensor_shim.GTensor(out, shape=(None, 8))
        pointer = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 128, 16]).peek().ptr
        shared: tensor_shim.TensorView = tensor_shim.STensor(pointer, fx.Float32, (16, 8))
        shared.vec_store((t // 2, t % 2 * 4), source.vec_load((t // 2, t % 2 * 4), 4))
        fx.barrier()
        part = shared.tile((4, 8), (t // 8, 0))
        four = part.vec_load((t % 4, t // 4 % 2 * 4), 4)
        target.vec_store((t // 8 * 4 + t % 4, t // 4 % 2 * 4), four)
        if t < 8:
            target[16, t] = shared[15, t] + source[t]  # the first row by one number
        target[t + 64, 0] = 1.0  # behind the end

    run(body, a, out, block=32)
    np.testing.assert_array_equal(out[:16], a)
    np.testing.assert_array_equal(out[16], a[15] + a[0])
    assert not out[17:].any()
    with pytest.raises(ValueError, match="only the first extent"):
        tensor_shim.TensorView(fx.Float32, (4, None))
    with pytest.raises(ValueError, match=r"\(1,\) does not fit the shape \(4, 4\)"):
        tensor_shim.TensorView(fx.Float32, (4, 4)).offset((1,))


def test_torch_tensors_with_open_extents(torch: Any) -> None:
    seen = torch.arange(64, dtype=torch.float32)
    out = torch.zeros(64)

    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        out[fx.thread_idx.x] = x[fx.thread_idx.x] * 2

    run(body, tensor_shim.TorchTensor(seen), tensor_shim.TorchTensor(out), block=64)
    assert torch.equal(out, seen * 2)


@pytest.mark.parametrize(("buffers", "loaded", "extra"), [(2, 1, 0), (3, 2, 2), (4, 2, 5), (2, 1, 3)])
def test_the_tail_of_a_pipeline(buffers: int, loaded: int, extra: int) -> None:
    """Played on a model: every tile is multiplied once, in order, when it is there, in a stage that nobody uses."""
    ring: dict[int, int] = {i: i for i in range(loaded)}
    under_way, done = list(range(loaded)), []
    for load, stage, outstanding in pipeline_utils.make_tail_plan(buffers, loaded, extra):
        while len(under_way) > outstanding:
            under_way.pop(0)
        tile = ring[stage]
        assert tile not in under_way
        if load is not None:
            assert load != stage and ring.get(load, -1) in (-1, *done)
            ring[load] = max(ring.values()) + 1
            under_way.append(ring[load])
        done.append(tile)
    assert done == list(range(loaded + extra)) and not under_way
    threshold = pipeline_utils.tdm_epilogue_fence_threshold_bytes(1000, buffers, loaded + extra)
    assert threshold == (loaded + extra - 1) % buffers * 1000
    with pytest.raises(ValueError, match="tiles of 2 are loaded ahead, got 2"):
        pipeline_utils.make_tail_plan(2, 2, 0)


@pytest.mark.parametrize("distance", [1, 2, 4, 8])
def test_neighbours_by_dpp(distance: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    out = np.zeros(64, np.float32)

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        mirrored = fx.Int32(dpp_utils.update_dpp_i32(0, t, 0x140))
        out[t] = dpp_utils.dpp_xor_f32(t.to(fx.Float32), distance) + (mirrored - (t ^ 15)).to(fx.Float32)

    run(body, out, block=64)
    np.testing.assert_array_equal(out, np.arange(64) ^ distance)
    with pytest.raises(ValueError, match="1, 2, 4 or 8 apart, got 3"):
        dpp_utils.dpp_xor_f32(1.0, 3)


def test_facts_and_a_raw_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    assert (kernels_common.get_warp_size("gfx950"), kernels_common.get_warp_size("gfx1201")) == (64, 32)
    assert kernels_common.dtype_to_elem_type("bf16") == T.bf16 and kernels_common.dtype_to_elem_type("f32") == T.f32
    assert kernels_common.dtype_to_elem_type("fp8") == fx.Float8E4M3FNUZ.ir_type
    assert kernels_common.default_f8_type("gfx950") is fx.Float8E4M3FN
    with pytest.raises(ValueError, match="no element type is called 'f17'"):
        kernels_common.dtype_to_elem_type("f17")
    kernels_common.validate_moe_dtypes("fp8", "fp4")
    for pair, said in ((("fp9", "fp8"), "a_dtype must be"), (("fp4", "fp8"), "b_dtype beside fp4 must be")):
        with pytest.raises(ValueError, match=said):
            kernels_common.validate_moe_dtypes(*pair)
    assert moe_common.GateMode.SEPARATED is not moe_common.GateMode.INTERLEAVE

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        low = arith.cmpi(arith.CmpIPredicate.slt, t.ir_value(), arith.constant(T.i32, 10))
        with kernels_common._if_then(scf.IfOp(low)):
            out[t] = 7

    out = np.zeros(64, np.int32)
    run(body, out, block=64)
    np.testing.assert_array_equal(out, np.where(np.arange(64) < 10, 7, 0))


def test_stochastic_rounding_by_its_name_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    out = np.zeros((64, 2), np.float32)

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        for i, drawn in enumerate((0, -1)):  # all bits clear: towards zero; all set: away from it
            out[t, i] = kernels_common.cvt_sr_f32_to_bf16(fx.Float32(1.0) + t.to(fx.Float32) / 4096, drawn).to(
                fx.Float32
            )

    run(body, out, block=64)
    exact = 1 + np.arange(64) / 4096
    assert (out[:, 0] <= exact).all() and (out[:, 1] >= exact).all() and (out[:, 1] > out[:, 0]).any()


def test_coordinates_by_the_names_there() -> None:
    out = np.zeros((64, 3), np.int32)

    def body(out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        layout = fx.make_layout((4, 16), (16, 1))
        place = layout_utils.idx2crd(t, layout)
        out[t, 0], out[t, 1] = fx.Int32(layout_utils.get(place, 0)), fx.Int32(layout_utils.get(place, 1))
        out[t, 2] = fx.Int32(layout_utils.crd2idx(place, layout))

    run(body, out, block=64)
    np.testing.assert_array_equal(out, np.stack([np.arange(64) // 16, np.arange(64) % 16, np.arange(64)], 1))


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_small_arithmetic_by_the_names_there(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    assert [common_utils.cdiv(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [common_utils.align_up(n, 16) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]
    assert [common_utils.is_pow2(n) for n in (-2, 0, 1, 6, 64)] == [False, False, True, False, True]
    x, out = np.linspace(-3, 5, 64).astype(np.float32), np.zeros((64, 4), np.float32)

    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        out[t, 0], out[t, 1] = common_utils.exp2_f32_fast(x[t]), common_utils.rcp_f32(x[t])
        out[t, 2] = common_utils.align_up(t, 8).to(fx.Float32)
        both = fx.Vector.from_elements([x[t], x[t] + 1.0], fx.Float32)
        out[t, 3] = common_utils.exp2_f32_fast(both)[1]

    run(body, x, out, block=64)
    np.testing.assert_allclose(out[:, :2], np.stack([2.0**x, 1 / x], 1), rtol=1e-5)
    np.testing.assert_array_equal(out[:, 2], -(np.arange(64) // -8) * 8)
    np.testing.assert_allclose(out[:, 3], 2.0 ** (x + 1), rtol=1e-5)
