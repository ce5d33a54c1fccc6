"""A tiled matrix product: tiles in shared memory, outputs in registers, the target's matrix instruction.

gemm = build_tiled_gemm_module(N, K, "f16")
gemm(A, B, C, M, stream)

C = A * B^T + bias with sums in f32: A is [M, K], B is [N, K], both of the given type; C is [M, N] of f32, f16 or bf16,
and bias, which may be None, [N]. Elements of a row are neighbours; rows may lie further apart than they are long, and
anywhere in memory.
Any extents: what a tile has beyond the edge is zero while it is multiplied and is not stored.

Rows of a tile are 128 bytes of shared memory. Neighbouring rows would start in the same bank, so the
16-byte pieces of a row are exchanged by a swizzle that the number of the row decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import nvvm, rocdl
from flydsl.kernels.blocks.inputs import require_extents, require_numbers, require_type
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES

THREADS = 256
ROW_BYTES = 128
TILE_SIDES = (64, 128, 256)
"""What the waves of a block cover evenly with every instruction below."""


@dataclass(frozen=True)
class TilePlan:
    """The tile of a block and how wide one access to global memory may be (elements)."""

    n: int
    k: int
    dtype: str
    tile_m: int
    tile_n: int
    tile_k: int
    width: int

    @property
    def elem(self) -> Any:
        return DTYPES[self.dtype]

    @property
    def piece(self) -> int:
        """Elements of one 16-byte piece of shared memory."""
        return ACCESS_BYTES * 8 // self.elem.width

    @property
    def iterations(self) -> int:
        return -(-self.k // self.tile_k)


def plan_tiles(n: int, k: int, dtype: str, tile_m: int = 128, tile_n: int = 128) -> TilePlan:
    """Return the only place that decides tiles and widths."""
    if n < 1 or k < 1:
        raise ValueError(f"a product needs at least one column and one term, got N={n}, K={k}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
    if any(side not in TILE_SIDES for side in (tile_m, tile_n)):
        raise ValueError(f"the sides of a tile are one of {TILE_SIDES}, got {tile_m} x {tile_n}")
    width = ACCESS_BYTES * 8 // DTYPES[dtype].width
    while k % width:  # an access must not reach into the next row
        width //= 2
    return TilePlan(n, k, dtype, tile_m, tile_n, ROW_BYTES * 8 // DTYPES[dtype].width, width)


# The instruction -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instruction:
    """A matrix instruction with f32 accumulators, and how a lane's values of A and B lie along K.

    A lane holds ``run`` neighbours, ``lanes`` of them lie side by side. ``steps`` instructions are fed with one
    access to shared memory: the sum over K may be taken in any order, so a lane may as well multiply the
    neighbours of what it has, as long as A and B agree on it.
    """

    make: Callable[[], Any]
    run: int
    lanes: int = 1
    steps: int = 1


def _half(dtype: Any) -> tuple[Instruction, ...]:
    return (
        Instruction(lambda: rocdl.MFMA(16, 16, 32, dtype), run=8),
        Instruction(lambda: rocdl.MFMA(16, 16, 16, dtype), run=4, lanes=4, steps=2),
        Instruction(lambda: rocdl.WMMA(16, 16, 32, dtype), run=8),
        Instruction(lambda: rocdl.WMMA(16, 16, 16, dtype), run=8),
        Instruction(lambda: nvvm.MmaSync(16, 8, 16, dtype, fx.Float32), run=2),
    )


CANDIDATES: dict[str, tuple[Instruction, ...]] = {
    "f16": _half(fx.Float16),
    "bf16": _half(fx.BFloat16),
    "f32": (
        Instruction(lambda: rocdl.MFMA(16, 16, 4, fx.Float32), run=1, lanes=4, steps=4),
        Instruction(lambda: rocdl.WMMA(16, 16, 4, fx.Float32), run=2, lanes=2, steps=2),
        Instruction(lambda: fx.UniversalFMA(fx.Float32), run=1),
    ),
}
"""Best first."""


def choose_instruction(dtype: str) -> tuple[Instruction, Any]:
    """Return the first candidate that the target being compiled for has, repeated over the block's waves."""
    for candidate in CANDIDATES[dtype]:
        try:
            atom = fx.make_mma_atom(candidate.make())
        except ValueError:  # this target has no such instruction
            continue
        groups = THREADS // fx.get_scalar(fx.size(atom.thr_layout))
        columns = 1
        while columns * columns * 4 <= groups:
            columns *= 2
        return candidate, fx.make_tiled_mma(atom, fx.make_layout((groups // columns, columns, 1), (columns, 1, 0)))
    raise ValueError(f"no matrix instruction for {dtype}")


# The kernel ------------------------------------------------------------------------------------------


def shared_tile(allocator: Any, rows: int, plan: TilePlan, instruction: Instruction) -> tuple[Any, Any]:
    """Return a tile of shared memory, row-major with swizzled pieces: as it is written, and with K as it is
    multiplied."""
    storage = allocator.allocate(fx.Array[plan.elem, rows * plan.tile_k], ROW_BYTES)
    swizzle = fx.static(fx.SwizzleType.get(3, plan.piece.bit_length() - 1, 3))
    run, lanes, steps = instruction.run, instruction.lanes, instruction.steps
    together = run * lanes * steps
    written = fx.make_layout((rows, plan.tile_k), (plan.tile_k, 1))
    multiplied = fx.make_layout(
        (rows, ((run, lanes, steps), plan.tile_k // together)), (plan.tile_k, ((1, run * steps, run), together))
    )
    start = storage.peek().ptr
    return (
        fx.make_view(start, fx.make_composed_layout(swizzle, written)),
        fx.make_view(start, fx.make_composed_layout(swizzle, multiplied)),
    )


def one_access(part: Any, steps: int) -> Any:
    """Return the values of several steps, (values, rows, steps), as (values of one access, rows)."""
    if steps == 1:
        return part
    return fx.coalesce(fx.group(fx.select(part, [0, 2, 1]), 0, 2), (1, 1))


class SharedProduct:
    """What a thread multiplies of two tiles in shared memory, as `shared_tile` gives them."""

    def __init__(self, plan: TilePlan, instruction: Instruction, tiled: Any, mA: Any, mB: Any) -> None:
        self.plan, self.tiled, self.steps = plan, tiled, instruction.steps
        thread = tiled.get_slice(fx.thread_idx.x)
        self.parts = thread.partition_A(mA), thread.partition_B(mB)
        first = (None, None, 0 if self.steps == 1 else (None, 0))
        self.fragments = [fx.make_fragment_like(part[first]) for part in self.parts]
        self.access = fx.make_copy_atom(fx.UniversalCopy(instruction.run * self.steps * plan.elem.width), plan.elem)

    @flyc.jit
    def add_to(self, accumulators: Any) -> None:
        """Add the product of the tiles."""
        steps, (_, _, depth) = self.steps, self.tiled.tile_size_mnk.unpack()
        for j in range(self.plan.tile_k // (depth * steps)):
            at = (None, None, j if steps == 1 else (None, j))
            for part, fragment in zip(self.parts, self.fragments):
                fx.copy(self.access, one_access(part[at], steps), one_access(fragment, steps))
            fx.gemm(self.tiled, accumulators, *self.fragments, accumulators)


def tile_copy(plan: TilePlan) -> Any:
    """Neighbouring threads take neighbouring accesses of a row of the tile."""
    atom = fx.make_copy_atom(fx.UniversalCopy(plan.width * plan.elem.width), plan.elem)
    across = plan.tile_k // plan.width
    threads = fx.make_layout((THREADS // across, across), (across, 1))
    return fx.make_tiled_copy_tv(atom, threads, fx.make_layout((1, plan.width), (0, 1)))


def matrix(tensor: Any, rows: Any, columns: int, name: str) -> Any:
    """Return a row-major tensor whose columns are known while compiling."""
    down, across = (fx.get_scalar(fx.get_(tensor.stride, mode)) for mode in range(2))
    if columns > 1 and not (isinstance(across, int) and across == 1):
        raise ValueError(f"{name} must have contiguous rows, and its layout is {tensor.layout}")
    return fx.make_view(fx.get_iter(tensor), fx.make_layout((rows, columns), (down, 1)))


def is_aligned(source: Any, plan: TilePlan) -> Any:
    """Return whether accesses of ``plan.width`` elements start at multiples of their size in every row."""
    down = fx.Int32(fx.get_scalar(fx.get_(source.stride, 0)) % plan.width)
    address = fx.Uint64(fx.ptrtoint(fx.get_iter(source))) % (plan.width * plan.elem.width // 8)
    return (down == 0) & (fx.Int32(address) == 0)


@flyc.jit
def load_tile(copy: Any, source: Any, tile: Any, at: Any, aligned: Any) -> Any:
    """Return this thread's part of one tile of global memory, zero beyond the edges; element by element if not
    aligned."""
    part = copy.get_slice(fx.thread_idx.x)
    tS = part.partition_S(fx.zipped_divide(source, tile)[None, at])
    tC = part.partition_S(fx.zipped_divide(fx.make_identity_tensor(source.shape), tile)[None, at])
    fragment = fx.make_fragment_like(tS)
    width, rows, columns = (fx.get_scalar(fx.size(mode)) for mode in tS.shape)
    inside = fx.make_rmem_tensor((rows, columns), fx.Boolean)
    for i in fx.range_constexpr(rows):
        for j in fx.range_constexpr(columns):
            inside[i, j] = fx.elem_less(tC[0, i, j], source.shape)
    fragment.fill(0.0)
    if aligned:
        fx.copy(copy, tS, fragment, pred=inside)
    else:
        for i in fx.range_constexpr(rows):
            for j in fx.range_constexpr(columns):
                if inside[i, j]:
                    for v in fx.range_constexpr(width):
                        fragment[v, i, j] = tS[v, i, j]
    return fragment


def store_result(accumulators: Any, tiled: Any, C: Any, bias: Any, tile: Any, at: Any) -> None:
    """Sums, and a number a column where there is a bias, to the part of a tile that lies inside of C."""
    where = tiled.get_slice(fx.thread_idx.x).partition_C(
        fx.zipped_divide(fx.make_identity_tensor(C.shape), tile)[None, at]
    )
    finish = fx.epilogue.Store(C)
    if bias is not None:
        finish = fx.epilogue.Bias(bias) >> finish
    finish(accumulators.load(), where, C.shape)


@flyc.jit
def multiply_tiles(A: Any, B: Any, C: Any, bias: Any, m: Any, plan: TilePlan) -> None:
    """One block: the tile of C at (block y, block x)."""
    column, row, _ = fx.block_idx
    gA, gB, gC = matrix(A, m, plan.k, "A"), matrix(B, plan.n, plan.k, "B"), matrix(C, m, plan.n, "C")
    aligned = is_aligned(gA, plan) & is_aligned(gB, plan)
    instruction, tiled = choose_instruction(plan.dtype)
    allocator = fx.SharedAllocator()
    (sA, mA), (sB, mB) = (shared_tile(allocator, rows, plan, instruction) for rows in (plan.tile_m, plan.tile_n))
    copy = tile_copy(plan)
    mine = copy.get_slice(fx.thread_idx.x)

    accumulators = tiled.make_fragment_C(fx.zipped_divide(gC, (plan.tile_m, plan.tile_n))[None, (0, 0)])
    accumulators.fill(0.0)
    product = SharedProduct(plan, instruction, tiled, mA, mB)

    for i in range(plan.iterations):
        fA = load_tile(copy, gA, (plan.tile_m, plan.tile_k), (row, i), aligned)
        fB = load_tile(copy, gB, (plan.tile_n, plan.tile_k), (column, i), aligned)
        fx.barrier()  # everyone has read the tiles of the iteration before
        fx.copy(copy, fA, mine.partition_D(sA))
        fx.copy(copy, fB, mine.partition_D(sB))
        fx.barrier()
        product.add_to(accumulators)
    store_result(accumulators, tiled, gC, bias, (plan.tile_m, plan.tile_n), (row, column))


@kept
def build_tiled_gemm_module(N: int, K: int, dtype: str, tile_m: int = 128, tile_n: int = 128) -> Any:
    """Return the launcher of C[M, N] = A[M, K] * B[N, K]^T; M may differ per call."""
    plan = plan_tiles(N, K, dtype, tile_m, tile_n)

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def tiled_gemm_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, bias: Any, m: fx.Int32):
        multiply_tiles(A, B, C, bias, m, plan)

    @flyc.jit
    def tiled_gemm(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, m: fx.Int32, stream: fx.Stream = None,
                   bias: fx.Tensor | None = None):  # fmt: skip
        require_type((A, B), plan.elem)
        for tensor, rows, columns in ((A, m, plan.k), (B, plan.n, plan.k), (C, m, plan.n)):
            require_extents((tensor,), rows, columns)
        require_numbers((bias,), plan.n)
        blocks = (-(-plan.n // plan.tile_n), fx.ceildiv(m, plan.tile_m), 1)
        tiled_gemm_kernel(A, B, C, bias, m).launch(grid=blocks, block=(THREADS, 1, 1), stream=stream)

    return tiled_gemm
