"""AMD's ways into and out of LDS as atoms of tiled copies: transposing reads, copies that pass no registers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

cdna3, cdna4 = fx.rocdl.cdna3, fx.rocdl.cdna4
M, K = 64, 64


def transposing(dtype: Any, pad: int) -> Any:
    """A tile that is contiguous along M, read by transposing reads and by copies that choose themselves."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        thread = fx.thread_idx.x
        space = fx.SharedAllocator().allocate(fx.Array[dtype, (M + pad) * K, 1024]).ptr
        tile = fx.make_view(space, fx.make_layout((M, K), (1, M + pad)))
        for i in fx.range_constexpr(M * K // 256):
            at = thread + i * 256
            tile[at % M, at // M] = x[at % M, at // M]
        fx.barrier()
        atom = fx.make_mma_atom(cdna4.MFMA(16, 16, 32, dtype))
        mma = fx.make_tiled_mma(atom, fx.make_layout((4, 1, 1), (1, 4, 0)))
        tiled = fx.make_tiled_copy_A(fx.make_copy_atom(cdna4.LDSReadTrans(16, 64), dtype), mma)
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
        kernel(x, out).launch(grid=1, block=256)

    return launch


@pytest.mark.parametrize(("dtype", "pad"), [(fx.Float16, 0), (fx.BFloat16, 4)])
def test_transposing_reads_give_fragments(dtype: Any, pad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    kind = np.float16 if dtype is fx.Float16 else ml_dtypes.bfloat16
    x = np.random.default_rng(7).permutation(M * K).astype(np.int16).reshape(M, K).view(kind)
    out = np.zeros((2, M * K // 256, 256), kind)
    transposing(dtype, pad)(x, out)
    assert (np.unique(out[1].view(np.int16)) == np.arange(M * K)).all()
    np.testing.assert_array_equal(out[0].view(np.int16), out[1].view(np.int16))


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
