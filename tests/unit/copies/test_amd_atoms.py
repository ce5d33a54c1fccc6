"""AMD's ways into and out of LDS as atoms of tiled copies: transposing reads, copies that pass no registers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

cdna3, cdna4, cdna5 = fx.rocdl.cdna3, fx.rocdl.cdna4, fx.rocdl.cdna5
M, K = 64, 64


def transposing(dtype: Any, pad: int, make_atom: Any, read: Any) -> Any:
    """A tile that is contiguous along M, read by transposing reads and by copies that choose themselves."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        space = fx.SharedAllocator().allocate(fx.Array[dtype, (M + pad) * K, 1024]).ptr
        tile = fx.make_view(space, fx.make_layout((M, K), (1, M + pad)))
        threads = fx.block_dim.x
        for at in range(thread, M * K, threads):
            tile[at % M, at // M] = x[at % M, at // M]
        fx.barrier()
        mma = fx.make_tiled_mma(fx.make_mma_atom(make_atom(dtype)), fx.make_layout((4, 1, 1), (1, 4, 0)))
        tiled = fx.make_tiled_copy_A(fx.make_copy_atom(read, dtype), mma)
        lanes = tiled.get_slice(thread)
        for turn in fx.range_constexpr(2):
            held = mma.make_fragment_A(tile)
            if fx.const_expr(turn == 0):
                fx.copy(tiled, lanes.partition_S(tile), lanes.retile(held))
            else:
                fx.copy(mma.get_slice(thread).partition_A(tile), held)
            values = held.load()
            for i in fx.range_constexpr(values.numel):
                out[turn, i, thread] = values[i]

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=1, block=out.shape[2])

    return launch


def half_of_gfx950(dtype: Any) -> Any:
    return cdna4.MFMA(16, 16, 32, dtype)


def half_of_gfx1250(dtype: Any) -> Any:
    return cdna5.WMMA(16, 16, 32, dtype)


def byte_of_gfx1250(dtype: Any) -> Any:
    return cdna5.WMMA(16, 16, 64, dtype)


CASES = {
    "gfx950, 16 bits": ("gfx950", fx.Float16, 0, half_of_gfx950, cdna4.LDSReadTrans(16, 64), 256),
    "gfx950, padded": ("gfx950", fx.BFloat16, 4, half_of_gfx950, cdna4.LDSReadTrans(16, 64), 256),
    "gfx1250, 16 bits": ("gfx1250", fx.Float16, 0, half_of_gfx1250, cdna5.LDSReadTrans(16, 128), 128),
    "gfx1250, padded": ("gfx1250", fx.BFloat16, 8, half_of_gfx1250, cdna5.LDSReadTrans(16, 128), 128),
    "gfx1250, 8 bits": ("gfx1250", fx.Float8E4M3FN, 16, byte_of_gfx1250, cdna5.LDSReadTrans(8, 64), 128),
}


@pytest.mark.parametrize("case", CASES)
def test_transposing_reads_give_fragments(case: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    arch, dtype, pad, make_atom, read, threads = CASES[case]
    monkeypatch.setenv("ARCH", arch)
    kind = {fx.Float16: np.float16, fx.BFloat16: ml_dtypes.bfloat16, fx.Float8E4M3FN: ml_dtypes.float8_e4m3fn}[dtype]
    bits = np.int16 if dtype.width == 16 else np.int8
    x = rng.permutation(M * K).astype(bits).reshape(M, K).view(kind)
    out = np.zeros((2, M * K // threads, threads), kind)
    transposing(dtype, pad, make_atom, read)(x, out)
    assert (np.sort(out[1].view(bits), axis=None) == np.sort(x.view(bits), axis=None)).all()
    np.testing.assert_array_equal(out[0].view(bits), out[1].view(bits))


@pytest.mark.parametrize(("arch", "bits"), [("gfx942", 32), ("gfx950", 128), ("gfx950", 32)])
def test_a_tiled_copy_into_lds(arch: str, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wave's lanes land side by side, so values of a thread are neighbours and threads follow each other."""
    monkeypatch.setenv("ARCH", arch)
    values = bits // 16

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        space = fx.SharedAllocator().allocate(fx.Array[fx.Float16, M * K, 1024]).ptr
        tile = fx.make_view(space, fx.make_layout((M, K), (K, 1)))
        atom = fx.make_copy_atom(cdna3.BufferCopyLDS(bits), fx.Float16)
        threads = fx.make_layout((256 * values // K, K // values), (K // values, 1))
        tiled = fx.make_tiled_copy_tv(atom, threads, fx.make_layout((1, values), (values, 1)))
        mine = tiled.get_slice(thread)
        fx.copy(tiled, mine.partition_S(fx.rocdl.make_buffer_tensor(x)), mine.partition_D(tile))
        fx.rocdl.s_waitcnt(0)
        fx.barrier()
        rows = fx.make_view(space + thread * 16, fx.make_layout(16, 1))
        fx.copy(rows, fx.make_view(fx.get_iter(out) + thread * 16, fx.make_layout(16, 1)))

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=1, block=256)

    x = np.random.default_rng(8).standard_normal((M, K)).astype(np.float16)
    out = np.zeros_like(x)
    launch(flyc.from_dlpack(x), out)
    np.testing.assert_array_equal(out, x)
