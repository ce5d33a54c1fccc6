"""A tiled matrix multiplication with the target's matrix instruction.

What is new here: a matrix atom (MFMA, WMMA or mma.sync, whichever the target has) repeated over threads
by `make_tiled_mma`; `make_fragment_A/B/C` give each thread registers for what the instruction wants of it;
`make_tiled_copy_A/B/C` make copies that bring exactly that, and `retile` shows them the registers in their own order;
`gemm` multiplies fragments; a run-time loop goes over K with the accumulators in registers.

Run it: python examples/03-tiledMma.py          (ARCH=gfx950, gfx1201 or sm_90a for another target)
"""

from __future__ import annotations

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import nvvm, rocdl


def matrix_instruction(generation: str):
    """A dense f16 instruction with f32 accumulators of each GPU generation."""
    if generation in ("ampere", "hopper"):
        return nvvm.MmaSync(16, 8, 16, fx.Float16, fx.Float32)
    if generation in ("rdna3", "rdna4"):
        return getattr(rocdl, generation).WMMA(16, 16, 16, fx.Float16)
    if generation == "cdna5":
        return rocdl.cdna5.WMMA(16, 16, 32, fx.Float16)
    return rocdl.MFMA(16, 16, 16, fx.Float16)


@flyc.kernel
def multiply(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, k: fx.Int32, tiled: fx.TiledMma):
    """One block computes one tile of C = A * B^T."""
    tile_m, tile_n, tile_k = tiled.tile_size_mnk.unpack()
    bx, by, _ = fx.block_idx
    gA = fx.zipped_divide(A, (tile_m, tile_k))[None, (bx, None)]
    gB = fx.zipped_divide(B, (tile_n, tile_k))[None, (by, None)]
    gC = fx.zipped_divide(C, (tile_m, tile_n))[None, (bx, by)]

    rA, rB = tiled.make_fragment_A(gA[None, 0]), tiled.make_fragment_B(gB[None, 0])
    accumulators = tiled.make_fragment_C(gC)
    accumulators.fill(0.0)

    tid = fx.thread_idx.x
    half = fx.make_copy_atom(fx.UniversalCopy16b(), fx.Float16)
    word = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    copy_a = fx.make_tiled_copy_A(half, tiled).get_slice(tid)
    copy_b = fx.make_tiled_copy_B(half, tiled).get_slice(tid)
    copy_c = fx.make_tiled_copy_C(word, tiled).get_slice(tid)
    into_a, into_b = copy_a.retile(rA), copy_b.retile(rB)
    for i in range(k // tile_k):
        fx.copy(half, copy_a.partition_S(gA[None, i]), into_a)
        fx.copy(half, copy_b.partition_S(gB[None, i]), into_b)
        fx.gemm(tiled, accumulators, rA, rB, accumulators)
    fx.copy(word, copy_c.retile(accumulators), copy_c.partition_D(gC))


@flyc.jit
def matmul(
    A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, m: fx.Int32, n: fx.Int32, k: fx.Int32,
    generation: fx.Constexpr[str], stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    atom = fx.make_mma_atom(matrix_instruction(generation))
    tiled = fx.make_tiled_mma(atom, fx.make_layout((2, 2, 1), (1, 2, 0)))
    tile_m, tile_n, _ = tiled.tile_size_mnk.unpack()
    threads = fx.get_scalar(fx.size(tiled.thr_layout_vmnk))
    multiply(A, B, C, k, tiled).launch(grid=(m // tile_m, n // tile_n, 1), block=(threads, 1, 1), stream=stream)


def main() -> None:
    device = flyc.current_device()
    print(f"device: {device}, target: {device.target}")
    instruction = matrix_instruction(device.target.generation)
    print(f"instruction: {instruction}")

    m, n, k = 128, 64, 256
    rng = np.random.default_rng()
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((n, k)).astype(np.float16)
    c = np.full((m, n), np.nan, np.float32)
    with device.arrays(a, b, c) as (dA, dB, dC):
        matmul(dA, dB, dC, m, n, k, device.target.generation)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    error = np.abs(c - expected).max() / np.abs(expected).max()
    assert error < 1e-5, error
    print(f"{m} x {n} x {k}: relative error {error:.1e}")
    print("PASS")


if __name__ == "__main__":
    main()
