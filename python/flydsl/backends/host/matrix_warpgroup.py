"""wgmma on the host: tiles are read from shared memory by their descriptors, as the hardware reads them.

Four waves take part. Where they run apart, each leaves its registers in the arrays and the last one to come asks for
the product of all. It lands when a wave waits for its group (`asynchrony`); until then the registers hold handles,
which are no numbers, and the wait puts the numbers in their place.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from flydsl.backends.host import fibers
from flydsl.backends.host.matrix_elements import read_elements, stored_kind, widened
from flydsl.backends.host.matrix_lanes import LoopText, Operand, dense_places, gather, scatter
from flydsl.backends.host.matrix_registers import LaneRegisters, block_product, lane_registers, result_registers
from flydsl.backends.host.thread_loops import Workgroup
from flydsl.base.records import replace
from flydsl.codegen.module_scope import ModuleScope
from flydsl.target.dtype import is_float, width_bits
from flydsl.target.mma_facts import elem_bits
from flydsl.target.mma_warpgroup import SWIZZLE_MODES, THREADS, Wgmma
from flydsl.target.wgmma_operand import CHUNK, ROWS, row_bits

_ROW_BYTES = (16, 128, 64, 32)
_SWIZZLE_BITS = (0, 3, 2, 1)
"""Of each swizzle code in a descriptor."""


def multiply_warpgroups(wg: Workgroup, op: Operation, facts: Wgmma) -> None:
    """Run the instruction for every warpgroup, or for the one this wave belongs to."""
    in_memory = facts.a_source == "shared"
    once = ("a", "b", "scale_d") if in_memory else ("b", "scale_d")
    registers = lane_registers(wg, op, facts.inline_asm(), once)  # type: ignore[arg-type]
    result = result_registers(wg, op.results[0])
    words = facts.tv_layouts()[2][1].size() * width_bits(facts.elem_c) // 32
    kept = replace(result, bytes=4 * words)  # accumulators under way lie close together
    sources = [registers["a"], registers["b"], kept, kept, registers["scale_d"]]
    name = f"fly.{facts}".replace("!", "").replace(" ", "") + f".{registers['a'].bytes}"
    scope = wg.module.scope
    symbol = scope.helper(name, lambda text: _text(scope, facts, sources, text))

    def one(first: str) -> None:
        place = {role: operand.address(wg, first) for role, operand in registers.items()}
        for role in ("a", "b") if in_memory else ("b",):
            _check_place(wg, op, place[role])
        site, tickets = _tickets(wg, op, facts, place)
        group = wg.body.assign(f"udiv i64 {wg.work.thread(first)}, {THREADS}")
        unfenced = wg.work.ask(
            "i1", "product_issue", f"i64 {group}", f"ptr {symbol}", f"ptr {place['a']}",
            f"i64 {8 if in_memory else THREADS * registers['a'].bytes}", f"ptr {place['b']}", f"ptr {place['c']}",
            f"i64 {registers['c'].bytes}", f"ptr {result.address(wg, first)}", f"i64 {result.bytes}", f"i64 {words}",
            f"ptr {place['scale_d']}", "ptr %scratch", f"i64 {site}", *tickets,
        )  # fmt: skip
        if wg.sanitizer is not None:
            wg.sanitizer.require_fence(op, unfenced, first)

    if wg.apart:
        _last_of_group(wg, op, one)
        return
    groups = wg.body.assign(f"udiv i64 {wg.threads}, {THREADS}")
    wg.loop(groups, "group", lambda index: one(wg.body.assign(f"mul nuw nsw i64 {index}, {THREADS}")))


def _tickets(wg: Workgroup, op: Operation, facts: Wgmma, place: dict[str, str]) -> tuple[int, list[str]]:
    """Return (place of the product, tickets of the tiles it reads) for the checker."""
    watched = wg.sanitizer
    if watched is None:
        return 0, ["i64 0", "i64 0"]
    m, n, k = facts.shape_mnk
    tickets = ["i64 0"] if facts.a_source != "shared" else []
    values = {slot.role: value for slot, value in zip(facts.inline_asm().slots, op.operands, strict=False)}
    for role, rows, elem, major in (("a", m, facts.elem_a, facts.major_a), ("b", n, facts.elem_b, facts.major_b)):
        if role == "b" or facts.a_source == "shared":
            descriptor = wg.body.assign(f"load i64, ptr {place[role]}, align 1")
            extents = (rows, k, elem_bits(elem) // 8)
            tickets.append(f"i64 {watched.tile(op, values[role], descriptor, extents, major == 'k')}")
    return watched.product_site(op), tickets


MISPLACED_TILE = """\
wgmma cannot read this tile: it does not start with the first row of a swizzle atom
align tiles to 1024 bytes with 128B swizzle, to 512 with 64B, to 256 with 32B; steps inside the first row are free"""


def _check_place(wg: Workgroup, op: Operation, place: str) -> None:
    """Our descriptors have a base offset of 0: the hardware takes the first row to be the first of an atom."""
    symbol = wg.module.scope.helper("fly.misplaced_tile", _misplaced)
    wg.fail_if(wg.body.assign(f"call i1 {symbol}(ptr {place})"), op, MISPLACED_TILE)


def _misplaced(symbol: str) -> str:
    """Return the function that says whether the tile of a descriptor begins inside of an atom."""
    text = LoopText()
    descriptor = text.assign("load i64, ptr %place, align 1")
    code = text.assign(f"lshr i64 {descriptor}, 62")
    rows = "0"
    for name, mode in SWIZZLE_MODES.items():
        same = text.assign(f"icmp eq i64 {code}, {mode.code}")
        rows = text.assign(f"select i1 {same}, i64 {row_bits(name) // CHUNK}, i64 {rows}")
    inside = text.assign(f"and i64 {descriptor}, {rows}")
    text.line(f"ret i1 {text.assign(f'icmp ne i64 {inside}, 0')}")
    return text.function(f"i1 {symbol}(ptr %place)")


def _last_of_group(wg: Workgroup, op: Operation, multiply: Callable[[str], None]) -> None:
    """The wave that completes its warpgroup multiplies; the others wait for it."""
    body = wg.body
    group = body.assign(f"udiv i64 {wg.first}, {THREADS}")
    number = body.assign(f"add i64 {group}, {fibers.FIRST_GROUP}")
    step = body.assign(f"mul i64 {number}, {fibers.COUNTER_BYTES}")
    counter = body.assign(f"getelementptr i8, ptr {wg.shared.counters}, i64 {step}")
    before = body.assign(f"load i32, ptr {counter}")
    arrived = body.assign(f"add i32 {before}, {wg.target.wave_size}")
    last = body.assign(f"icmp uge i32 {arrived}, {THREADS}")
    work, meet = body.fresh_label("multiply"), body.fresh_label("meet")
    body.branch_if(last, work, meet)
    body.start_block(work)
    multiply(body.assign(f"mul nuw nsw i64 {group}, {THREADS}"))
    body.branch(meet)
    body.start_block(meet)
    generation = body.assign(f"call i32 @fly.count_in(ptr {counter}, i32 {wg.target.wave_size}, i32 {THREADS})")
    status = fibers.site(wg, op)
    body.line(f"call void @fly.wait_counter(ptr %run, ptr {counter}, i32 {generation}, i32 {status})")


# The function ----------------------------------------------------------------------------------


def _text(scope: ModuleScope, facts: Wgmma, sources: list[LaneRegisters], symbol: str) -> str:
    m, n, k = facts.shape_mnk
    acc = "float" if is_float(facts.elem_c) else "i32"
    text = LoopText()
    for name, size in (("%A", m * k), ("%B", k * n), ("%D", m * n)):
        text.line(f"{name} = alloca [{size} x {acc}], align 64")
    layouts = facts.tv_layouts()
    if facts.a_source == "shared":
        _read_tile(scope, text, facts.elem_a, facts.major_a, ("%a", "%A"), (m, k), acc, transposed=False)
    else:
        places = dense_places(layouts[0], m, k, row_major=True)
        gather(scope, text, Operand(facts.elem_a, sources[0].bytes, layouts[0][1].size(), places), "%a", "%A", acc)
    _read_tile(scope, text, facts.elem_b, facts.major_b, ("%b", "%B"), (n, k), acc, transposed=True)
    places = dense_places(layouts[2], m, n, row_major=True)
    held = layouts[2][1].size()
    gather(scope, text, Operand(facts.elem_c, sources[2].bytes, held, places), "%c", "%D", acc)
    _scale(text, acc, m * n)
    block_product(text, acc, (m, n, k), "0")
    scatter(scope, text, Operand(facts.elem_c, sources[3].bytes, held, places), "%d", "%D", acc)
    text.line("ret void")
    return text.function(f"void {symbol}(ptr %a, ptr %b, ptr %c, ptr %d, ptr %scale, ptr %smem) noinline")


def _scale(text: LoopText, acc: str, count: int) -> None:
    """scale-d 0 forgets what the accumulators held."""
    kept = text.assign(f"icmp ne i32 {text.assign('load i32, ptr %scale')}, 0")
    choice = f"select i1 {kept}, {acc} {{}}, {acc} zeroinitializer"
    text.change(acc, "%D", count, lambda number: text.assign(choice.format(number)))


def _read_tile(
    scope: ModuleScope, text: LoopText, elem: str, major: str, names: tuple[str, str], extents: tuple[int, int],
    acc: str, *, transposed: bool,
) -> None:  # fmt: skip
    """A tile (MN, K) in shared memory into a dense matrix, row by row or, transposed, K by K."""
    size, (rows, depth) = elem_bits(elem) // 8, extents
    descriptor = text.assign(f"load i64, ptr {names[0]}")
    fields = _fields(text, descriptor)

    def cell(row: str, k: str) -> None:
        at = _offset(text, fields, row, k, size, major)
        address = text.assign(f"getelementptr i8, ptr %smem, i64 {_swizzled(text, fields, at)}")
        raw = read_elements(text, stored_kind(elem), address, (0,))
        number = widened(scope, text, elem, raw, 1, acc, not elem.startswith("u"))
        line, length, along = (k, rows, row) if transposed else (row, depth, k)
        index = f"add i64 {text.assign(f'mul i64 {line}, {length}')}, {along}"
        place = text.assign(f"getelementptr {acc}, ptr {names[1]}, i64 {text.assign(index)}")
        text.line(f"store <1 x {acc}> {number}, ptr {place}")

    text.loop(rows, lambda row: text.loop(depth, lambda k: cell(row, k)))


def _fields(text: LoopText, descriptor: str) -> dict[str, str]:
    """Start, leading and stride offsets in bytes, row bytes and swizzle mask."""
    found = {}
    for name, low in (("start", 0), ("leading", 16), ("stride", 32)):
        bits = text.assign(f"and i64 {text.assign(f'lshr i64 {descriptor}, {low}')}, 16383")
        found[name] = text.assign(f"shl i64 {bits}, 4")
    code = text.assign(f"lshr i64 {descriptor}, 62")
    for name, table in (("row", _ROW_BYTES), ("bits", _SWIZZLE_BITS)):
        value = str(table[0])
        for number in range(1, 4):
            same = text.assign(f"icmp eq i64 {code}, {number}")
            value = text.assign(f"select i1 {same}, i64 {table[number]}, i64 {value}")
        found[name] = value
    power = text.assign(f"shl i64 1, {found['bits']}")
    found["mask"] = text.assign(f"sub i64 {power}, 1")
    found["plain"] = text.assign(f"icmp eq i64 {code}, 0")
    return found


def _offset(text: LoopText, fields: dict[str, str], row: str, k: str, size: int, major: str) -> str:
    """Return where the canonical layouts put element (row, k), before the swizzle."""
    if major == "k":
        byte = text.assign(f"mul i64 {k}, {size}")
        chunk, inside = text.assign(f"udiv i64 {byte}, {CHUNK}"), text.assign(f"urem i64 {byte}, {CHUNK}")
        step = text.assign(f"select i1 {fields['plain']}, i64 {fields['leading']}, i64 {CHUNK}")
        terms = [
            (text.assign(f"udiv i64 {row}, {ROWS}"), fields["stride"]),
            (text.assign(f"urem i64 {row}, {ROWS}"), fields["row"]),
            (chunk, step),
        ]
    else:
        byte = text.assign(f"mul i64 {row}, {size}")
        block, inside = (text.assign(f"{op} i64 {byte}, {fields['row']}") for op in ("udiv", "urem"))
        across = text.assign(f"select i1 {fields['plain']}, i64 {fields['stride']}, i64 {fields['leading']}")
        down = text.assign(f"select i1 {fields['plain']}, i64 {fields['leading']}, i64 {fields['stride']}")
        terms = [
            (block, across),
            (text.assign(f"udiv i64 {k}, {ROWS}"), down),
            (text.assign(f"urem i64 {k}, {ROWS}"), fields["row"]),
        ]
    total = text.assign(f"add i64 {fields['start']}, {inside}")
    for count, stride in terms:
        total = text.assign(f"add i64 {total}, {text.assign(f'mul i64 {count}, {stride}')}")
    return total


def _swizzled(text: LoopText, fields: dict[str, str], address: str) -> str:
    high = text.assign(f"and i64 {text.assign(f'lshr i64 {address}, 7')}, {fields['mask']}")
    return text.assign(f"xor i64 {address}, {text.assign(f'shl i64 {high}, 4')}")
