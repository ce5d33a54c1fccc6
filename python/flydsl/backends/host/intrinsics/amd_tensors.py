"""gfx1250's tensor data mover on the host: the descriptor's fields into a table, by which the tile is copied later.

A tile lands when its wave waits for it (`asynchrony`). A wave issues the instruction once, whatever its lanes: the
first active one says what is copied.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.host.asynchrony import ENGINE
from flydsl.backends.host.intrinsics.entry import Behaviour, HostIntrinsic, meeting
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.codegen.llvm_types import type_text
from flydsl.native import constants as native
from flydsl.target.tensor_descriptor import FIELDS, GATHER_FIRST_WORD, GATHER_MOST, GROUPS, WORDS

_ROWS = max(GATHER_MOST.values())
_TABLE = native.TILE_ROWS + _ROWS
"""Numbers of the table that `native/src/host_tensor_copy.c` reads."""


def _words(wg: Workgroup, op: Operation) -> str:
    """Return the descriptor in memory; groups that are left out are zero."""
    body = wg.body
    words = body.fresh("words")
    body.entry_line(f"{words} = alloca [{WORDS} x i32], align 16")
    body.line(f"store [{WORDS} x i32] zeroinitializer, ptr {words}")
    start = 0
    for value, count in zip(op.operands[:-1], GROUPS, strict=False):
        place = body.assign(f"getelementptr i32, ptr {words}, i64 {start}")
        body.line(f"store {type_text(value.type)} {wg.value(value)}, ptr {place}, align 16")
        start += count
    return words


def _field(wg: Workgroup, words: str, name: str) -> str:
    body, total = wg.body, "0"
    for piece in FIELDS[name]:
        word = body.assign(f"load i32, ptr {body.assign(f'getelementptr i32, ptr {words}, i64 {piece.word}')}")
        wide = body.assign(f"lshr i64 {body.assign(f'zext i32 {word} to i64')}, {piece.place}")
        part = body.assign(f"and i64 {wide}, {(1 << piece.bits) - 1}")
        total = body.assign(f"or i64 {total}, {body.assign(f'shl i64 {part}, {piece.low}')}")
    return total


def _put(wg: Workgroup, table: str, index: int, value: str) -> None:
    body = wg.body
    body.line(f"store i64 {value}, ptr {body.assign(f'getelementptr i64, ptr {table}, i64 {index}')}")


def _pick(wg: Workgroup, condition: str, yes: str, no: str) -> str:
    return wg.body.assign(f"select i1 {condition}, i64 {yes}, i64 {no}")


def _set(wg: Workgroup, value: str) -> str:
    return wg.body.assign(f"icmp ne i64 {value}, 0")


def _fill(wg: Workgroup, words: str, table: str) -> None:
    body = wg.body
    gathers = _set(wg, _field(wg, words, "gather"))
    _put(wg, table, native.TILE_GLOBAL, _field(wg, words, "global_address"))
    _put(wg, table, native.TILE_LDS, _field(wg, words, "lds_address"))
    _put(wg, table, native.TILE_ELEMENT_BYTES, body.assign(f"shl i64 1, {_field(wg, words, 'data_size')}"))
    padded = _set(wg, _field(wg, words, "pad_enable"))
    interval = body.assign(f"shl i64 8, {_field(wg, words, 'pad_interval')}")
    spare = body.assign(f"add i64 {_field(wg, words, 'pad_amount')}, 1")
    amount = body.assign(f"shl i64 {spare}, 2")
    _put(wg, table, native.TILE_PAD_INTERVAL, _pick(wg, padded, interval, "0"))
    _put(wg, table, native.TILE_PAD_BYTES, amount)
    for dim in range(native.TILE_DIMENSIONS):
        extent, tile = _field(wg, words, f"dim{dim}"), _field(wg, words, f"tile{dim}")
        used = _set(wg, tile)
        if dim >= 2:  # in gather mode these words hold rows
            used = body.assign(f"and i1 {used}, {body.assign(f'xor i1 {gathers}, true')}")
        elif dim == 0:
            used = "true"
        _put(wg, table, native.TILE_EXTENTS + dim, _pick(wg, used, extent, "1"))
        _put(wg, table, native.TILE_SIZES + dim, _pick(wg, used, tile, "1"))
        if dim < 4:
            _put(wg, table, native.TILE_STRIDES + dim, _field(wg, words, f"stride{dim}"))
    _put(wg, table, native.TILE_GATHERS, body.assign(f"zext i1 {gathers} to i64"))
    _rows(wg, words, table)


def _rows(wg: Workgroup, words: str, table: str) -> None:
    """The rows of gather mode: 32-bit numbers, or twice as many of 16 bits."""
    body = wg.body
    wide = _set(wg, _field(wg, words, "gather_wide"))
    for index in range(_ROWS):
        half = body.assign(f"getelementptr i16, ptr {words}, i64 {2 * GATHER_FIRST_WORD + index}")
        number = body.assign(f"zext i16 {body.assign(f'load i16, ptr {half}')} to i64")
        if index < GATHER_MOST[32]:
            place = body.assign(f"getelementptr i32, ptr {words}, i64 {GATHER_FIRST_WORD + index}")
            long = body.assign(f"zext i32 {body.assign(f'load i32, ptr {place}')} to i64")
            number = _pick(wg, wide, long, number)
        _put(wg, table, native.TILE_ROWS + index, number)


def _copy(store: bool) -> Behaviour:
    flag = "true" if store else "false"

    def run(wg: Workgroup, op: Operation) -> None:
        body = wg.body
        wg.module.scope.add_native("host_tensor_copy")
        table, issued = body.fresh("fields"), body.fresh("issued")
        body.entry_line(f"{table} = alloca [{_TABLE} x i64], align 16")
        body.entry_line(f"{issued} = alloca i1, align 1")

        def each() -> None:
            before = body.assign(f"load i1, ptr {issued}")
            issue, done = body.fresh_label("issue"), body.fresh_label("issued")
            body.branch_if(before, done, issue)
            body.start_block(issue)
            body.line(f"store i1 true, ptr {issued}")
            known = dict(body.names)
            words = _words(wg, op)
            _fill(wg, words, table)
            valid, move = _set(wg, _field(wg, words, "count")), body.fresh_label("move")
            body.branch_if(valid, move, done)
            body.start_block(move)
            end = body.assign(f"call i64 @fly.tensor_end(ptr {table})")
            wg.shared.check_end(wg, op, end)
            start = _field(wg, words, "lds_address")
            place = body.assign(f"getelementptr i8, ptr %scratch, i64 {start}")
            size = body.assign(f"sub i64 {end}, {start}")
            ticket = wg.work.ticket(op, op.operands[0], f"ptr {place}", size, reads=store, seen=True)
            first = body.assign(f"and i64 {wg.thread_number}, -{wg.target.wave_size}")
            wg.work.call(
                "copy_tile", wg.work.queue(ENGINE, first), "ptr @fly.tensor_copy", f"ptr {table}", f"i64 {_TABLE}",
                "ptr %scratch", f"i1 {flag}", ticket,
            )  # fmt: skip
            body.names = known
            body.branch(done)
            body.start_block(done)

        wg.by_wave(lambda: body.line(f"store i1 false, ptr {issued}"), each, lambda: None)

    return run


ENTRIES: dict[str, HostIntrinsic] = {
    f"llvm.amdgcn.tensor.{name}{form}": meeting(_copy(name.startswith("store")))
    for name in ("load.to.lds", "store.from.lds")
    for form in ("", ".d2")
}
