"""Matrix products of 8- and 4-bit floats on gfx1250, with scales of groups, of blocks, or of rows and columns.

gemm = compile_mxfp4_gemm(K=7168, tile_m=128, tile_n=128, tile_k=256)
gemm(C, A, preshuffle_b_16x16(B, N, K // 2), scale_a, scale_b, M, N, lda, ldc, stream)

C[m, n] = sum over k of A[m, k] * B[n, k], each scaled. A is [M, K] in bytes (two fp4 a byte, the even one low) with
rows ``lda`` bytes apart, B [N, K] in blocks of 16 rows by 16 bytes, C has rows ``ldc`` elements apart. M is any, N a
multiple of 16. "mxscale" takes E8M0 bytes for every 32 elements of K in the order of `preshuffle_e8m0_scale`, "ptpc" an
f32 for every row of A and every row of B.

Tiles of A, B and the scales come into LDS by the tensor data mover (`gfx1250_tiles`). The instruction, 16 x 16 x 128,
gets B first: a lane ends with eight neighbouring columns of C. A lane of a row takes every second 16-byte piece of it,
the other half of the wave the pieces between, which reads of LDS follow without a conflict.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import buffer_ops, rocdl
from flydsl.kernels.blocks.inputs import require_pitch, require_room, require_type, require_whole
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import hint_waves, refuse, require, require_multiple, require_target
from flydsl.kernels.gemm.wmma.gfx1250_plan import ACCESS_BYTES, BLOCK, LANES, SCALE_BLOCK, SCALE_GROUP, TilePlan
from flydsl.kernels.gemm.wmma.gfx1250_tiles import SharedStream, Stream, Tiles, multiply_all, store
from flydsl.kernels.gemm.wmma.wmma_result import OfColumns
from flydsl.kernels.quant.shuffles import preshuffle_b_16x16, preshuffle_e8m0_scale, scale_32x4

DATA_FORMATS = {"fp4": ("fp4", "fp4"), "fp8": ("fp8", "fp8"), "a8w4": ("fp8", "fp4")}
"""Name to the elements of A and of B."""
UNIT_SCALES = 0x7F7F7F7F
"""Four scales of 1 in E8M0."""
EVERY_BYTE = 0x01010101
Words = list[tuple[Any, int]]
"""For each repetition of the instruction the register with a row's scales, and the half of the wave that has it."""
NOT_OFFERED: dict[str, tuple[Any, str]] = {
    "inst_prefetch": (False, "the loop is straight code, which the hardware's own prefetch follows"),
    "atomic_barrier_enable": (False, "waves meet at split barriers, and tiles are counted by tensorcnt"),
    "b_streaming": (False, "tiles of B pass through the ring in LDS, as those of A do"),
}
"""Option to its one value, and why."""


class GroupScales:
    """Scales of one operand for every 32 elements of K, on their way through LDS."""

    def __init__(
        self,
        plan: TilePlan,
        scales: fx.Tensor,
        rows: int,
        warps: int,
        first: fx.Int32,
        inside: fx.Int32,
        mask: fx.Int32 | int,
    ) -> None:
        """``rows`` of a tile, shared by ``warps`` waves, begin at row ``first``, and ``inside`` of them are there."""
        self.plan, self.warps, self.reps = plan, warps, rows // (warps * BLOCK)
        start, groups = fx.recast_iter(fx.Int8, fx.get_iter(scales)), plan.k // SCALE_GROUP
        shared = 1
        if plan.scales == "warp":
            width = plan.scale_bytes(rows, warps)
            tile, stride, step, gap = (warps * BLOCK, width), groups * self.reps, width, plan.scale_gap(rows, warps)
            shared = plan.rows_to_a_gap(warps * BLOCK, width) if gap else 1
            at = first // self.reps  # rows here are those of one instruction, each with the words of all repetitions
            there = (inside + (BLOCK * self.reps - 1)) // (BLOCK * self.reps) * BLOCK
        else:
            tile, stride, step, gap = (rows // 32, plan.steps * 128), groups * 32, plan.steps * 128, 0
            at, there = first // 32, (inside + 31) // 32
        # With the places of A and B, those of scales would take more scalar registers than there are.
        self.stream = Stream(start + fx.Int64(at) * stride, tile, stride, step, inside=(there, None), gap=gap,
                             shared=shared, mask=mask, by_atom=True)  # fmt: skip

    def find(self, lane: fx.Int32, wave: fx.Int32, blocks: int = 1) -> None:
        """This lane's words in LDS: one for every instruction, or for two of them.

        Of two ``blocks`` of rows, or of two instructions, either half of the wave has its own.
        """
        plan, words = self.plan, fx.recast_iter(fx.Int32, self.stream.ring)
        row, size, pairs = self.stream.offset(1) // 4, self.stream.size // 4, self.reps // 2
        self.blocks, self.paired = blocks, blocks == 2 or (plan.opsel if plan.scales == "warp" else self.reps % 2 == 0)
        if plan.scales == "32x4" and not self.paired:  # a wave may begin in the middle of 32 rows
            shape, stride = ((32, self.stream.tile[0]), plan.steps, plan.stages), ((1, row), 32, size)
            rows = fx.make_layout(((BLOCK, 2), self.reps, self.warps), ((1, 0), BLOCK, BLOCK * self.reps))
            tile = fx.make_view(words, fx.make_layout(shape, stride))
            self.words = [tile[fx.get_scalar(rows(lane, rep, wave)), None, None] for rep in range(self.reps)]
            return
        if plan.scales == "32x4":
            waves, lanes, of_lane, step = pairs * row, (LANES, 1), (pairs, row), LANES
        else:  # of a row's words either half of the wave has half of them, or both have all
            rows, apart = self.stream.rows(BLOCK)
            lanes = (rows, 2), (tuple(bytes_of // 4 for bytes_of in apart), pairs if self.paired else 0)
            waves, of_lane, step = self.stream.offset(BLOCK) // 4, (pairs if self.paired else self.reps, 1), self.reps
        shape, stride = zip(lanes, of_lane, (plan.steps, step), (plan.stages, size), (self.warps, waves), strict=True)
        self.words = fx.make_view(words, fx.make_layout(shape, stride))[lane, None, None, None, wave]

    def read(self, stage: int, step: int) -> Words:
        """For every instruction the word with a row's four scales, and the half of the wave that has it."""
        if isinstance(self.words, list):
            return [(words[step, stage], 0) for words in self.words]
        words = self.words[None, step, stage].load()
        if self.paired and self.blocks == 1:
            if self.plan.scales == "32x4":
                return [(words[rep // 2], rep % 2) for rep in range(self.reps)]
            return [(word, half) for half in range(2) for word in words]
        return [(words[i], 0) for i in range(words.numel)]


class Operands(NamedTuple):
    """What a product reads, and its sizes."""

    A: fx.Tensor
    B: fx.Tensor
    scales: tuple[Any, Any]
    m: fx.Int32
    n: int
    lda: int
    """Bytes from a row of A to the next."""
    ascale: int = 0
    """Bytes from the scales of a block of K to those of the next, in A's scales of blocks."""


class NarrowTiles(Tiles):
    """Tiles of 8- and 4-bit floats."""

    def __init__(self, plan: TilePlan, given: Operands) -> None:
        A, B, scales, m, n, lda, ascale = given
        super().__init__(plan, m, n)
        a, b = (fx.recast_iter(fx.Int8, fx.get_iter(tensor)) for tensor in (A, B))
        deep = plan.k // plan.b.depth * plan.b.step_bytes * BLOCK  # bytes of a block of 16 rows of B
        row_bytes, b_bytes = plan.row_bytes, plan.b_row_bytes * BLOCK
        self.a = Stream(a + fx.Int64(self.first_m) * lda, (plan.tile_m, row_bytes), lda, row_bytes,
                        inside=(self.rows_inside, None), gap=ACCESS_BYTES,
                        shared=plan.rows_to_a_gap(plan.tile_m, row_bytes), mask=self.masks[0])  # fmt: skip
        self.b = Stream(b + fx.Int64(self.first_n // BLOCK) * deep, (plan.tile_n // BLOCK, b_bytes), deep, b_bytes,
                        inside=(self.columns_inside // BLOCK, None), mask=self.masks[1])  # fmt: skip
        self.scales, self.ascale = scales, ascale
        streams = [self.a, self.b]
        if plan.scaled_by_groups:
            self.of_rows = GroupScales(
                plan, scales[0], plan.tile_m, plan.m_warp, self.first_m, self.rows_inside, self.masks[0]
            )
            self.of_columns = GroupScales(
                plan, scales[1], plan.tile_n, plan.n_warp, self.first_n, self.columns_inside, self.masks[1]
            )
            streams += [self.of_rows.stream, self.of_columns.stream]
        self.place(*streams)
        if plan.scales_together:
            self.streams[2:] = [SharedStream(*streams[2:], self.wave, plan)]
        if plan.scaled_by_groups:
            self.of_rows.find(self.lane, self.wave_row)
            self.of_columns.find(self.lane, self.wave_column, plan.blocks)
        self.a_pieces = self.rows_of(self.a, self.wave_row, plan.m_warp, plan.m_reps)
        self.b_pieces = self.blocks_of(self.b, plan.n_reps)

    def blocks_of(self, stream: Stream, reps: int) -> Any:
        """Return this lane's pieces of the wave's ``reps`` blocks of 16 columns, which lie in blocks of 16 by 16
        bytes."""
        plan, row, deep = self.plan, stream.tile[1], self.plan.b.step_bytes
        shape = (BLOCK, (ACCESS_BYTES, deep // ACCESS_BYTES), plan.blocks, reps // plan.blocks, plan.steps,
                 plan.n_warp)  # fmt: skip
        further = row * (1 if plan.block_step > 1 else plan.blocks)
        stride = (ACCESS_BYTES, (1, BLOCK * ACCESS_BYTES), plan.block_step * row, further, BLOCK * deep, reps * row)
        return self.pieces_of(stream.view(shape, stride, plan.stages), self.wave_column)

    def read_step(self, stage: int, step: int, held: Any) -> Any:
        plan = self.plan
        columns = [self.read(self.b_pieces[None, j, step, stage]) for j in range(plan.n_reps // plan.blocks)]
        rows = [self.read(self.a_pieces[None, i, step, stage]) for i in range(plan.m_reps)]
        return rows, columns, *self.scales_of(stage, step, held)

    def scales_of(self, stage: int, step: int, held: Any) -> tuple[Words, Words]:
        plan = self.plan
        if plan.scaled_by_groups:
            return self.of_rows.read(stage, step), self.of_columns.read(stage, step)
        unit = fx.Int32(UNIT_SCALES)
        return [(unit, 0)] * plan.m_reps, [(unit, 0)] * plan.n_reps

    def multiply_step(self, operands: Any, rows: range) -> None:
        plan = self.plan
        of_a, columns, of_rows, of_columns = operands
        of_a, columns = ([bits.bitcast(fx.Int32) for bits in operand] for operand in (of_a, columns))
        multiply, options = rocdl.wmma_scale_f32_32x16x128_f4, {}
        if plan.blocks == 1:
            multiply = rocdl.wmma_scale_f32_16x16x128_f8f6f4
            options = {"fmtA": plan.b.dtype, "fmtB": plan.a.dtype}
        for i in rows:
            for j, column in enumerate(columns):
                (scale_b, half_b), (scale_a, half_a) = of_rows[i], of_columns[j]
                total = self.totals[i][j]
                sums = total.load().reshape(8 * plan.blocks)
                found = multiply(
                    column, of_a[i], sums, scale_a, scale_b, scaleAType=half_a, scaleBType=half_b, **options
                )
                total.store(found)

    def scaled(self, bias: fx.Tensor) -> Any:
        """Return what the sums are multiplied with on their way out, as a function of eight of them, a row and a
        column."""
        if self.plan.scales != "rows":
            return lambda values, row, column: values
        of_bias = OfColumns(bias, self.n) if self.plan.biased else None
        of_rows = buffer_ops.create_buffer_resource(self.scales[0], max_size=False, num_records_bytes=4 * self.m)
        of_columns = OfColumns(self.scales[1], self.n)

        def finish(values: fx.Vector, row: fx.Int32, column: fx.Int32) -> Any:
            scale = of_columns[column] * buffer_ops.buffer_load(of_rows, row, vec_width=1, dtype=fx.Float32)
            return values * scale if of_bias is None else values * scale + of_bias[column]

        return finish


class BlockScaledTiles(NarrowTiles):
    """Tiles with a scale for every 128 elements of K, of each row of A and of 128 rows of B, fetched a tile ahead."""

    def __init__(self, plan: TilePlan, given: Operands) -> None:
        super().__init__(plan, given)
        depth = plan.k // SCALE_BLOCK
        sizes = ((depth - 1) * given.ascale + given.m, -(-self.n // SCALE_BLOCK) * depth)
        self.resources = [
            buffer_ops.create_buffer_resource(tensor, max_size=False, num_records_bytes=size)
            for tensor, size in zip(given.scales, sizes, strict=True)
        ]
        self.next_scales = fx.make_rmem_tensor(plan.steps * (plan.m_reps + plan.n_reps), fx.Int8)

    def load_scales(self, tile: fx.Int32 | int) -> None:
        """Fetch the bytes of a tile; those behind the last one are zero."""
        plan, (of_rows, of_columns) = self.plan, self.resources
        row = self.first_m + self.wave_row * plan.wave_m
        column = self.first_n + self.wave_column * plan.wave_n
        for step in range(plan.steps):
            block = (self.first_iteration + tile) * plan.steps + step
            places = [(of_rows, block * self.ascale + row + self.row_of(i)) for i in range(plan.m_reps)]
            places += [(of_columns, (column + j * BLOCK) // SCALE_BLOCK * (plan.k // SCALE_BLOCK) + block)
                       for j in range(plan.n_reps)]  # fmt: skip
            for number, (resource, place) in enumerate(places, step * len(places)):
                self.next_scales[number] = buffer_ops.buffer_load(resource, place, vec_width=1, dtype=fx.Int8)

    def start(self) -> None:
        self.load_scales(0)
        super().start()

    def begin_iteration(self, tile: fx.Int32 | int, left: int) -> Any:
        count = self.plan.steps * (self.plan.m_reps + self.plan.n_reps)
        words = [fx.Int32(fx.Uint32(self.next_scales[i].bitcast(fx.Uint8)) * EVERY_BYTE) for i in range(count)]
        if left >= 1:
            self.load_scales(tile + 1)
        return words

    def scales_of(self, stage: int, step: int, held: Any) -> tuple[Words, Words]:
        rows, columns = self.plan.m_reps, self.plan.n_reps
        words = [(word, 0) for word in held[step * (rows + columns) :][: rows + columns]]
        return words[:rows], words[rows:]


class StraightScaledTiles(NarrowTiles):
    """Tiles with a scale for every 32 elements of K that goes to registers past LDS, fetched a tile ahead."""

    def start(self) -> None:
        plan = self.plan
        self.sides = [
            self.side(scales, first, rows, wave, reps, there)
            for scales, first, rows, wave, reps, there in (
                (self.scales[0], self.first_m, plan.wave_m, self.wave_row, plan.m_reps, self.m),
                (self.scales[1], self.first_n, plan.wave_n, self.wave_column, plan.n_reps, self.n),
            )
        ]
        self.next_scales = [fx.make_rmem_tensor(plan.steps * reps, fx.Int32) for *_, reps in self.sides]
        self.load_scales(0)
        super().start()

    def side(
        self, scales: Any, first: fx.Int32, rows: int, wave: fx.Int32, reps: int, there: fx.Int32 | int
    ) -> tuple[Any, Any, int]:
        """Return the scales of one operand: their descriptor, the lane's first word, and the words of a step."""
        line = self.plan.k // (4 * SCALE_GROUP) * reps  # words of a lane's rows over all of K
        blocks = (fx.Int32(there) + (rows - 1)) // rows
        resource = buffer_ops.create_buffer_resource(
            scales, max_size=False, num_records_bytes=blocks * (BLOCK * line * 4)
        )
        return resource, ((first // rows + wave) * BLOCK + self.row_of(0)) * line, reps

    def load_scales(self, tile: fx.Int32 | int) -> None:
        """Fetch the words of a tile; those behind the last one are zero."""
        for (resource, start, reps), found in zip(self.sides, self.next_scales, strict=True):
            for word in range(self.plan.steps * reps):
                place = start + (self.first_iteration + tile) * (self.plan.steps * reps) + word
                found[word] = buffer_ops.buffer_load(resource, place, vec_width=1, dtype=fx.Int32)

    def begin_iteration(self, tile: fx.Int32 | int, left: int) -> Any:
        words = [[found[i] for i in range(self.plan.steps * side[2])]
                 for found, side in zip(self.next_scales, self.sides, strict=True)]  # fmt: skip
        if left >= 1:
            self.load_scales(tile + 1)
        return words

    def scales_of(self, stage: int, step: int, held: Any) -> tuple[Words, Words]:
        rows, columns = (words[step * side[2] :][: side[2]] for words, side in zip(held, self.sides, strict=True))
        if self.plan.blocks == 2:  # either half of the wave has the block of its columns
            upper = self.lane >= BLOCK
            columns = [upper.select(columns[j + 1], columns[j]) for j in range(0, len(columns), 2)]
        return [(word, 0) for word in rows], [(word, 0) for word in columns]


# The kernel ------------------------------------------------------------------------------------------


@kept
def kernel_of(plan: TilePlan) -> Any:
    """Return the kernel of a plan; sizes are part of its call."""
    kind = {"blocks": BlockScaledTiles, "straight": StraightScaledTiles}.get(plan.scales, NarrowTiles)

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def narrow_gemm_kernel(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, bias: fx.Tensor, m: fx.Int32,
        n: fx.Constexpr[int], lda: fx.Constexpr[int], ldc: fx.Constexpr[int], ascale: fx.Constexpr[int],
    ):  # fmt: skip
        tiles = kind(plan, Operands(A, B, (sa, sb), m, n, lda, ascale))
        multiply_all(tiles, plan)
        store(tiles, C, ldc, tiles.scaled(bias))

    return narrow_gemm_kernel


def launch(plan: TilePlan, tensors: tuple[Any, ...], sizes: tuple[Any, int, int, int, int], stream: fx.Stream) -> None:
    """Check the sizes of a call, and launch: x goes along M and y along N, in whole clusters."""
    (C, A, B, sa, sb, bias), (m, n, lda, ldc, ascale) = tensors, sizes
    require_target("this product of narrow floats", ("gfx1250",), "gfx950 has compile_preshuffle_gemm_w4")
    require_multiple("N", n, BLOCK)
    row = plan.k // plan.a.depth * plan.a.step_bytes
    for name, value, least in (("lda", lda, row), ("ldc", ldc, n)):
        if value < least or (name == "lda" and value % 4):
            raise ValueError(
                f"{name} is at least {least}" + " and a multiple of 4" * (name == "lda") + f", got {value}"
            )
    require_pitch(C, ldc, n)
    require_pitch(A, lda * 8 // A.dtype.width, row * 8 // A.dtype.width)
    require_whole(B, sb, *([] if ascale else [sa]), *([bias] if plan.biased else []))
    of_b = n * (plan.k // plan.b.depth * plan.b.step_bytes)
    if plan.scales == "rows":
        require_type((sa, sb), fx.Float32)
    require_room(
        ("C", C, fx.Int64(m) * n), ("A", A, fx.Int64(m) * row * 8 // A.dtype.width),
        ("B_shuffled", B, of_b * 8 // B.dtype.width),
        *([("scale_a", sa, m), ("scale_b", sb, n)] if plan.scales == "rows" else []),
    )  # fmt: skip
    plan.require_scales((sa, sb), (m, n), ascale)
    rows, columns = fx.ceildiv(m, plan.tile_m * plan.cluster_m), -(-n // (plan.tile_n * plan.cluster_n))
    kernel_of(plan)(*tensors, *sizes, value_attrs=plan.attributes).launch(
        grid=(rows * plan.cluster_m, columns * plan.cluster_n, plan.split_k), block=(plan.threads, 1, 1),
        cluster=(plan.cluster_m, plan.cluster_n, 1) if plan.clustered else None, stream=stream,
    )  # fmt: skip


@kept
def _launcher(plan: TilePlan, columns: int, waves_per_eu: int | None) -> Any:
    @flyc.jit
    def narrow_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, M: fx.Int32, N: fx.Constexpr[int],
        lda: fx.Constexpr[int], ldc: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        if columns and columns != N:
            raise ValueError(f"this kernel was compiled for N = {columns}, and is called with N = {N}")
        launch(plan, (C, A, B, sa, sb, sb), (M, N, lda, ldc, 0), stream)

    return hint_waves(narrow_gemm, waves_per_eu)


@kept
def biased_launcher(plan: TilePlan) -> Any:
    """``fn(C, A, B_shuffled, scale_a, scale_b, bias, M, N, stream)`` of contiguous arrays, with scales of rows."""

    @flyc.jit
    def narrow_linear(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, bias: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        row = plan.k // plan.a.depth * plan.a.step_bytes
        launch(plan, (C, A, B, sa, sb, bias), (M, N, row, N, 0), stream)

    return narrow_linear


def compile_fp8fp4_gemm(
    *, data_format: str = "fp4", scale_mode: str = "mxscale", N: int = 0, K: int, tile_m: int = 128, tile_n: int = 128,
    tile_k: int = 128, m_warp: int = 2, n_warp: int = 2, num_buffers: int = 2, waves_per_eu: int | None = None,
    l2_prefetch_distance: int = 0, cluster_m: int = 1, cluster_n: int = 1, use_tdm_store: bool = True,
    out_dtype: str = "f32", inst_prefetch: bool = False, wave_specialized_tdm: bool = False, split_k: int = 1,
    use_scale_opsel: bool | None = None, expert_sched_mode: bool = True, atomic_barrier_enable: bool = False,
    b_streaming: bool = False, scale_load_path: str = "tdm", fp8_schedule: str = "auto",
) -> Any:  # fmt: skip
    """Return the launcher ``gemm(C, A, B_shuffled, scale_a, scale_b, M, N, lda, ldc, stream)``; lda counts bytes.

    ``wave_specialized_tdm`` gives every matrix a wave that fetches it, ``split_k`` parts of K go to workgroups of their
    own, which add to a C of zeros. The caches are told of tiles ``l2_prefetch_distance`` ahead of those that are sent
    for. ``use_scale_opsel`` puts the scales of two blocks of rows into a register, by default where waves have such
    blocks; ``expert_sched_mode`` has LLVM wait for results where the hardware would. ``scale_load_path="vgpr"`` fetches
    scales of groups past LDS. What is not offered is refused (`NOT_OFFERED`).
    """
    require("data_format", data_format, DATA_FORMATS)
    require("scale_mode", scale_mode, ("mxscale", "ptpc"))
    given = {"inst_prefetch": inst_prefetch, "atomic_barrier_enable": atomic_barrier_enable,
             "b_streaming": b_streaming}  # fmt: skip
    for name, value in given.items():
        refuse(name, value, *NOT_OFFERED[name])
    require("fp8_schedule", fp8_schedule, ("auto", "deep-pipeline"))
    require("scale_load_path", scale_load_path, ("tdm", "vgpr"))
    if scale_mode == "ptpc" and data_format == "fp4":
        raise ValueError("scale_mode='ptpc' is for data_format 'fp8' and 'a8w4'; fp4 takes 'mxscale'")
    tile = (tile_m, tile_n, tile_k, m_warp, n_warp, num_buffers, out_dtype)
    if fp8_schedule == "deep-pipeline" and not (
        data_format == "fp8" and tile == (256, 256, 128, 2, 2, 4, "bf16") and wave_specialized_tdm
    ):
        raise ValueError(
            "fp8_schedule='deep-pipeline' is for fp8 in tiles of 256 x 256 x 128 by 2 x 2 specialised waves, four "
            "buffers and bf16; 'auto' goes with everything"
        )
    a, b = DATA_FORMATS[data_format]
    scales = "rows" if scale_mode == "ptpc" else "warp" if scale_load_path == "tdm" else "straight"
    if use_scale_opsel is None:
        pairs = (tile_m // max(m_warp, 1)) % (2 * BLOCK) == 0 == (tile_n // max(n_warp, 1)) % (2 * BLOCK)
        use_scale_opsel = scales == "warp" and pairs
    plan = TilePlan(K, a, b, out_dtype, tile_m, tile_n, tile_k, m_warp, n_warp, num_buffers, cluster_m, cluster_n,
                    split_k, scales, wave_specialized_tdm, use_tdm_store, l2_prefetch_distance, expert_sched_mode,
                    use_scale_opsel)  # fmt: skip
    return _launcher(plan, N, waves_per_eu)


def compile_mxscale_gemm(*, data_format: str = "fp4", **options: Any) -> Any:
    """`compile_fp8fp4_gemm` with a scale for every 32 elements of K."""
    return compile_fp8fp4_gemm(data_format=data_format, scale_mode="mxscale", **options)


def compile_mxfp4_gemm(**options: Any) -> Any:
    """`compile_mxscale_gemm` of fp4 by fp4."""
    return compile_mxscale_gemm(data_format="fp4", **options)


def compile_mxfp8_gemm(**options: Any) -> Any:
    """`compile_mxscale_gemm` of fp8 by fp8."""
    return compile_mxscale_gemm(data_format="fp8", **options)


def compile_a8w4_gemm(**options: Any) -> Any:
    """fp8 activations by fp4 weights."""
    return compile_mxscale_gemm(data_format="a8w4", **options)


def compile_ptpc_gemm(
    *, data_format: str = "fp8", num_buffers: int = 4, l2_prefetch_distance: int = 0, out_dtype: str = "bf16",
    **options: Any,
) -> Any:  # fmt: skip
    """Return a scale for every row of A and of B, behind the product."""
    return compile_fp8fp4_gemm(data_format=data_format, scale_mode="ptpc", num_buffers=num_buffers, out_dtype=out_dtype,
                               l2_prefetch_distance=l2_prefetch_distance, **options)  # fmt: skip


@flyc.jit
def launch_gemm_a8w8(
    C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, M: fx.Int32, stream: fx.Stream,
    N: fx.Constexpr[int], K: fx.Constexpr[int], stride_ascale_k: fx.Constexpr[int], lda: fx.Constexpr[int],
    ldc: fx.Constexpr[int], tile_m: fx.Constexpr[int], tile_n: fx.Constexpr[int], tile_k: fx.Constexpr[int],
    m_warp: fx.Constexpr[int], n_warp: fx.Constexpr[int], out_is_f16: fx.Constexpr[bool],
    num_buffers: fx.Constexpr[int], cluster_m: fx.Constexpr[int], cluster_n: fx.Constexpr[int],
    is_bsc: fx.Constexpr[bool],
):  # fmt: skip
    """fp8 by fp8: f32 scales of rows and columns, or with ``is_bsc`` E8M0 scales of blocks of 128.

    Block scales are sa[K / 128][M], ``stride_ascale_k`` bytes from one 128 of K to the next, and sb[N / 128][K / 128].
    """
    plan = TilePlan(K, "fp8", "fp8", "f16" if out_is_f16 else "bf16", tile_m, tile_n, tile_k, m_warp, n_warp,
                    num_buffers, cluster_m, cluster_n, scales="blocks" if is_bsc else "rows")  # fmt: skip
    launch(plan, (C, A, B, sa, sb, sb), (M, N, lda, ldc, stride_ascale_k), stream)


@flyc.jit
def launch_gemm_a8w4_mxscale(
    C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, M: fx.Int32, stream: fx.Stream,
    N: fx.Constexpr[int], K: fx.Constexpr[int], lda: fx.Constexpr[int], ldc: fx.Constexpr[int],
    tile_m: fx.Constexpr[int], tile_n: fx.Constexpr[int], tile_k: fx.Constexpr[int], m_warp: fx.Constexpr[int],
    n_warp: fx.Constexpr[int], out_is_f16: fx.Constexpr[bool], num_buffers: fx.Constexpr[int],
    cluster_m: fx.Constexpr[int], cluster_n: fx.Constexpr[int],
):  # fmt: skip
    """fp8 by fp4 with scales in the order of `scale_32x4`."""
    require_multiple("tile_m", tile_m, 32)
    require_multiple("tile_n", tile_n, 32)
    plan = TilePlan(K, "fp8", "fp4", "f16" if out_is_f16 else "bf16", tile_m, tile_n, tile_k, m_warp, n_warp,
                    num_buffers, cluster_m, cluster_n, scales="32x4")  # fmt: skip
    launch(plan, (C, A, B, sa, sb, sb), (M, N, lda, ldc, 0), stream)


__all__ = [
    "compile_a8w4_gemm", "compile_fp8fp4_gemm", "compile_mxfp4_gemm", "compile_mxfp8_gemm", "compile_mxscale_gemm",
    "compile_ptpc_gemm", "launch_gemm_a8w4_mxscale", "launch_gemm_a8w8", "preshuffle_b_16x16", "preshuffle_e8m0_scale",
    "scale_32x4",
]  # fmt: skip
