"""Making tensor maps in the native launcher: by the driver on a GPU, in our own form on the host device.

`native.h` says where the fields of the host's map are.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from flydsl.base.native_names import BAD_MAP_ADDRESS, BAD_MAP_EXTENT, BAD_MAP_STRIDE, DRIVER_BASE
from flydsl.base.records import dataclass
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.dialects.fly.payload import MAPPED_ORDER, MAPPED_TENSOR
from flydsl.native import constants as native
from flydsl.target.tensor_map import ALIGN, MAP_ALIGN, MAP_BYTES, MAX_EXTENT, STRIDE_LIMIT


@dataclass(frozen=True)
class MadeMap:
    """Texts of the launcher: the status, 0 if it went well, the address of the map, and two numbers for the report."""

    status: str
    block: str
    numbers: tuple[str, str]


def tensor_text(op: Operation) -> str:
    """Return how messages name the tensor of a call that makes a map."""
    named = op.attributes.get(MAPPED_TENSOR)
    return named.data if isinstance(named, StringAttr) else "the tensor"


def emit(module: ModuleEmitter, body: FunctionEmitter, op: Operation, entry: str | None, launches: str) -> MadeMap:
    """Return the map for a call of ``fly_tensor_map_Nd``; the driver is asked for it where something ``launches``."""
    rank = (len(op.operands) - 4) // 3
    values = [body.operand(o) for o in op.operands]
    base, extents, strides = values[0], values[1 : 1 + rank], values[1 + rank : 2 * rank]
    dtype, swizzle, promotion, size, *box = values[2 * rank :]
    block = body.fresh("map")
    body.entry_line(f"{block} = alloca [{MAP_BYTES // 8} x i64], align {MAP_ALIGN}")
    order = op.attributes.get(MAPPED_ORDER)
    modes = order.data.split(",") if isinstance(order, StringAttr) else [str(mode) for mode in range(rank)]
    fault, *numbers = _fault(body, base, extents, strides, modes)
    if entry is None:
        _host_map(body, block, (base, dtype, size, str(rank), swizzle), (extents, strides, box))
        return MadeMap(fault, block, (numbers[0], numbers[1]))
    before, asks, asked = body.current_label, body.fresh_label("asks"), body.fresh_label("asked")
    body.branch_if(launches, asks, asked)
    body.start_block(asks)
    made = _driver_map(module, body, entry, block, (dtype, rank, base, swizzle, promotion), (extents, strides, box))
    body.branch(asked)
    body.start_block(asked)
    made = body.assign(f"phi i32 [ {made}, %{asks} ], [ 0, %{before} ]")
    good = body.assign(f"icmp eq i32 {fault}, 0")
    status = body.assign(f"select i1 {good}, i32 {made}, i32 {fault}")
    return MadeMap(status, block, (numbers[0], numbers[1]))


def _fault(
    body: FunctionEmitter, base: str, extents: list[str], strides: list[str], modes: list[str]
) -> tuple[str, str, str]:
    """Return (status, two numbers of the report) of the first thing that TMA cannot take; the status is 0 if it takes
    all."""
    past = body.assign(f"and i64 {body.assign(f'ptrtoint ptr {base} to i64')}, {ALIGN - 1}")
    found = [(body.assign(f"icmp ne i64 {past}, 0"), BAD_MAP_ADDRESS, past, "0")]
    for mode, stride in zip(modes[1:], strides, strict=True):
        rest = body.assign(f"and i64 {stride}, {ALIGN - 1}")
        odd = body.assign(f"icmp ne i64 {rest}, 0")
        far = body.assign(f"icmp uge i64 {stride}, {STRIDE_LIMIT}")  # a negative one, too
        found.append((body.assign(f"or i1 {odd}, {far}"), BAD_MAP_STRIDE, mode, stride))
    for mode, extent in zip(modes, extents, strict=True):
        less = body.assign(f"sub i64 {extent}, 1")
        found.append((body.assign(f"icmp uge i64 {less}, {MAX_EXTENT}"), BAD_MAP_EXTENT, mode, extent))
    status, first, second = "0", "0", "0"
    for wrong, code, *numbers in reversed(found):
        status = body.assign(f"select i1 {wrong}, i32 {code}, i32 {status}")
        first = body.assign(f"select i1 {wrong}, i64 {numbers[0]}, i64 {first}")
        second = body.assign(f"select i1 {wrong}, i64 {numbers[1]}, i64 {second}")
    return status, first, second


def _host_map(
    body: FunctionEmitter, block: str, facts: tuple[str, ...], modes: tuple[list[str], list[str], list[str]]
) -> None:
    base, dtype, size, rank, swizzle = facts
    words = {native.MAP_BASE: body.assign(f"ptrtoint ptr {base} to i64"), native.MAP_RANK: rank}
    kind = body.assign(f"shl i32 {dtype}, 8")
    words[native.MAP_ELEMENT] = body.assign(f"zext i32 {body.assign(f'or i32 {size}, {kind}')} to i64")
    words[native.MAP_SWIZZLE] = body.assign(f"zext i32 {swizzle} to i64")
    extents, strides, box = modes
    words |= {native.MAP_EXTENTS + i: extent for i, extent in enumerate(extents)}
    words |= {native.MAP_STRIDES + i: stride for i, stride in enumerate(strides)}
    for word, value in words.items():
        body.line(f"store i64 {value}, ptr {body.assign(f'getelementptr i64, ptr {block}, i64 {word}')}")
    for index, extent in enumerate(box):
        place = body.assign(f"getelementptr i8, ptr {block}, i64 {native.MAP_BOX * 8 + index * 2}")
        body.line(f"store i16 {body.assign(f'trunc i32 {extent} to i16')}, ptr {place}")


def _array(body: FunctionEmitter, type_: str, values: list[str]) -> str:
    place = body.fresh("list")
    body.entry_line(f"{place} = alloca [{max(len(values), 1)} x {type_}], align 8")
    for index, value in enumerate(values):
        body.line(f"store {type_} {value}, ptr {body.assign(f'getelementptr {type_}, ptr {place}, i64 {index}')}")
    return place


def _driver_map(
    module: ModuleEmitter, body: FunctionEmitter, entry: str, block: str, facts: tuple[str, int, str, str, str],
    modes: tuple[list[str], list[str], list[str]],
) -> str:  # fmt: skip
    """cuTensorMapEncodeTiled: no interleaving, element strides of one, zeros outside the tensor."""
    dtype, rank, base, swizzle, promotion = facts
    module.scope.add_global(entry, "global ptr null, align 8")
    function = body.assign(f"load ptr, ptr @{entry}")
    extents, strides = (_array(body, "i64", values) for values in modes[:2])
    box, ones = _array(body, "i32", modes[2]), _array(body, "i32", ["1"] * rank)
    code = body.assign(
        f"call i32 {function}(ptr {block}, i32 {dtype}, i32 {rank}, ptr {base}, ptr {extents}, ptr {strides}, "
        f"ptr {box}, ptr {ones}, i32 0, i32 {swizzle}, i32 {promotion}, i32 0)"
    )
    failed = body.assign(f"icmp ne i32 {code}, 0")
    return body.assign(f"select i1 {failed}, i32 {body.assign(f'add i32 {code}, {DRIVER_BASE}')}, i32 0")
