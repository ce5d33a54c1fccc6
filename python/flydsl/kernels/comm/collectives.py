"""Collectives of ranks that reach each other's memory: all-reduce, all-gather, reduce-scatter, all-to-all.

fn = build_collective("all_reduce_one_shot", "bf16", 8)
fn(x, out, stage, signals, n, blocks, stream)

``stage`` and ``signals`` are symmetric (`packs.py`), ``x`` and ``out`` ordinary tensors of one mode, of any length and
alignment. Sums are f32, in the order of ranks, rounded once: every rank gets the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.comm.narrow_wire import NarrowExchange
from flydsl.kernels.comm.packs import RESULT, Exchange, load_pack, store_pack

DTYPES = {"f32": fx.Float32, "f16": fx.Float16, "bf16": fx.BFloat16}
THREADS = 256


@flyc.jit
def _each_pack(e: Exchange, n: fx.Int32, do: Callable[[fx.Int32, fx.Int32], None]) -> None:
    """``do(owner, pack)`` with the packs of this thread, rank after rank; of n elements' packs each owns a part."""
    part = e.part(n)
    for owner in range(e.world):
        for own in range(e.first, fx.min(part, e.packs(n) - owner * part), e.step):
            do(owner, owner * part + own)


@flyc.jit
def _own_packs(e: Exchange, n: fx.Int32, do: Callable[[fx.Int32], None]) -> None:
    """``do(pack)`` with those packs of this thread that this rank owns."""
    part = e.part(n)
    for own in range(e.first, fx.min(part, e.packs(n) - e.rank * part), e.step):
        do(e.rank * part + own)


def _given(x: fx.Tensor, pack: fx.Int32, e: Exchange, n: fx.Int32) -> Any:
    """Return a pack of x's n elements."""
    return load_pack(x, pack * e.width, n - pack * e.width, e)


def _give(vector: fx.Vector, out: fx.Tensor, pack: fx.Int32, e: Exchange, n: fx.Int32) -> None:
    """Write a pack of out's n elements."""
    store_pack(vector, out, pack * e.width, n - pack * e.width, e)


@flyc.jit
def all_reduce_one_shot(x: fx.Tensor, out: fx.Tensor, e: Exchange, n: fx.Int32) -> None:
    """Every rank reads what all ranks give, and sums it: one barrier, world times the bytes."""
    for pack in range(e.first, e.packs(n), e.step):
        e.put(pack, _given(x, pack, e, n))
    e.meet()
    for pack in range(e.first, e.packs(n), e.step):
        _give(e.total(lambda rank: e.wide(rank, pack)), out, pack, e, n)  # noqa: B023 - called in this turn


@flyc.jit
def all_reduce_two_shot(x: fx.Tensor, out: fx.Tensor, e: Exchange, n: fx.Int32) -> None:
    """Every rank sums one part of the packs, and all read the sums: two barriers, twice the bytes."""
    _each_pack(e, n, lambda _, pack: e.put(pack, _given(x, pack, e, n)))
    e.meet()
    _own_packs(e, n, lambda pack: e.put(pack, e.total(lambda rank: e.wide(rank, pack)), RESULT))
    e.meet()
    _each_pack(e, n, lambda owner, pack: _give(e.wide(owner, pack, RESULT).to(e.dtype), out, pack, e, n))


@flyc.jit
def all_reduce_write(x: fx.Tensor, out: fx.Tensor, e: Exchange, n: fx.Int32) -> None:
    """As two-shot, but ranks write into each other's memory and read their own: writes need no answer."""
    part = e.part(n)

    def add(pack: fx.Int32) -> None:
        own = pack - e.rank * part
        total = e.total(lambda rank: e.own(rank * part + own).load().to(fx.Float32))
        for rank in fx.range_constexpr(e.world):
            e.staged(rank, pack, RESULT).store(total)

    _each_pack(e, n, lambda owner, pack: e.staged(owner, pack + (e.rank - owner) * part).store(_given(x, pack, e, n)))
    e.meet()
    _own_packs(e, n, add)
    e.meet()
    _each_pack(e, n, lambda _, pack: _give(e.own(pack, RESULT).load(), out, pack, e, n))


@flyc.jit
def all_reduce_multimem(x: fx.Tensor, out: fx.Tensor, e: Exchange, n: fx.Int32) -> None:
    """As two-shot, but the switch adds, and writes a sum to all ranks at once: the bytes cross once. Hopper's."""

    def add(pack: fx.Int32) -> None:
        total = fx.nvvm.multimem_load_reduce(e.stage, e.place(pack), e.dtype)
        fx.nvvm.multimem_store(total, e.stage, e.place(pack, RESULT))

    _each_pack(e, n, lambda _, pack: e.own(pack).store(_given(x, pack, e, n)))
    e.meet()
    _own_packs(e, n, add)
    e.meet()
    _each_pack(e, n, lambda _, pack: _give(e.own(pack, RESULT).load(), out, pack, e, n))


@flyc.jit
def all_gather(x: fx.Tensor, out: fx.Tensor, e: Exchange, n: fx.Int32) -> None:
    """``out`` is what ranks give, one after the other: n elements of each."""
    for pack in range(e.first, e.packs(n), e.step):
        e.own(pack).store(_given(x, pack, e, n))
    e.meet()
    for rank in range(e.world):
        for pack in range(e.first, e.packs(n), e.step):
            start = pack * e.width
            store_pack(e.staged(rank, pack).load(), out, rank * n + start, n - start, e)


@flyc.jit
def _stage_parts(x: fx.Tensor, e: Exchange, n: fx.Int32) -> None:
    """Stage world parts of n elements, each from a pack of its own on."""
    for rank in range(e.world):
        for pack in range(e.first, e.packs(n), e.step):
            start = pack * e.width
            e.own(rank * e.packs(n) + pack).store(load_pack(x, rank * n + start, n - start, e))


@flyc.jit
def reduce_scatter(x: fx.Tensor, out: fx.Tensor, e: Exchange, n: fx.Int32) -> None:
    """``out`` is the sum of the part of x that has this rank's number: n of world times n elements."""
    _stage_parts(x, e, n)
    e.meet()
    for pack in range(e.first, e.packs(n), e.step):
        _give(e.total(lambda rank: e.wide(rank, e.rank * e.packs(n) + pack)), out, pack, e, n)  # noqa: B023


@flyc.jit
def all_to_all(x: fx.Tensor, out: fx.Tensor, e: Exchange, n: fx.Int32) -> None:
    """Part r of ``out`` is the part of rank r's x that has this rank's number; parts have n elements."""
    _stage_parts(x, e, n)
    e.meet()
    for rank in range(e.world):
        for pack in range(e.first, e.packs(n), e.step):
            start = pack * e.width
            store_pack(e.staged(rank, e.rank * e.packs(n) + pack).load(), out, rank * n + start, n - start, e)


COLLECTIVES = {
    function.__name__: function
    for function in (
        all_reduce_one_shot, all_reduce_two_shot, all_reduce_write, all_reduce_multimem, all_gather, reduce_scatter,
        all_to_all,
    )
}  # fmt: skip
MULTICAST = ("all_reduce_multimem",)
"""Those that need memory with an address for all ranks, and Hopper's instructions on it."""


NARROW = ("all_reduce_one_shot", "all_reduce_two_shot")
"""Those whose packs may be narrow on the wire."""


@kept
def build_collective(name: str, dtype: str, world: int, threads: int = THREADS, wire: str | None = None) -> Any:
    """Return the launcher of a collective for ranks of ``world``, in blocks of ``threads``.

    ``wire`` is a format of `narrow_wire.py` in which the numbers of a sum go from rank to rank.
    """
    collective, kind = COLLECTIVES[name], DTYPES[dtype]
    if wire is not None and name not in NARROW:
        raise ValueError(f"{name} sends numbers in their own type; {' and '.join(NARROW)} have a narrow wire")
    if threads < world:
        raise ValueError(f"blocks of {threads} threads cannot signal {world} ranks")

    @flyc.kernel(known_block_size=(threads, 1, 1), name=name)
    def exchange_kernel(x: fx.Tensor, out: fx.Tensor, stage: fx.Symmetric, signals: fx.Symmetric, n: fx.Int32):
        exchange = (
            Exchange(stage, signals, kind, threads)
            if fx.const_expr(wire is None)
            else NarrowExchange(stage, signals, kind, threads, wire)
        )
        collective(x, out, exchange, n)
        exchange.finish()

    @flyc.jit
    def launch(
        x: fx.Tensor, out: fx.Tensor, stage: fx.Symmetric, signals: fx.Symmetric, n: fx.Int32, blocks: fx.Int32,
        stream: fx.Stream = None,
    ):  # fmt: skip
        exchange_kernel(x, out, stage, signals, n).launch(grid=(blocks, 1, 1), block=(threads, 1, 1), stream=stream)

    return launch
