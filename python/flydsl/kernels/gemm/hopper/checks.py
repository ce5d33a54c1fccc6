"""What the Hopper GEMM can be built for."""

from __future__ import annotations

from flydsl.kernels.blocks.activation import ACTIVATIONS, GATES
from flydsl.kernels.gemm.hopper.plan import (
    ACROSS_COLUMNS,
    BLOCK_ROWS,
    LEAST_STEPS,
    LINE_BYTES,
    MAX_BOX,
    MOST_SUMS,
    ROW_BYTES,
    SCALED,
    GemmConfig,
    GemmKind,
    Problem,
    ceildiv,
    is_long,
)

HELD_WIDTH = 16
"""Bits of a result that a thread may hold while the next tile begins."""


def held_words(of: GemmKind | Problem, config: GemmConfig) -> int:
    """Return the registers of a thread that results of 16 bits of a tile are held in."""
    return config.accumulators // of.columns_of_one // 2


def held_boxes(of: GemmKind | Problem, config: GemmConfig) -> int:
    """Return how many boxes those leave in, one in each of the next tile's first steps."""
    blocks, columns = 2 * config.accumulators // config.tile_n, config.tile_n // of.columns_of_one
    return blocks * ceildiv(columns, config.sends_across or 8 * ROW_BYTES // HELD_WIDTH)


def can_hold(of: GemmKind | Problem, config: GemmConfig) -> bool:
    """Return whether a thread has registers for the results of a tile beside the sums of the next one: those of 16
    bits, two in a register. Threads that load give up fewer."""
    width = of.c_width if isinstance(of, Problem) else of.c.width
    adds_runs = config.adds_runs(of) if isinstance(of, Problem) else of.run > 0
    along = of.c_along_n or (config.sends_across > 0 and config.tile_n % config.sends_across == 0)
    other = of.block_scaled or of.quantises or of.packed or adds_runs or not along
    most = MOST_SUMS[config.consumers] * (3 if of.gathers or of.words else 4) // 4
    fits = config.accumulators + held_words(of, config) <= most
    return width == HELD_WIDTH and fits and config.splits == 1 and not (other or config.taking_turns)


def looks_early(kind: GemmKind, config: GemmConfig) -> bool:
    """Return whether a block looks for its first tile before the launch waits for the one ahead of it. Parts of K of
    blocks with scales lost by it: 728 x 1536 x 6272 took 17.2 us and 16.9 without, where scales come behind stages that
    were sent for sooner, on an H200, 2026-11-18."""
    return kind.groups == 0 and not (kind.block_scaled and config.splits > 1)


def tells_places(kind: GemmKind, config: GemmConfig) -> bool:
    """Return whether the loading thread tells where tiles are: where it draws them, and with scales of blocks, where
    each has steps. Two warpgroups with one accumulator of all columns would spill with groups: 128 of 512 rows by
    1536 x 2048 in 128 x 192 took 382 us instead of 366. Three spill outside of the steps alone: 9 groups of 19,904 rows
    by 896 x 512 took 26.7 us instead of 27.3, 7 of 32,304 by 640 x 3712 145 instead of 142.5. On an H200,
    2026-11-17."""
    if config.draws:
        return True
    spills = kind.groups > 0 and config.products_apart == 1 and config.halves == 1 and config.consumers < 3
    return kind.block_scaled and not kind.gathers and config.splits == 1 and not spills


def check_length(k: int, kind: GemmKind, config: GemmConfig) -> None:
    """Refuse K that is too short for the steps beside which results leave later."""
    if kind.block_scaled and config.defers and not is_long(k):
        raise ValueError(
            f"results of blocks with scales leave later where K is {LEAST_STEPS * SCALED} at least, got {k}"
        )
    if config.defers and can_hold(kind, config) and ceildiv(k, kind.bk) < held_boxes(kind, config):
        raise ValueError(f"results leave later in {held_boxes(kind, config)} steps of {kind.bk}, and K is {k}")


def check_config(kind: GemmKind, config: GemmConfig) -> None:
    """The only statement of what the kernel can be built for."""
    rows, columns = config.tile_m, config.tile_n
    if kind.a.width != kind.b.width or kind.a.width not in (8, 16) or kind.c.width not in (8, 16, 32):
        types = ", ".join(elem.__name__ for elem in (kind.a, kind.b, kind.c))
        raise ValueError(f"A and B have 8 or 16 bits and C 8, 16 or 32, got {types}")
    if kind.activation not in {**ACTIVATIONS, **GATES}:
        raise ValueError(f"activation must be one of {', '.join([*ACTIVATIONS, *GATES])}, got {kind.activation!r}")
    reasons = {
        "one to three warpgroups multiply blocks of 64 rows each": config.consumers not in (1, 2, 3)
        or not BLOCK_ROWS * (0 if config.beside else config.of_tile - 1) < rows <= MAX_BOX,
        "tiles have a multiple of 8 rows, of 64 a warpgroup if they are gathered or packed, or where lines are "
        "not along K": rows % 8
        or not (config.is_whole or (kind.a_along_k and kind.packed is None and not kind.gathers)),
        "pieces of 16 bytes of C belong to one tile": not kind.c_along_n
        and rows * kind.c.width % (8 * kind.piece_bytes),
        "boxes leave by TMA where C's lines are multiples of 16 bytes and its rows those of a whole tile": config.sends
        and (
            kind.scatter != ""
            or kind.quantises
            or not (config.is_whole and kind.c_along_n)
            or kind.piece_bytes < LINE_BYTES
        ),
        "a warp stores 128 bytes of a row at once, or 64 without TMA": config.box_line
        not in (ROW_BYTES // 2, ROW_BYTES)
        or (config.box_line < ROW_BYTES and (config.sends or config.sends_across > 0 or kind.quantises)),
        "boxes of 32 or 64 columns leave by TMA across C's lines where 64 rows of a tile are 128 bytes": (
            config.sends_across not in (0, *ACROSS_COLUMNS)
            or (config.sends_across > 0 and (config.sends or not config.is_whole or not kind.can_send_across))
        ),
        "blocks begin anywhere in K where nothing but products depends on it": config.staggered
        and (kind.block_scaled or kind.packed is not None or kind.gathers),
        "blocks draw tiles of groups that TMA loads, each with all of K, alone and not in turns": config.draws
        and (kind.groups == 0 or kind.gathers or config.cluster > 1 or config.taking_turns),
        "B passes once where TMA loads rows of groups": config.streams == "once" and (kind.groups == 0 or kind.gathers),
        "two warpgroups take turns, with all of K and without scales or weights of four bits": config.taking_turns
        and (config.consumers != 2 or config.splits > 1 or kind.block_scaled or kind.packed is not None),
        "tiles have 8 to 256 columns, in eights, wide ones of three warpgroups in sixteens": columns
        % (16 if config.is_wide else 8)
        or not 8 <= columns <= MAX_BOX,
        "products of integers have 8 or 24 columns, or some in sixteens": kind.a.is_integer
        and not config.suits_integers,
        "a thread has room for 192 sums, one of three warpgroups for 128": config.sums(kind.block_scaled, kind.run > 0)
        > MOST_SUMS[config.consumers],
        "8-bit blocks with scales have registers, columns of two scales at most, and no swap": kind.block_scaled
        and (kind.size > 1 or not config.can_scale or config.swapped),
        "runs are added of fp8 without scales of blocks, by warpgroups that have registers and take no turns": kind.run
        and (kind.size > 1 or kind.block_scaled or kind.a.is_integer or not config.can_add_runs(kind.gathers)),
        "a run that is multiplied by halves lies in the ring": config.halves > 1 and kind.run > config.stages,
        "results leave later where a thread has registers for those of 16 bits, where runs of all of K are added, "
        "without groups, or blocks have scales": config.defers
        and not can_hold(kind, config)
        and (
            not (kind.block_scaled or (0 < kind.run <= config.stages and kind.groups == 0))
            or config.splits > 1
            or config.taking_turns
            or kind.quantises
            or kind.gathers
        ),
        "weights of four bits are swapped and have 64 rows a warpgroup": kind.packed is not None
        and (rows != BLOCK_ROWS * config.of_tile or not config.swapped or config.sharing("n") > 1),
        "weights of four bits may have teams of as many warpgroups each": config.teams > 1
        and (kind.packed is None or config.consumers % config.teams > 0),
        "groups are not swapped, and gathered rows are not shared": (kind.groups and config.swapped)
        or (kind.gathers and (config.sharing("n") > 1 or not kind.a_along_k)),
        "a cluster has up to 8 blocks, 1, 2, 4 or 8 along m and n, and as many or 3 along k": config.along
        not in ("m", "n", "k", "mn", "nm")
        or config.sharers not in (1, 2, 4, 8)
        or config.splits not in (1, 2, 3, 4, 8)
        or not config.sharers * config.splits == config.cluster <= 8,
        "results that get scales have 64 rows a warpgroup, 128 columns in parts, no clusters, no turns": kind.quantises
        and (
            config.cluster > 1
            or config.taking_turns
            or rows != BLOCK_ROWS * config.consumers
            or SCALED * kind.columns_of_one % columns
        ),
        "two warpgroups beside each other have 64 rows of blocks with scales, without clusters and groups": (
            config.beside
            and (
                not kind.block_scaled
                or kind.groups > 0
                or config.of_tile != 2
                or config.multiplied_rows > BLOCK_ROWS
                or config.cluster > 1
                or config.defers
            )
        ),
        "words are copied for one block, in the order of K, without groups, scales of blocks or other weights": (
            kind.words > 0
            and (
                config.sharers > 1
                or config.staggered
                or config.taking_turns
                or kind.groups > 0
                or kind.packed is not None
                or kind.block_scaled
            )
        ),
        "rows are added to once, by shares that do not overlap": config.shares_overlap and kind.scatter == "add",
        "a stage more than teams and a band of one row are needed": config.stages <= config.teams or config.band < 1,
        "a gate and what it is for are neighbours where operands are not swapped": config.swapped
        and kind.columns_of_one > 1,
        "8-bit matrices are multiplied with K contiguous": kind.size == 1 and not (kind.a_along_k and kind.b_along_k),
        "tiles that are not contiguous along K have a multiple of 64 columns": not kind.b_along_k and columns % 64,
        "blocks share a tile in parts of eight rows": (kind.a_along_k and rows // config.sharing("n") % 8)
        or (kind.b_along_k and columns // config.sharing("m") % 8),
        "lines of a box of C are multiples of 16 bytes": kind.c_along_n
        and config.shared_columns // kind.columns_of_one * kind.c.width % 128,
    }
    for reason, applies in reasons.items():
        if applies:
            raise ValueError(f"{reason}, got {config}")
