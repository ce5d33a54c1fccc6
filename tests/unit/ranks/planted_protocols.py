"""Protocols between ranks, each with one mistake: what the sanitizer says of it, and of which line.

One kernel passes data on, with a flag; another exchanges it with barriers. Options leave out, or change, one thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS, BLOCKS = 16, 2


@dataclass(frozen=True)
class Options:
    """How a protocol is written; the defaults are right."""

    store_order: str = "release"
    store_scope: str = "system"
    look_order: str = "acquire"
    look_scope: str = "system"
    before: bool = True
    after: bool = True
    late: str = ""
    first: bool = False
    flag: str = "signal"
    look: str = "wait"
    fence: str = ""
    start: bool = True
    end: bool = True
    turns: int = 1
    calls: int = 1
    blocks: int = BLOCKS
    own_first: bool = False
    backwards: bool = False
    absent: int = -1
    small: int = -1


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def passing_on(x: fx.Symmetric, flags: fx.Symmetric, out: fx.Symmetric, o: fx.Constexpr[Any]):
    t, b = fx.thread_idx.x, fx.block_idx.x
    peer = (x.rank + 1) % x.world
    if fx.const_expr(o.first):
        if t == 0:
            fx.signal(flags.at(peer), 1, at=b)
    x.at(peer)[b, t] = x.rank * 100 + t  # data
    if fx.const_expr(o.before):
        fx.barrier()
    if t == 0:
        if fx.const_expr(o.fence):
            fx.fence(o.fence, "acq_rel")
        if fx.const_expr(o.flag == "signal" and not o.first):
            fx.signal(flags.at(peer), 1, at=b, order=o.store_order, scope=o.store_scope)
        if fx.const_expr(o.flag == "plain"):
            flags.at(peer)[b] = 1  # a plain flag
        if fx.const_expr(o.flag == "add"):
            fx.atomic("add", flags.at(peer), 1, at=b, order=o.store_order, scope=o.store_scope)
        if fx.const_expr(o.late == "one"):
            x.at(peer)[b, t] = x.rank * 100 + t + 1  # late
    if fx.const_expr(o.late == "all"):
        x.at(peer)[b, t] = x.rank * 100 + t + 1  # late
    if t == 0:
        if fx.const_expr(o.look == "wait"):
            fx.wait(flags.local, 1, at=b, order=o.look_order, scope=o.look_scope)
        if fx.const_expr(o.look == "plain"):
            while flags.local[b] == 0:  # a plain look
                pass
        if fx.const_expr(o.look == "more"):
            fx.wait(flags.local, 2, at=b)
        if fx.const_expr(o.look == "other"):
            fx.wait(flags.local, 1, at=BLOCKS - 1 - b)
        if fx.const_expr(o.fence):
            fx.fence(o.fence, "acq_rel")
    if fx.const_expr(o.after):
        fx.barrier()
    out.local[b, t] = x.local[b, t]  # use


@flyc.jit
def pass_on(x: fx.Symmetric, flags: fx.Symmetric, out: fx.Symmetric, o: fx.Constexpr[Any]):
    passing_on(x, flags, out, o).launch(grid=(BLOCKS, 1, 1), block=(THREADS, 1, 1))


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def exchanging(x: fx.Symmetric, signals: fx.Symmetric, out: fx.Symmetric, o: fx.Constexpr[Any]):
    t, b = fx.thread_idx.x, fx.block_idx.x
    for _turn in range(o.turns):
        x.local[b, t] = (fx.Float32(x.rank * x.rank) * 37.7 + 0.1) * fx.Float32(t + 1)  # fill
        if fx.const_expr(o.start):
            fx.rank_barrier(signals)
        total = fx.Float32(0.0)
        for r in fx.range_constexpr(x.world):
            rank = fx.Int32(r)
            if fx.const_expr(o.own_first):
                rank = (x.rank + r) % x.world
            if fx.const_expr(o.backwards):
                rank = (x.rank % 2 == 1).select(fx.Int32(x.world - 1 - r), fx.Int32(r))
            total = total + x.at(rank)[b, t] / 3.0  # read
        out.local[b, t] = total  # sum
        if fx.const_expr(o.end):
            fx.rank_barrier(signals)


@flyc.jit
def exchange(x: fx.Symmetric, signals: fx.Symmetric, out: fx.Symmetric, blocks: fx.Int32, o: fx.Constexpr[Any]):
    exchanging(x, signals, out, o).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1))


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def packing(packs: fx.Symmetric, out: fx.Symmetric, o: fx.Constexpr[Any]):
    """Three numbers and a flag in a pack of 16 bytes, which memory need not move as one."""
    t = fx.thread_idx.x
    peer = packs.at((packs.rank + 1) % packs.world)
    pack = fx.Vector.from_elements([fx.Int32(t), fx.Int32(t + 1), fx.Int32(t + 2), fx.Int32(1)], fx.Int32)
    fx.make_view(fx.get_iter(peer[t, None]).aligned(16), fx.make_layout(4, 1)).store(pack)  # pack
    while packs.local[t, 3] == 0:  # torn
        pass
    out.local[0, t] = packs.local[t, 0]


@flyc.jit
def pack(packs: fx.Symmetric, out: fx.Symmetric, o: fx.Constexpr[Any]):
    packing(packs, out, o).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))


# Programs of a rank ----------------------------------------------------------------------------


def _passed(rank: Any, o: Options) -> None:
    x, out = (rank.symmetric((BLOCKS, THREADS), np.int32) for _ in range(2))
    pass_on(x, rank.symmetric(BLOCKS, np.int32), out, o)


def _exchanged(rank: Any, o: Options) -> None:
    blocks = o.blocks
    x, out = (rank.symmetric((blocks, THREADS), np.float32) for _ in range(2))
    signals = rank.symmetric((blocks, rank.world + 1), np.int32)
    for _ in range(o.calls):
        if rank.number != o.absent:
            exchange(x, signals, out, blocks if rank.number != o.small else blocks - 1, o)
    rank.require_same(out)


def _packed(rank: Any, o: Options) -> None:
    pack(rank.symmetric((THREADS, 4), np.int32), rank.symmetric((1, THREADS), np.int32), o)


@dataclass(frozen=True)
class Planted:
    """A mistake: the program, what is different in it, a part of the message, and of the line it names.

    What is found depends on who came first: then there are several of both, in pairs, with a bar between.
    """

    name: str
    message: str
    line: str
    options: Options
    program: Callable[[Any, Options], None] = _passed
    resident: int = 0


WAIT, USE = "fx.wait(flags.local, 1, at=b, ", "# use"
SIGNAL = "fx.signal(flags.at(peer), 1, at=b, "
UNMET = "no flag orders the two|may still be reading"
REUSED = LATE = "may still be reading|after its signal"
UNCOVERED = "another thread of its block signalled|may still be reading"
PLANTED = [
    Planted("flag for the device", "only the device of", WAIT, Options(store_scope="device")),
    Planted("flag for the block", "only the device of", WAIT, Options(store_scope="block")),
    Planted("counter for the device", "only the device of", WAIT, Options(flag="add", store_scope="device")),
    Planted("look of the device", "has the scope of one device", WAIT, Options(look_scope="device")),
    Planted("look of the block", "has the scope of one device", WAIT, Options(look_scope="block")),
    Planted("flag without release", "has no release", USE, Options(store_order="relaxed")),
    Planted("counter without release", "has no release", USE, Options(flag="add", store_order="relaxed")),
    Planted("poll without acquire", "does not acquire", USE, Options(look_order="relaxed")),
    Planted("neither release nor acquire", "has no release", USE, Options(look_order="relaxed", store_order="relaxed")),
    Planted(
        "fence of the device", "does not acquire", USE,
        Options(look_order="relaxed", store_order="relaxed", fence="device"),
    ),
    Planted("no barrier before the signal", UNCOVERED, f"{USE}|# data", Options(before=False)),
    Planted("no barrier after the wait", "no fx.barrier() behind it", USE, Options(after=False)),
    Planted("write after the signal", LATE, f"{USE}|# late", Options(late="all")),
    Planted("write of one thread after the signal", LATE, f"{USE}|# late", Options(late="one")),
    Planted("signal before the data", LATE, f"{USE}|# data", Options(first=True)),
    Planted("plain store of a flag", "only one of them is atomic", WAIT, Options(flag="plain")),
    Planted("plain look at a flag", "only one of them is atomic", f"# a plain look|{SIGNAL}", Options(look="plain")),
    Planted("no wait", UNMET, f"{USE}|# data", Options(look="none")),
    Planted("wait for another block's flag", UNMET, f"{USE}|# data", Options(look="other")),
    Planted("blocks that do not fit", "have not begun", "at=BLOCKS - 1 - b", Options(look="other"), resident=1),
    Planted("wait for one signal too many", "waits here", "fx.wait(flags.local, 2", Options(look="more")),
    Planted("no flag at all", "waits here", WAIT, Options(flag="none")),
    Planted("no barrier at the start", UNMET, "# read|# fill", Options(start=False), _exchanged),
    Planted("reused in the next launch", REUSED, "# fill|# read", Options(end=False, calls=2), _exchanged),
    Planted("reused in the next turn", REUSED, "# fill|# read", Options(end=False, turns=2), _exchanged),
    Planted("torn pack", UNMET, "# torn|# pack", Options(), _packed),
    Planted("a rank that does not come", "waits here", "fx.rank_barrier", Options(absent=1), _exchanged),
    Planted("a rank with fewer blocks", "waits here", "fx.rank_barrier", Options(small=2, blocks=3), _exchanged),
    Planted("a sum from the own rank on", "has other bits than rank 0", "# sum", Options(own_first=True), _exchanged),
    Planted("a sum backwards on odd ranks", "has other bits than rank 0", "# sum", Options(backwards=True), _exchanged),
]  # fmt: skip
CORRECT_ONES: list[tuple[str, Options, Callable[[Any, Options], None]]] = [
    ("signal and wait", Options(), _passed),
    ("a counter", Options(flag="add"), _passed),
    ("fences of the system", Options(look_order="relaxed", store_order="relaxed", fence="system"), _passed),
    ("barriers of ranks", Options(calls=3), _exchanged),
    ("barriers in a loop", Options(turns=3), _exchanged),
]
