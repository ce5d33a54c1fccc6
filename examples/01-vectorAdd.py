"""Vector addition, twice: the plain form, and a 2-D form for shapes that no tile divides.

What is new here: a kernel, a jit function that launches it, `logical_divide` to cut tensors into
tiles, a copy atom to move them through registers, and coordinates to stay in bounds. On a GPU with
PyTorch the launch is also captured into a graph, which is replayed on other numbers.

Run it: python examples/01-vectorAdd.py
"""

from __future__ import annotations

import importlib.util

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 256
VALUES = 4
"""Elements a thread adds at once: one 128-bit access."""


@flyc.kernel
def add_tiles(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
    """Each block adds one tile of THREADS * VALUES elements; the sizes divide evenly."""
    tid, bid = fx.thread_idx.x, fx.block_idx.x
    block_tile = fx.make_layout(THREADS * VALUES, 1)
    thread_tile = fx.make_layout(VALUES, 1)

    # (tile, tiles) -> this block's tile -> (values, threads) -> this thread's values
    tA, tB, tC = (
        fx.logical_divide(fx.logical_divide(t, block_tile)[None, bid], thread_tile)[None, tid] for t in (A, B, C)
    )
    atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
    rA, rB, rC = (fx.make_fragment_like(t) for t in (tA, tB, tC))
    fx.copy_atom_call(atom, tA, rA)
    fx.copy_atom_call(atom, tB, rB)
    fx.memref_store_vec(fx.memref_load_vec(rA) + fx.memref_load_vec(rB), rC)
    fx.copy_atom_call(atom, rC, tC)


@flyc.jit
def vector_add(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32, stream: fx.Stream = fx.Stream(None)):
    add_tiles(A, B, C).launch(grid=(n // (THREADS * VALUES), 1, 1), block=(THREADS, 1, 1), stream=stream)


@flyc.kernel
def add_masked(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, tiled_copy: fx.TiledCopy):
    """Each block adds one tile of a matrix; elements outside the matrix are left alone."""
    tid = fx.thread_idx.x
    bx, by, _ = fx.block_idx
    tile = tiled_copy.tile_mn

    # A tensor of coordinates, cut exactly as the data is, tells each element where it stands.
    where = fx.make_identity_tensor(C.shape)
    gA, gB, gC, cC = (fx.zipped_divide(t, tile)[None, (bx, by)] for t in (A, B, C, where))
    thr = tiled_copy.get_slice(tid)
    tA, tB, tC, tW = thr.partition_S(gA), thr.partition_S(gB), thr.partition_D(gC), thr.partition_S(cC)

    rA, rB, rC = (fx.make_fragment_like(t) for t in (tA, tB, tC))
    inside = fx.make_fragment_like(tW, dtype=fx.Boolean)
    for i in fx.range_constexpr(fx.size(inside)):
        inside[i] = fx.elem_less(tW[i], C.shape)

    rA.fill(0)
    rB.fill(0)
    fx.copy(tiled_copy, tA, rA, pred=inside)
    fx.copy(tiled_copy, tB, rB, pred=inside)
    rC.store(rA.load() + rB.load())
    fx.copy(tiled_copy, rC, tC, pred=inside)


@flyc.jit
def matrix_add(
    A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, rows: fx.Int32, columns: fx.Int32, stream: fx.Stream = fx.Stream(None)
):
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    threads = fx.make_layout((8, 32), (32, 1))
    values = fx.make_layout((4, 1), (1, 0))
    tiled_copy = fx.make_tiled_copy_tv(atom, threads, values)
    tile_m, tile_n = tiled_copy.tile_mn.unpack()
    grid = (fx.ceildiv(rows, tile_m), fx.ceildiv(columns, tile_n), 1)
    add_masked(A, B, C, tiled_copy).launch(grid=grid, block=(256, 1, 1), stream=stream)


def check(name: str, got: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(got, expected)
    print(f"{name}: {got.shape} elements of {got.dtype} match NumPy")


def add_by_graph(n: int, replays: int = 3) -> None:
    """Capture one launch, then fill the same tensors with other numbers and replay it."""
    import torch

    a, b, c = (torch.zeros(n, device="cuda") for _ in range(3))
    vector_add(a, b, c, n)  # compiles: nothing may be compiled during a capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        vector_add(a, b, c, n, torch.cuda.current_stream())
    for _ in range(replays):
        a.copy_(torch.rand(n, device="cuda"))
        b.copy_(torch.rand(n, device="cuda"))
        c.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        check("replayed graph", c.cpu().numpy(), (a + b).cpu().numpy())


def has_torch_gpu() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()


def main() -> None:
    device = flyc.current_device()
    print(f"device: {device}, target: {device.target}")
    rng = np.random.default_rng()

    n = 1 << 20
    a, b = (rng.random(n, dtype=np.float32) for _ in range(2))
    c = np.full(n, np.nan, np.float32)
    with device.arrays(a, b, c) as (dA, dB, dC):
        vector_add(dA, dB, dC, n)
    check("vector_add", c, a + b)

    for shape in ((1, 7), (33, 1000), (129, 4097)):
        a, b = (rng.random(shape, dtype=np.float32) for _ in range(2))
        c = np.full(shape, np.nan, np.float32)
        with device.arrays(a, b, c) as (dA, dB, dC):
            matrix_add(dA, dB, dC, *shape)
        check("matrix_add", c, a + b)
    if device.kind != "host" and has_torch_gpu():
        add_by_graph(1 << 20)
    else:
        print("replayed graph: needs a GPU and PyTorch")
    print("PASS")


if __name__ == "__main__":
    main()
