"""A matrix product whose loads run ahead: two tiles of shared memory in turn, one filled while the other is multiplied.

What is new here: shared memory with a swizzled layout, so that lanes that read a column meet different banks; a tiled
copy that moves a tile with all threads; and a software pipeline: the next tile travels from global memory to registers
while this one is multiplied, and one barrier a turn is enough because the tiles alternate.

Run it: python examples/06-pipelined_gemm.py          (ARCH=gfx950, gfx1201 or sm_90a for another target)
"""

from __future__ import annotations

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import nvvm, rocdl

TILE_M, TILE_N, TILE_K = 128, 128, 64
THREADS, STAGES = 256, 2
VALUES = 8
"""f16 elements of one 16-byte access."""


def tiled_product(generation: str) -> fx.TiledMma:
    """The target's f16 instruction with f32 accumulators, repeated over the waves of a block."""
    atoms = {
        "cdna5": lambda: rocdl.cdna5.WMMA(16, 16, 32, fx.Float16),
        "rdna3": lambda: rocdl.rdna3.WMMA(16, 16, 16, fx.Float16),
        "rdna4": lambda: rocdl.rdna4.WMMA(16, 16, 16, fx.Float16),
        "ampere": lambda: nvvm.MmaSync(16, 8, 16, fx.Float16, fx.Float32),
        "hopper": lambda: nvvm.MmaSync(16, 8, 16, fx.Float16, fx.Float32),
    }
    atom = fx.make_mma_atom(atoms.get(generation, lambda: rocdl.MFMA(16, 16, 16, fx.Float16))())
    waves = THREADS // fx.get_scalar(fx.size(atom.thr_layout))
    return fx.make_tiled_mma(atom, fx.make_layout((waves // 2, 2, 1), (2, 1, 0)))


def shared_tiles(allocator: fx.SharedAllocator, rows: int) -> fx.Tensor:
    """Tiles of (rows, TILE_K), one for each stage; the row's number exchanges the 16-byte pieces of a row."""
    storage = allocator.allocate(fx.Array[fx.Float16, rows * TILE_K * STAGES], 128).peek()
    layout = fx.make_layout((rows, TILE_K, STAGES), (TILE_K, 1, rows * TILE_K))
    swizzle = fx.static(fx.SwizzleType.get(3, 3, 3))
    return fx.make_view(storage.ptr, fx.make_composed_layout(swizzle, layout))


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def pipelined(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, generation: fx.Constexpr[str]):
    """One block computes one tile of C = A * B^T."""
    t, (bx, by, _) = fx.thread_idx.x, fx.block_idx
    gA = fx.zipped_divide(A, (TILE_M, TILE_K))[None, (bx, None)]
    gB = fx.zipped_divide(B, (TILE_N, TILE_K))[None, (by, None)]
    gC = fx.zipped_divide(C, (TILE_M, TILE_N))[None, (bx, by)]
    allocator = fx.SharedAllocator()
    sA, sB = shared_tiles(allocator, TILE_M), shared_tiles(allocator, TILE_N)

    # All threads move a tile: neighbours take neighbouring 16 bytes of a row.
    across = TILE_K // VALUES
    wide = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
    threads = fx.make_layout((THREADS // across, across), (across, 1))
    mover = fx.make_tiled_copy_tv(wide, threads, fx.make_layout((1, VALUES), (0, 1))).get_slice(t)
    fA, fB = (fx.make_fragment_like(mover.partition_S(tile[None, 0])) for tile in (gA, gB))

    tiled = tiled_product(generation)
    thread = tiled.get_slice(t)
    rA, rB = tiled.make_fragment_A(sA[None, None, 0]), tiled.make_fragment_B(sB[None, None, 0])
    accumulators = tiled.make_fragment_C(gC)
    accumulators.fill(0.0)
    pair = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float16)

    fx.copy(wide, mover.partition_S(gA[None, 0]), fA)
    fx.copy(wide, mover.partition_S(gB[None, 0]), fB)
    turns = A.shape[1] // TILE_K
    for i in range(turns):
        stage = i % STAGES
        fx.copy(wide, fA, mover.partition_D(sA[None, None, stage]))
        fx.copy(wide, fB, mover.partition_D(sB[None, None, stage]))
        if i + 1 < turns:  # on its way while the products below run
            fx.copy(wide, mover.partition_S(gA[None, i + 1]), fA)
            fx.copy(wide, mover.partition_S(gB[None, i + 1]), fB)
        fx.barrier()  # this stage is full, and everyone is done with the other
        fx.copy(pair, thread.partition_A(sA[None, None, stage]), rA)
        fx.copy(pair, thread.partition_B(sB[None, None, stage]), rB)
        fx.gemm(tiled, accumulators, rA, rB, accumulators)
    fx.copy(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32), accumulators, thread.partition_C(gC))


@flyc.jit
def matmul(
    A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, generation: fx.Constexpr[str], stream: fx.Stream = fx.Stream(None)
):
    grid = (C.shape[0] // TILE_M, C.shape[1] // TILE_N, 1)
    pipelined(A, B, C, generation).launch(grid=grid, block=(THREADS, 1, 1), stream=stream)


def main() -> None:
    device = flyc.current_device()
    print(f"device: {device}, target: {device.target}")
    rng = np.random.default_rng()
    m, n, k = 256, 128, 448
    a, b = (rng.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    with device.arrays(a, b, c) as (dA, dB, dC):
        matmul(dA, dB, dC, device.target.generation)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    error = np.abs(c - expected).max() / np.abs(expected).max()
    assert error < 1e-5, error
    print(f"{m} x {n} x {k}: relative error {error:.1e}")
    print("PASS")


if __name__ == "__main__":
    main()
