"""What the preshuffle GEMM decides on the host: the order of the weights, and a checked choice of tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS
from flydsl.kernels.blocks.limits import require, require_lds, require_multiple, require_target
from flydsl.kernels.gemm.lds_plan import Operand
from flydsl.kernels.gemm.matrix_cores import ACCESS_BYTES, ACCESS_LANES, BLOCK, ELEMENTS, FOUR_BIT_SIDE
from flydsl.kernels.gemm.result_tile import ResultTile

THREADS, WAVES = 256, 4
STEP_N = BLOCK * WAVES
"""Columns that a tile has a multiple of."""
SCALE_BLOCK = 128
"""Elements of K, and columns of B, that share a scale, where blocks have one."""
LINES_OF_COPY = 4
"""Of scale words, 256 bytes for all lanes, that a wave copies into LDS at once, 16 bytes a lane."""
CHIPLETS = 8
"""Of an MI300X or MI355X: the hardware deals blocks out to them in iteration."""
STORE_WIDTH, LANE_COLUMNS = 8, 4
"""Elements of C that a thread stores at once by way of LDS, and neighbours that a lane has of an instruction."""
LEAD = 1
"""Tiles of rows, beside the one at hand, whose products follow the last access of a chunk: time for it to arrive.
November 2026: one more takes 170 registers instead of 166 for 128 x 128 x 64 in f16, and a wave less fits on a SIMD."""

OUT_DTYPES: dict[str, Any] = {"fp16": fx.Float16, "bf16": fx.BFloat16}
EPILOGUES = (*ACTIVATIONS, "bias", *(f"bias_{name}" for name in ACTIVATIONS if name != "none"))


class WeightShapeError(AssertionError, ValueError):
    """A weight that is no whole blocks: FlyDSL asserts that it is, and others look for a value that does not fit."""


def shuffle_weight(
    weight: Any, layout: tuple[int, int] = (BLOCK, BLOCK), use_int4: bool = False, k_major: bool = False
) -> Any:
    """B[..., n, k] in the order of the kernel's loads: [N/16][K/Kp][16][Kp], where Kp elements fill 16 bytes.

    Takes an array of NumPy or a tensor of PyTorch and gives a new one of the same shape; a tensor is marked with
    ``is_shuffled``. ``use_int4`` counts elements as half bytes. With ``k_major`` blocks of 16 rows and four pieces of
    Kp, each as it is without, follow each other down a column: [K/(4 Kp)][N/16][4][16][Kp].
    """
    if tuple(layout) != (BLOCK, BLOCK):
        raise ValueError(f"weights are shuffled in blocks of (16, 16), got {layout}")
    shape = tuple(weight.shape)
    if len(shape) < 2 or shape[-2] % BLOCK or shape[-1] % 32:
        raise WeightShapeError(f"a weight has rows in blocks of 16 and columns in blocks of 32; its shape is {shape}")
    piece = 2 * ACCESS_BYTES if use_int4 else ACCESS_BYTES // weight.itemsize
    cut = weight.reshape(*shape[:-2], shape[-2] // BLOCK, BLOCK, shape[-1] // piece, piece).swapaxes(-3, -2)
    if k_major:
        across = ACCESS_LANES * piece
        if shape[-1] % across:
            raise WeightShapeError(f"by columns a weight has blocks of {across} of them; its shape is {shape}")
        blocks = (*shape[:-2], shape[-2] // BLOCK, shape[-1] // across, ACCESS_LANES * BLOCK * piece)
        cut = cut.reshape(blocks).swapaxes(-3, -2)
    found = cut.reshape(shape)
    if hasattr(found, "permute"):
        found.is_shuffled = True
    return found


@dataclass(frozen=True)
class GemmPlan:
    """Tiles and options of one kernel; the only place that decides sizes."""

    n: int
    k: int
    tile_m: int
    tile_n: int
    tile_k: int
    in_dtype: str
    out_dtype: str
    epilogue: str = "none"
    scheduled: bool = True
    lds_stages: int = 2
    preload: bool = True
    band: int = 0
    """Rows of tiles that the blocks of a chiplet work through together; 0 takes tiles as they come."""
    accesses: int = 1
    """16-byte accesses of a lane that feed one instruction; the target's instruction decides."""
    copied: bool = False
    """Whether A is copied into LDS without registers."""
    shuffled_store: bool = False
    """Whether C is stored in rows, by way of LDS."""
    halved: bool = False
    """Whether B has half as many bytes along K as A: floats of four bits beside wider ones."""
    ahead: tuple[int, int] = (0, 0)
    """Reads of LDS and loads of a chunk that come before its first product, where its accesses are scheduled."""
    scale_copies: int = 0
    """Copies of a wave into LDS that bring a tile's block scales with its tile of A."""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("in_dtype", self.in_dtype, ELEMENTS),
            ("out_dtype", self.out_dtype, OUT_DTYPES),
            ("epilogue", self.epilogue, EPILOGUES),
            ("lds_stage", self.lds_stages, (1, 2)),
        ):
            require(name, value, known)
        for name, value, step in self._multiples():
            require_multiple(name, value, step)
        pieces = self.row_bytes // ACCESS_BYTES
        if pieces & (pieces - 1) or pieces > THREADS:
            raise ValueError(
                f"tile_k = {self.tile_k} makes rows of {pieces} accesses of 16 bytes; "
                f"that must be a power of two, at most {THREADS}"
            )
        if self.shuffled_store:
            self._check_store()
        if self.band < 0:
            raise ValueError(
                f"xcd_swizzle is a number of rows of tiles that a chiplet works through together, or 0; got {self.band}"
            )
        if self.copied and (self.lds_stages != 2 or not self.preload):
            raise ValueError(
                "use_async_copy copies into the other tile of LDS ahead of time: give lds_stage=2 and preload=True, "
                "or leave it out"
            )
        if any(count < 0 for count in self.ahead) or (any(self.ahead) and not self.scheduled):
            raise ValueError(
                f"accesses ahead of a chunk's products are counts, and need enable_scheduler=True; got {self.ahead}"
            )

    def _multiples(self) -> tuple[tuple[str, int, int], ...]:
        return (
            ("tile_m", self.tile_m, BLOCK),
            ("tile_n", self.tile_n, STEP_N),
            ("tile_k * bytes of an element", self.row_bytes, ACCESS_LANES * ACCESS_BYTES),
            ("tile_m * tile_k * bytes of an element", self.tile_m * self.row_bytes, THREADS * ACCESS_BYTES),
            ("N", self.n, self.tile_n),
            ("K", self.k, self.tile_k),
        )

    def _check_store(self) -> None:
        """Threads take rows of a tile of C evenly, eight elements each."""
        if self.epilogue != "none":
            raise ValueError(f"use_cshuffle_epilog goes without an epilogue, and {self.epilogue!r} is asked for")
        across = self.tile_n // STORE_WIDTH
        if THREADS % across or self.tile_m % (THREADS // across):
            raise ValueError(
                f"use_cshuffle_epilog needs a tile_n of 64, 128 or 256 and a tile_m that is a multiple of "
                f"{THREADS // across if across else THREADS}, got {self.tile_m} x {self.tile_n}"
            )

    def require_call(
        self, n: int, archs: tuple[str, ...] = ("gfx90a", "gfx942", "gfx950"), elsewhere: str = ""
    ) -> None:
        """Refuse another number of columns than was compiled for, other targets, and more LDS than they have."""
        if self.n != n:
            raise ValueError(f"this kernel was compiled for N = {self.n}, and is called with N = {n}")
        have = elsewhere or "gfx11 and gfx12 have flydsl.kernels.gemm.rdna_f16_gemm and rdna_fp8_preshuffle_gemm"
        require_target("the preshuffle GEMM", archs, have)
        scales = self.lds_stages * self.scale_copies * THREADS * ACCESS_BYTES
        require_lds(self.lds_elements * self.elem_bytes + scales, "take a smaller tile_m or tile_k, or lds_stage=1")

    def blocks(self, rows: Any) -> tuple[Any, Any, int]:
        """Return the grid that covers so many rows."""
        return self.n // self.tile_n, fx.ceildiv(rows, self.tile_m), 1

    def matrices(self, C: Any, A: Any, B: Any, rows: Any) -> tuple[tuple[str, Any, Any], ...]:
        """Return the matrices of a call with so many rows by name, each with its elements."""
        rows = fx.Int64(rows)
        return ("C", C, rows * self.n), ("A", A, rows * self.k), ("B", B, self.n * self.b_depth)

    def vectors(self, scale_a: Any, scale_b: Any, bias: Any, rows: Any) -> list[tuple[str, Any, Any]]:
        """Return the numbers of rows and columns that a call reads, likewise."""
        scales = [("scale_a", scale_a, rows), ("scale_b", scale_b, self.n)] if self.scaled else []
        return scales + ([("bias", bias, self.n)] if self.biased else [])

    @property
    def packed(self) -> bool:
        """Whether two weights share a byte."""
        return self.in_dtype.startswith("int4")

    # Sizes -----------------------------------------------------------------------------------------

    @property
    def elem_bytes(self) -> int:
        return ELEMENTS[self.in_dtype][0].width // 8

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of a tile of A."""
        return self.tile_k * self.elem_bytes

    @property
    def piece(self) -> int:
        """Elements of one 16-byte access."""
        return ACCESS_BYTES // self.elem_bytes

    @property
    def b_depth(self) -> int:
        """Elements in memory of a row of B."""
        return self.k // 2 if self.packed or self.halved else self.k

    @property
    def b_piece(self) -> int:
        """Elements in memory of one access to B."""
        return FOUR_BIT_SIDE // 2 if self.packed else self.piece

    @property
    def chunk(self) -> int:
        """Elements along K that the lanes' accesses for one instruction cover."""
        return ACCESS_LANES * self.piece * self.accesses

    @property
    def chunks(self) -> int:
        return self.tile_k // self.chunk

    @property
    def iterations(self) -> int:
        """Tiles along K."""
        return self.k // self.tile_k

    @property
    def pairs(self) -> int:
        """Iterations of the loop, which multiplies two tiles an iteration, one from either tile of LDS."""
        return self.iterations // 2

    @property
    def row_tiles(self) -> int:
        """Matrix instructions along M."""
        return self.tile_m // BLOCK

    @property
    def sums(self) -> int:
        """Registers of a lane for its sums."""
        return self.tile_m * self.tile_n // THREADS

    # What a thread does ----------------------------------------------------------------------------

    @property
    def a_loads(self) -> int:
        """16-byte loads of a thread for a tile of A."""
        return self.staged_rows * self.row_bytes // (THREADS * ACCESS_BYTES)

    @property
    def staged_rows(self) -> int:
        """Rows of a tile of A in LDS: whole passes of all threads."""
        passes = -(-self.tile_m * self.row_bytes // (THREADS * ACCESS_BYTES))
        return passes * THREADS * ACCESS_BYTES // self.row_bytes

    @property
    def lds_elements(self) -> int:
        """Elements of the LDS of a block: the tiles of A, or the tile of C that takes their place."""
        stored = self.tile_m * self.stored_tile.row_bytes // self.elem_bytes if self.shuffled_store else 0
        return max(self.staged_rows * self.tile_k * self.lds_stages, stored)

    @property
    def stored_tile(self) -> ResultTile:
        """How a tile of C lies there."""
        return ResultTile(self.tile_n, OUT_DTYPES[self.out_dtype], LANE_COLUMNS)

    @property
    def copied_rows(self) -> Operand:
        """A as copies into LDS see it."""
        return Operand(self.tile_m, self.tile_k, self.elem_bytes, self.k)

    @property
    def b_loads(self) -> int:
        """Loads of a thread for a chunk of B."""
        return self.column_tiles * (1 if self.halved or self.packed else self.accesses)

    @property
    def column_tiles(self) -> int:
        """Matrix instructions along N of a wave."""
        return self.tile_n // (BLOCK * WAVES)

    @property
    def staging_chunk(self) -> int:
        """The chunk with which A goes into LDS: the first if another tile of LDS is free, else the last."""
        return 0 if self.lds_stages == 2 else self.chunks - 1

    threads = THREADS
    empty = 0
    """What copies into LDS ask of a plan: threads, and tiles before the first."""

    def in_flight(self, chunk: int) -> int:
        """Loads that may be outstanding when a chunk of B is needed: those issued after it.

        Copies of A into LDS are issued with a tile's last chunk, before its loads of B. With the last chunk of the next
        they have to be there, and all that was issued later is less than B of a tile.
        """
        if self.copied:
            later = self.a_loads + self.scale_copies if chunk < self.chunks - 1 else 0
            return min(self.b_loads * (self.chunks - 1) + later, MAX_IN_FLIGHT)
        after_b = self.b_loads * (self.chunks - 1)
        a_is_later = chunk > 0 if self.lds_stages == 2 else chunk < self.chunks - 1
        return min(after_b + (self.a_loads if a_is_later else 0), MAX_IN_FLIGHT)

    @property
    def scaled(self) -> bool:
        return self.elem_bytes == 1

    @property
    def biased(self) -> bool:
        return self.epilogue.startswith("bias")

    @property
    def activation(self) -> str:
        return self.epilogue.removeprefix("bias").removeprefix("_") or "none"


MAX_IN_FLIGHT = 62
"""The most that a wait can leave outstanding; 63 says that it does not wait at all."""
