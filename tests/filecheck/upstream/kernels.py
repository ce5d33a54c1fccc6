"""Kernels that between them use most of what the front end can emit; each function compiles and runs one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import ml_dtypes
import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.norm.softmax import build_softmax_module


def vector_add() -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        tid, bid = fx.thread_idx.x, fx.block_idx.x
        parts = [
            fx.logical_divide(fx.logical_divide(t, fx.make_layout(256, 1))[None, bid], fx.make_layout(4, 1))
            for t in (A, B, C)
        ]
        a, b, c = (part[None, tid] for part in parts)
        c.store(a.load() + b.load())

    @flyc.jit
    def add(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32):
        kernel(A, B, C).launch(grid=((n + 255) // 256, 1, 1), block=(64, 1, 1))

    a, b = np.arange(1024, dtype=np.float32), np.ones(1024, np.float32)
    c = np.zeros_like(a)
    add(a, b, c, 1024)
    np.testing.assert_array_equal(c, a + b)


def predicated_tiles() -> None:
    """A tiled copy with bounds from a coordinate tensor."""

    @flyc.kernel
    def kernel(src: fx.Tensor, dst: fx.Tensor, m: fx.Int32, n: fx.Int32, tiled: fx.TiledCopy):
        bx, by, _ = fx.block_idx
        thread = tiled.get_slice(fx.thread_idx.x)
        gS, gD = (fx.zipped_divide(t, tiled.tile_mn)[None, (bx, by)] for t in (src, dst))
        where = fx.zipped_divide(fx.make_identity_tensor((m, n)), tiled.tile_mn)[None, (bx, by)]
        tS, tD, tW = thread.partition_S(gS), thread.partition_D(gD), thread.partition_S(where)
        fragment = fx.make_fragment_like(tS)
        pred = fx.make_rmem_tensor(fx.make_layout((1, 1), (0, 0)), fx.Boolean)
        pred[0, 0] = fx.elem_less(tW[0, 0, 0], (m, n))
        fx.copy(tiled, tS, fragment, pred=pred)
        fx.copy(tiled, fragment, tD, pred=pred)

    @flyc.jit
    def copy(src: fx.Tensor, dst: fx.Tensor, m: fx.Int32, n: fx.Int32):
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        tiled = fx.make_tiled_copy_tv(atom, fx.make_layout((8, 8), (8, 1)), fx.make_layout((1, 1), (0, 0)))
        kernel(src, dst, m, n, tiled).launch(grid=((m + 7) // 8, (n + 7) // 8, 1), block=(64, 1, 1))

    src = np.arange(13 * 21, dtype=np.float32).reshape(13, 21)
    dst = np.zeros_like(src)
    copy(src, dst, 13, 21)
    np.testing.assert_array_equal(dst, src)


def fragments_gemm() -> None:
    """Register fragments, a loop over K, and the multiply and add that every target has."""

    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, mma: fx.TiledMma):
        thread = mma.get_slice(fx.thread_idx.x)
        A, B, C = (fx.make_view(fx.get_iter(t), fx.make_layout((8, n), (n, 1))) for t, n in ((A, 4), (B, 4), (C, 8)))
        tA, tB, tC = thread.partition_A(A), thread.partition_B(B), thread.partition_C(C)
        acc = mma.make_fragment_C(C)
        acc.fill(0.0)
        for k in range(fx.Int32(4)):
            a = fx.make_fragment_like(tA[None, None, 0], fx.Float16)
            b = fx.make_fragment_like(tB[None, None, 0], fx.Float16)
            a.store(tA[None, None, k].load())
            b.store(tB[None, None, k].load())
            fx.gemm(mma, acc, a, b, acc)
        tC.store(acc.load())

    @flyc.jit
    def gemm(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        atom = fx.make_mma_atom(fx.UniversalFMA(fx.Float16))
        mma = fx.make_tiled_mma(atom, fx.make_layout((4, 4, 1), (1, 4, 0)))
        kernel(A, B, C, mma).launch(grid=(1, 1, 1), block=(16, 1, 1))

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 4, (8, 4)).astype(np.float16) for _ in range(2))
    c = np.zeros((8, 8), np.float16)
    gemm(a, b, c)
    np.testing.assert_array_equal(c, a @ b.T)


def control_flow() -> None:
    """if, for and while over registers and scalars."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        tid = fx.thread_idx.x
        n = x[tid]
        acc = fx.make_rmem_tensor(2, fx.Int32)
        acc.fill(0)
        for i in range(n):
            if i % 2 == 0:
                acc[0] = acc[0] + i
            else:
                acc[1] = acc[1] - i
        left = n
        steps = fx.Int32(0)
        while left > 1:
            left = left // 2
            steps = steps + 1
        out[tid] = acc[0] * 100 + acc[1] + steps

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=(1, 1, 1), block=(16, 1, 1))

    x = np.arange(16, dtype=np.int32)
    out = np.zeros(16, np.int32)
    launch(x, out)
    expected = [sum(range(0, n, 2)) * 100 - sum(range(1, n, 2)) + max(int(n).bit_length() - 1, 0) for n in x]
    np.testing.assert_array_equal(out, expected)


def number_types() -> None:
    """Casts between narrow floats, integers and bools, comparisons and choices, on vectors."""

    @flyc.kernel
    def kernel(f8: fx.Tensor, b16: fx.Tensor, u8: fx.Tensor, out: fx.Tensor):
        tid = fx.thread_idx.x
        a, b, u, o = (fx.logical_divide(t, fx.make_layout(4, 1))[None, tid] for t in (f8, b16, u8, out))
        x = a.load().to(fx.Float32) + b.load().to(fx.Float32)
        y = u.load().to(fx.Uint8).to(fx.Float32)
        chosen = (x > y).select(x, y)
        o.store((chosen * 2.0).to(fx.Int32).to(fx.Float32))

    @flyc.jit
    def launch(f8: fx.Tensor, b16: fx.Tensor, u8: fx.Tensor, out: fx.Tensor):
        kernel(f8, b16, u8, out).launch(grid=(1, 1, 1), block=(8, 1, 1))

    f8 = np.arange(32).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    b16 = (np.arange(32) / 2).astype(ml_dtypes.bfloat16)
    u8 = np.arange(200, 232).astype(np.uint8)
    out = np.zeros(32, np.float32)
    launch(f8, b16, u8, out)
    wide = np.maximum(f8.astype(np.float32) + b16.astype(np.float32), u8.astype(np.float32))
    np.testing.assert_array_equal(out, np.trunc(wide * 2))


def shared_swizzle() -> None:
    """Shared memory through a swizzled layout, with a barrier between writing and reading."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        tid = fx.thread_idx.x
        swizzle = fx.make_composed_layout(fx.make_swizzle(2, 2, 3), fx.make_layout((8, (4, 8)), (32, (1, 4))))
        tile = fx.make_view(fx.get_dyn_shared(fx.Float32), swizzle)
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        gX = fx.logical_divide(x, fx.make_layout(4, 1))
        gO = fx.logical_divide(out, fx.make_layout(4, 1))
        r = fx.make_rmem_tensor(4, fx.Float32)
        fx.copy_atom_call(atom, gX[None, tid], r)
        fx.copy(atom, r, tile[tid // 8, (None, tid % 8)])
        fx.gpu.barrier()
        fx.copy(atom, tile[tid % 8, (None, tid // 8)], r)
        fx.copy_atom_call(atom, r, gO[None, tid])

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=(1, 1, 1), block=(64, 1, 1), smem=1024)

    x = np.arange(256, dtype=np.float32)
    out = np.zeros_like(x)
    launch(x, out)
    np.testing.assert_array_equal(out.reshape(8, 8, 4), x.reshape(8, 8, 4).transpose(1, 0, 2))


def atomics() -> None:
    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        tid = fx.thread_idx.x
        r = fx.make_rmem_tensor(1, fx.Float32)
        r[0] = x[tid]
        atom = fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Float32, fx.SyncScope.Agent), fx.Float32)
        fx.copy(atom, r, fx.make_view(fx.get_iter(out), fx.make_layout(1, 0)))

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=(1, 1, 1), block=(64, 1, 1))

    x = np.ones(64, np.float32)
    out = np.zeros(1, np.float32)
    launch(x, out)
    assert out[0] == 64


def vector_math() -> None:
    """Mathematical functions, reductions, reshaping and bit casts of vectors; shuffles between threads; printing."""

    @flyc.kernel
    def kernel(x: fx.Tensor, out: fx.Tensor):
        tid = fx.thread_idx.x
        v = fx.logical_divide(x, fx.make_layout(8, 1))[None, tid].load()
        total = fx.math.exp2(fx.math.sqrt(v)).reduce("add") + v.reduce("max") + abs(v - 4.0).reduce("min")
        total = total + fx.gpu.shuffle_xor(total, 1, 32)
        bits = v.to(fx.Float16).bitcast(fx.Int16).to(fx.Int32).reduce("add")
        out[tid] = total + bits.to(fx.Float32) * 0.0
        if tid == 0:
            fx.printf("total {}", total)

    @flyc.jit
    def launch(x: fx.Tensor, out: fx.Tensor):
        kernel(x, out).launch(grid=(1, 1, 1), block=(4, 1, 1))

    x = np.arange(32, dtype=np.float32)
    out = np.zeros(4, np.float32)
    launch(x, out)
    rows = x.reshape(4, 8).astype(np.float64)
    own = np.exp2(np.sqrt(rows)).sum(1) + rows.max(1) + abs(rows - 4).min(1)
    np.testing.assert_allclose(out, own + own[[1, 0, 3, 2]], rtol=1e-5)


_WIDTHS = count(256, 64)


def softmax() -> None:
    """A production kernel: reductions over a block, shuffles, fast math."""
    # Another width every time: the builder keeps what it has compiled.
    x = np.random.default_rng(0).standard_normal((2, next(_WIDTHS))).astype(np.float32)
    out = np.zeros_like(x)
    build_softmax_module(*x.shape, "f32")(x, out, x.shape[0])
    np.testing.assert_allclose(out.sum(1), 1, rtol=1e-5)


KERNELS: dict[str, Callable[[], None]] = {
    f.__name__: f
    for f in (
        vector_add,
        predicated_tiles,
        fragments_gemm,
        control_flow,
        number_types,
        shared_swizzle,
        atomics,
        vector_math,
        softmax,
    )
}
