"""Tiles, waves and stages of products whose operands both pass through LDS, checked before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.limits import require_lds, require_multiple, require_target
from flydsl.kernels.gemm.matrix_cores import ACCESS_BYTES, ACCESS_LANES, BLOCK, ELEMENTS

LANES = 64
MOST_WAVES = 16
COPY_BYTES = (16, 4)
"""What a lane may copy into LDS at once, widest first; 16 bytes on gfx950 only."""
MAX_IN_FLIGHT = 62
"""The most copies that a wait can leave outstanding; 63 says that it does not wait at all."""
OWN_OFFSETS = 1 << 12
"""Bytes that the offset of a copy's instruction may say, beside its registers."""
MOST_HELD = 2
"""Tiles that wait in registers, at most."""
MOST_OFFSET = 1 << 16
"""Bytes that an access to LDS may lie behind its register."""
NAMED = 256
"""Registers of a lane that vector instructions name; as many more hold sums only."""
REGISTERS, SIMDS, OTHERS = 512, 4, 48
"""Of a lane where a wave has its SIMD to itself, accumulation registers included; SIMDs; and what is not for sums."""
MOST_SUMS = {1: 320, 2: 256}
"""Registers of a lane for sums, by bytes of an element: with more, those that accumulation registers do not hold leave
too few. November 2026: LLVM spills two of a tile of 448 x 192 in fp8 with four waves, and of 256 x 320 in bf16."""
WINDOW = 3
"""Blocks of 16 rows of A that a wave holds: one is multiplied while the others arrive from LDS."""
COUNTED_TILES = 256
"""Tiles of C that blocks may share in one launch."""
OUTPUTS: dict[str, Any] = {"fp16": fx.Float16, "bf16": fx.BFloat16, "f32": fx.Float32}


def log2(number: int) -> int:
    return number.bit_length() - 1


def is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


@dataclass(frozen=True)
class Operand:
    """One operand: a tile of rows by K in LDS, line by line, and where its neighbours lie in memory.

    Lines lie along K, or along the rows where the operand is transposed. Their pieces are exchanged by the number of
    the line so that banks do not collide: ``granule`` elements stay together, ``bits`` of the line's number count from
    bit ``skip`` on.
    """

    rows: int
    depth: int
    elem_bytes: int
    stride: int
    """Elements between neighbouring lines in memory."""
    transposed: bool = False
    shuffled: bool = False

    @property
    def line(self) -> int:
        return self.rows if self.transposed else self.depth

    @property
    def lines(self) -> int:
        return self.depth if self.transposed else self.rows

    @property
    def piece(self) -> int:
        """Elements of 16 bytes."""
        return ACCESS_BYTES // self.elem_bytes

    @property
    def tile_bytes(self) -> int:
        return self.rows * self.depth * self.elem_bytes

    def stage(self, ring: Any, number: Any) -> Any:
        """Return where a stage begins in a ring whose stages lie one behind the other."""
        return ring[0] + number * (self.rows * self.depth)

    @property
    def granule(self) -> int:
        """A transposing read takes 32 bytes of each of four lines, any other 16 bytes of a line."""
        return 2 * self.piece if self.transposed else self.piece

    @property
    def bits(self) -> int:
        """As many as there are pieces, up to the 16 that fill all banks."""
        if not is_power_of_two(self.line) or self.line <= self.granule:
            return 0
        return min(log2(self.line // self.granule), 4)

    @property
    def skip(self) -> int:
        """Lines of less than 128 bytes share them with their neighbours, which need not be told apart."""
        return 0 if self.transposed else max(3 - log2(self.line // self.piece), 0)

    def copies(self, threads: int, width: int) -> int:
        """Copies of ``width`` bytes of each thread that make a tile, or 0 where threads and tile do not fit."""
        across = min(self.line * self.elem_bytes // width, threads)
        even = self.line * self.elem_bytes % (across * width) == 0 and threads % across == 0
        whole = self.tile_bytes % (threads * width) == 0
        keeps_pieces = self.bits == 0 or across * width >= (self.granule << self.bits) * self.elem_bytes
        return self.tile_bytes // (threads * width) if even and whole and keeps_pieces else 0


@dataclass(frozen=True)
class LdsPlan:
    """One kernel: extents, tiles, waves, stages. ``dtype`` and ``out`` are names of `ELEMENTS` and `OUTPUTS`."""

    n: int
    k: int
    tile_m: int
    tile_n: int
    tile_k: int
    dtype: str
    out: str
    stages: int = 2
    split_k: int = 1
    m_waves: int = 2
    n_waves: int = 2
    k_waves: int = 1
    lda: int = 0
    ldb: int = 0
    ldc: int = 0
    a_transposed: bool = False
    b_transposed: bool = False
    b_shuffled: bool = False
    biased: bool = False
    scaled: bool = False
    group_m: int = 0
    xcds: int = 0
    column_tiles: int = 1
    """Tiles along N that a block makes one after the other."""
    held: int = 0
    """Tiles that wait in registers for the one place that tiles have in LDS; 0 where copies bring them there."""

    def __post_init__(self) -> None:
        for name, value, known in (("dtype", self.dtype, ELEMENTS), ("out_dtype", self.out, OUTPUTS)):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        for name, value in (("N", self.n), ("K", self.k), ("split_k", self.split_k), ("m_waves", self.m_waves),
                            ("n_waves", self.n_waves), ("k_waves", self.k_waves),
                            ("column_tiles", self.column_tiles)):  # fmt: skip
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if self.stages < 2 and not self.held:
            raise ValueError(f"a ring has at least 2 stages, one filled while another is multiplied; got {self.stages}")
        if self.waves > MOST_WAVES:
            raise ValueError(f"a workgroup has at most {MOST_WAVES} waves; {self.shape_of_waves} are {self.waves}")
        for name, value, step in self._multiples():
            require_multiple(name, value, step)
        if not is_power_of_two(self.tile_k):
            raise ValueError(f"tile_k must be a power of two, got {self.tile_k}")
        sides = (("tile_m", self.tile_m, self.a_transposed), ("tile_n", self.tile_n, self.b_transposed))
        for name, side, turned in sides:
            if turned and not is_power_of_two(side):
                raise ValueError(f"{name} must be a power of two where that operand is transposed, got {side}")
        self._check_copies()
        self._check_registers()
        if self.split_k > self.k_tiles:
            raise ValueError(
                f"split_k = {self.split_k} and K has {self.k_tiles} tiles of {self.tile_k}; use split_k of at most that"
            )

        if self.split_k > 1 and OUTPUTS[self.out].width == 16 and (self.n % 2 or self.c_stride % 2):
            raise ValueError(
                f"blocks that share K add pairs of columns, so N must be even, got {self.n} with a stride of "
                f"{self.c_stride}; use split_k = 1, or an output in f32"
            )

    def for_copies_of(self, width: int) -> LdsPlan:
        """Return the plan where a lane copies so many bytes into LDS at once. Stages of narrow copies take more
        instructions than one stage in LDS and others in registers, which wide loads fill."""
        wide = COPY_BYTES[0]
        even = all(operand.copies(self.threads, wide) for operand in (self.a, self.b))
        return replace(self, stages=1, held=min(self.stages - 1, MOST_HELD)) if width < wide and even else self

    def _multiples(self) -> tuple[tuple[str, int, int], ...]:
        return (
            ("tile_m", self.tile_m, BLOCK * self.m_waves),
            ("tile_n", self.tile_n, BLOCK * self.n_waves),
            ("tile_k", self.tile_k, ACCESS_LANES * ACCESS_BYTES // self.elem_bytes * self.k_waves),
        )

    def require_call(self, kernel: str) -> None:
        """Refuse other targets, and more LDS than they have."""
        elsewhere = "gfx11 and gfx12 have flydsl.kernels.gemm.rdna_f16_gemm and rdna_fp8_preshuffle_gemm"
        require_target(kernel, ("gfx90a", "gfx942", "gfx950")[self.elem_bytes == 1 :], elsewhere)
        require_lds(self.lds_bytes, "take a smaller tile, or fewer stages")

    def _check_copies(self) -> None:
        """Each thread makes as many copies as every other, of 16 or of 4 bytes."""
        for name, operand in (("A", self.a), ("B", self.b)):
            if not operand.copies(self.threads, COPY_BYTES[-1]):
                least = self.threads * COPY_BYTES[-1]
                raise ValueError(
                    f"a tile of {name} of {operand.rows} x {operand.depth} has {operand.tile_bytes} bytes, which "
                    f"{self.threads} threads do not copy evenly; make it a multiple of {least}, or take fewer waves"
                )

    def _check_registers(self) -> None:
        """The sums of a wave's part of a tile fit its registers, beside what it multiplies."""
        there = REGISTERS // -(-self.waves // SIMDS)
        most = MOST_SUMS[self.elem_bytes]
        if self.sums > most or self.sums + self.operands + OTHERS > there:
            raise ValueError(
                f"a lane of {self.shape_of_waves} waves has {there} registers, and a tile of {self.tile_m} x "
                f"{self.tile_n} takes {self.sums} for sums, of which {most} fit at most, {self.operands} for operands "
                f"and {OTHERS} or more for the rest: take a smaller tile, or other waves"
            )

    @property
    def operands(self) -> int:
        """Registers of a lane for what it multiplies: its columns of B, and some blocks of rows of A."""
        rows, columns = self.tile_m // (BLOCK * self.m_waves), self.tile_n // (BLOCK * self.n_waves)
        return (columns + min(WINDOW, rows)) * BLOCK * self.wave_depth * self.elem_bytes // (4 * LANES)

    @property
    def sums(self) -> int:
        """Registers of a lane for its sums."""
        return self.tile_m * self.tile_n // (self.m_waves * self.n_waves * LANES)

    # Extents ---------------------------------------------------------------------------------------

    @property
    def elem_bytes(self) -> int:
        return ELEMENTS[self.dtype][0].width // 8

    @property
    def waves(self) -> int:
        return self.m_waves * self.n_waves * self.k_waves

    @property
    def shape_of_waves(self) -> str:
        return f"{self.m_waves} x {self.n_waves} x {self.k_waves}"

    @property
    def threads(self) -> int:
        return self.waves * LANES

    @property
    def wave_depth(self) -> int:
        """Elements along K of a tile that one wave multiplies."""
        return self.tile_k // self.k_waves

    @cached_property
    def a(self) -> Operand:
        return Operand(self.tile_m, self.tile_k, self.elem_bytes, self.lda or self.k, self.a_transposed)

    @cached_property
    def b(self) -> Operand:
        stride = self.ldb or (self.n if self.b_transposed else self.k)
        return Operand(self.tile_n, self.tile_k, self.elem_bytes, stride, self.b_transposed, self.b_shuffled)

    @property
    def c_stride(self) -> int:
        return self.ldc or self.n

    # Along K ---------------------------------------------------------------------------------------

    @property
    def k_tiles(self) -> int:
        """Tiles along K, the last of which may be cut short."""
        return -(-self.k // self.tile_k)

    @property
    def tail(self) -> int:
        """Elements of the last tile along K, or 0 where it is whole."""
        return self.k % self.tile_k

    @property
    def iterations(self) -> int:
        """Tiles of each share of K. Where they are too many, the first share begins with some that are empty."""
        return -(-self.k_tiles // self.split_k)

    @property
    def empty(self) -> int:
        return self.iterations * self.split_k - self.k_tiles

    @property
    def looped(self) -> int:
        """Tiles of a share that the run-time loop multiplies: whole rounds, in which each fetches another."""
        ahead = self.held + 1 if self.held else self.stages
        return max(self.iterations - ahead, 0) // self.round * self.round

    @property
    def round(self) -> int:
        """Tiles of a round: one for each place in LDS, or for each that waits in registers."""
        return self.held or self.stages

    @property
    def rolled(self) -> bool:
        """Whether the loop makes a tile an iteration, not a round of the ring: where the sums take more registers than
        vector instructions can name, LLVM moves them between two instructions of an iteration that add to them."""
        return self.tile_m * self.tile_n // self.threads >= NAMED

    # The grid --------------------------------------------------------------------------------------

    @property
    def grid_n(self) -> int:
        return -(-self.n // (self.tile_n * self.column_tiles))

    @property
    def ragged(self) -> bool:
        """Whether the last tile along N reaches beyond C."""
        return self.n % (self.tile_n * self.column_tiles) != 0

    def blocks(self, rows: Any) -> tuple[Any, int, int]:
        """Return the grid that covers so many rows."""
        return fx.ceildiv(rows, self.tile_m) * self.grid_n, self.split_k, 1

    @property
    def ring_bytes(self) -> int:
        return self.stages * (self.a.tile_bytes + self.b.tile_bytes)

    @property
    def lds_bytes(self) -> int:
        """LDS of a block: the ring, and afterwards in its place the sums of the waves that share a tile along K."""
        return max(self.ring_bytes, (self.k_waves - 1) * self.tile_m * self.tile_n * 4)


# The choice ------------------------------------------------------------------------------------------

CANDIDATES = ((256, 256, 64, 2, 2, 4), (128, 128, 64, 2, 2, 2), (64, 128, 64, 2, 2, 2), (64, 64, 64, 3, 2, 2),
              (32, 64, 64, 3, 2, 2), (16, 64, 64, 3, 1, 2))  # fmt: skip
"""(tile_m, tile_n, tile_k, stages, m_waves, n_waves)"""
UNITS = 256
"""Compute units, of which each works on one block at a time."""
MATRIX_RATE, MEMORY_RATE, FIXED = 2048, 32, 2000
"""Products, bytes from memory and clocks of a block beside its tiles, a clock and unit: gfx950's rates in bf16."""


def choose_tiles(m: int, n: int, k: int, lds_bytes: int) -> dict[str, int]:
    """Return the tile and the share of K with the least clocks by `ranked_tiles`, for elements of 16 bits."""
    return ranked_tiles(m, n, k, lds_bytes)[0][1]


@lru_cache(1024)
def ranked_tiles(
    m: int, n: int, k: int, lds_bytes: int, elem_bytes: int = 2, shares: tuple[int, ...] = (1, 2, 4, 8, 16)
) -> list[tuple[float, dict[str, int]]]:
    """Tiles and shares of K with their clocks by a model, the fewest first: rounds of blocks, each tile at the slower
    rate.

    More blocks than units take further rounds; a share of K adds what its blocks write to C. Elements of one byte are
    multiplied twice as fast, in tiles twice as deep.
    """
    found: list[tuple[float, dict[str, int]]] = []
    for tile_m, tile_n, depth, stages, m_waves, n_waves in CANDIDATES:
        tile_k, moved = depth * 2 // elem_bytes, (tile_m + tile_n) * depth * 2
        if stages * moved > lds_bytes:
            continue
        blocks, steps = -(-m // tile_m) * -(-n // tile_n), -(-k // tile_k)
        step = max(tile_m * tile_n * depth / MATRIX_RATE, moved / MEMORY_RATE)
        for split in shares:
            if split > 1 and (steps < 4 * split or blocks > COUNTED_TILES):
                break
            rounds = -(-blocks * split // UNITS)
            written = tile_m * tile_n * 4 / MEMORY_RATE * (split if split > 1 else 0)
            clocks = rounds * (-(-steps // split) * step + FIXED) + written
            found.append((clocks, {"tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k, "stages": stages,
                                   "m_waves": m_waves, "n_waves": n_waves, "split_k": split}))  # fmt: skip
    if not found:
        raise ValueError(f"a ring of tiles does not fit into {lds_bytes} bytes of LDS")
    return sorted(found, key=lambda one: one[0])
