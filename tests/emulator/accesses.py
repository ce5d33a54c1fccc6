"""Instructions that reach memory: scalar loads, global and buffer accesses, copies into shared memory, atomics."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tests.emulator.arena import Fault
from tests.emulator.disassembly import Instruction
from tests.emulator.operands import file_of, reader, register, scalar_reader
from tests.emulator.wave import M0, NONSENSE, Wave

Run = Callable[[Wave], Any]
SIZES = {
    "b8": 1, "u8": 1, "i8": 1, "ubyte": 1, "sbyte": 1, "byte": 1,
    "b16": 2, "u16": 2, "i16": 2, "ushort": 2, "sshort": 2, "short": 2,
    "b32": 4, "dword": 4, "b64": 8, "dwordx2": 8, "b96": 12, "dwordx3": 12, "b128": 16, "dwordx4": 16,
    "b256": 32, "dwordx8": 32, "b512": 64, "dwordx16": 64,
}  # fmt: skip
_SIGNED = ("i8", "i16", "sbyte", "sshort")


class Element(NamedTuple):
    """What an access moves for each lane: bytes of memory, and where they are in registers."""

    size: int
    signed: bool = False
    high: bool = False
    """Of 16 bits, whether it is the upper half of a register that takes part."""
    keeps: bool = False
    """Whether the other half stays."""

    @property
    def words(self) -> int:
        return -(-self.size // 4)


def element_of(name: str) -> Element:
    """The element of a name such as ``global_load_dwordx4``, ``ds_read_u16_d16_hi`` or ``buffer_store_b8``."""
    high, half = "d16_hi" in name, "d16" in name
    kind = re.sub(r"_?d16(_hi)?_?", "", name.split("_", 2)[2])
    return Element(SIZES[kind], kind in _SIGNED, high, half)


def _to_words(data: np.ndarray, element: Element, old: np.ndarray | None) -> np.ndarray:
    """Rows of bytes as rows of registers."""
    if element.size >= 4:
        return np.ascontiguousarray(data).view(np.uint32)
    unsigned = np.uint8 if element.size == 1 else np.uint16
    found = np.ascontiguousarray(data).view(unsigned)[:, 0]
    wide = found.view(np.int8 if element.size == 1 else np.int16).astype(np.int32).view(np.uint32) if element.signed \
        else found.astype(np.uint32)  # fmt: skip
    if element.keeps:
        assert old is not None
        half = wide & np.uint32(0xFFFF)
        wide = old & np.uint32(0xFFFF) | half << np.uint32(16) if element.high else old & np.uint32(0xFFFF0000) | half
    return wide[:, None]


class Target(NamedTuple):
    """Registers that lanes load into or store from."""

    file: str
    first: int

    def take(self, w: Wave, element: Element, mask: np.ndarray) -> np.ndarray:
        """Rows of bytes of lanes."""
        held = file_of(w, self.file)[self.first : self.first + element.words, mask]
        if element.size >= 4:
            return np.ascontiguousarray(held.T).view(np.uint8).reshape(held.shape[1], 4 * element.words)
        shifted = held[0] >> np.uint32(16 if element.high else 0)
        return np.ascontiguousarray(shifted).view(np.uint8).reshape(-1, 4)[:, : element.size]

    def keep(self, w: Wave, element: Element, mask: np.ndarray, data: np.ndarray) -> None:
        file = file_of(w, self.file)
        old = file[self.first, mask] if element.keeps else None
        file[self.first : self.first + element.words, mask] = _to_words(data, element, old).T

    def spoil(self, w: Wave, element: Element, mask: np.ndarray) -> None:
        """Hold nonsense until what is loaded is waited for."""
        if not element.keeps:
            file_of(w, self.file)[self.first : self.first + element.words, mask] = NONSENSE


def target_of(text: str) -> Target:
    place = register(text)
    assert place is not None and place.file in "va", text
    return Target(place.file, place.number)


def shared_places(w: Wave, offsets: np.ndarray, size: int) -> np.ndarray:
    if offsets.size and (offsets.min() < 0 or offsets.max() + size > len(w.group.lds)):
        raise Fault(f"an access of {size} bytes at {int(offsets.max())} of {len(w.group.lds)} bytes of shared memory")
    return offsets[:, None] + np.arange(size)


# Scalar loads ----------------------------------------------------------------------------------


def _scalar_load(one: Instruction) -> Run | None:
    found = re.fullmatch(r"s_(buffer_)?load_(\w+)", one.name)
    if found is None:
        return None
    buffer, size = bool(found[1]), SIZES[found[2]]
    place, base = register(one.operands[0]), scalar_reader(one.operands[1], 4 if buffer else 2)
    assert place is not None
    moved = scalar_reader(one.operands[2]) if len(one.operands) > 2 else (lambda w: 0)
    imm = one.number("offset")
    signed_offset = not buffer and len(one.operands) > 2 and register(one.operands[2]) is None
    words, step = -(-size // 4), size if "scale_offset" in one.modifiers else 1

    def run(w: Wave) -> None:
        offset = moved(w) * step
        if signed_offset and offset >> 31:
            offset -= 1 << 32
        start, at = base(w), offset + imm
        if buffer:
            wide = w.group.generation > 12
            records = start >> 57 & (1 << 45) - 1 if wide else start >> 64 & 0xFFFFFFFF
            start &= (1 << (57 if wide else 48)) - 1
            data = b"".join(
                w.group.arena.read(start + at + 4 * word, 4) if at + 4 * word + 4 <= records else bytes(4)
                for word in range(words)
            )
        else:
            data = w.group.arena.read(start + at & ~3 if size >= 4 else start + at, size)
        kept = int.from_bytes(data, "little")
        if found[2] in _SIGNED:
            kept = int.from_bytes(data, "little", signed=True) & 0xFFFFFFFF
        w.set_scalar(place.number, NONSENSE * sum(1 << 32 * word for word in range(words)), words)
        w.later("scalar", lambda: w.set_scalar(place.number, kept, words))

    return run


# Addresses -------------------------------------------------------------------------------------

Addresses = Callable[[Wave], tuple[np.ndarray, np.ndarray | None]]
"""(addresses of all lanes, for each of their words whether it is within a buffer: None where there is none)."""


def _flat_address(one: Instruction, place: int, size: int, generation: float) -> Addresses:
    """Addresses by the operand of that place, beside a base for all lanes, which is the last operand."""
    base = one.operands[-1]
    offset = one.number("offset")
    if base in ("off", "null"):
        wide = reader(one.operands[place], "l")
        return lambda w: (wide(w) + offset, None)
    start = scalar_reader(base, 2)
    if one.operands[place] == "off":
        return lambda w: (np.full(w.lanes, start(w) + offset, np.int64), None)
    narrow, step = reader(one.operands[place], "u"), size if "scale_offset" in one.modifiers else 1
    wanted = np.int32 if generation > 12 else np.uint32
    return lambda w: (narrow(w).view(wanted).astype(np.int64) * step + (start(w) + offset), None)


def _buffer_address(one: Instruction, place: int, size: int, generation: float) -> Addresses:
    """Addresses by a descriptor: raw buffers, whose words beyond the last are zeros and not written."""
    own = one.operands[place]
    offsets = None if own == "off" else reader(own, "u")
    descriptor, shared = scalar_reader(one.operands[place + 1], 4), scalar_reader(one.operands[place + 2])
    imm = one.number("offset")
    if "idxen" in one.modifiers:
        raise NotImplementedError(one.text)

    def addresses(w: Wave) -> tuple[np.ndarray, np.ndarray | None]:
        about, common = descriptor(w), shared(w)
        if generation > 12:
            start, records, stride = about & (1 << 57) - 1, about >> 57 & (1 << 45) - 1, about >> 108 & 0x3FFF
        else:
            start, stride, records = about & (1 << 48) - 1, about >> 48 & 0x3FFF, about >> 64 & 0xFFFFFFFF
            if generation > 9 and about >> 96 + 28 & 3 not in (2, 3):
                raise NotImplementedError(f"{one.text} of a structured buffer")
        if stride:
            raise NotImplementedError(f"{one.text} of a buffer with a stride")
        own_offset = offsets(w).astype(np.int64) if offsets else np.zeros(w.lanes, np.int64)
        at = own_offset + imm
        steps = np.arange(-(-size // 4))
        ends = at[:, None] + 4 * steps + min(size, 4)
        # The common offset counts from gfx10 on; on gfx9 what is left behind it does, which is the same.
        return at + (start + common), ends + common <= records

    return addresses


# Vector loads and stores -----------------------------------------------------------------------


def _fetched(w: Wave, addresses: Addresses, size: int) -> Callable[[], np.ndarray]:
    """What a load brings, read when it is waited for, by the addresses of now."""
    where, inside = addresses(w)
    mask, arena = w.mask.copy(), w.group.arena
    picked = where[mask]
    if inside is None:
        arena.places(picked, size)  # a fault is the instruction's own, not the wait's
        return lambda: arena.load(picked, size)
    within = inside[mask]

    def fetch() -> np.ndarray:
        data = np.zeros((len(picked), size), np.uint8)
        step = min(size, 4)
        for word in range(within.shape[1]):
            there = within[:, word]
            data[there, word * step : word * step + step] = arena.load(picked[there] + word * step, step)
        return data

    return fetch


def _load(one: Instruction, addresses: Addresses, element: Element, queue: str) -> Run:
    target = target_of(one.operands[0])

    def run(w: Wave) -> None:
        fetch, mask = _fetched(w, addresses, element.size), w.mask.copy()
        target.spoil(w, element, mask)
        w.later(queue, lambda: target.keep(w, element, mask, fetch()))

    return run


def _store(one: Instruction, addresses: Addresses, element: Element, place: int, queue: str) -> Run:
    target = target_of(one.operands[place])

    def run(w: Wave) -> None:
        where, inside = addresses(w)
        data, picked, arena = target.take(w, element, w.mask), where[w.mask], w.group.arena
        if inside is None:
            arena.store(picked, data)
        else:
            step = min(element.size, 4)
            for word in range(inside.shape[1]):
                there = inside[w.mask][:, word]
                arena.store(picked[there] + word * step, data[there, word * step : word * step + step])
        w.later(queue, lambda: None)

    return run


def _copy_into_shared(one: Instruction, addresses: Addresses, size: int, queue: str) -> Run:
    """A load whose data goes to shared memory: m0 says where, and lanes lie side by side."""
    imm = one.number("offset")

    def run(w: Wave) -> None:
        fetch, mask, lds = _fetched(w, addresses, size), w.mask.copy(), w.group.lds
        start = w.s[M0] + imm
        lanes = np.arange(w.lanes)[mask]

        def land() -> None:
            shared_places(w, start + lanes * size, size)
            lds[(start + lanes * size)[:, None] + np.arange(size)] = fetch()

        w.later(queue, land)

    return run


# Atomics ---------------------------------------------------------------------------------------


def _bf16_sum(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    kind = ml_dtypes.bfloat16
    total = old.view(kind).astype(np.float32) + new.view(kind).astype(np.float32)
    return total.astype(kind).view(np.uint16)


ATOMICS: dict[str, tuple[Any, int, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "add": (np.uint32, 4, lambda a, b: a + b), "add_u32": (np.uint32, 4, lambda a, b: a + b),
    "sub": (np.uint32, 4, lambda a, b: a - b), "sub_u32": (np.uint32, 4, lambda a, b: a - b),
    "and": (np.uint32, 4, lambda a, b: a & b), "and_b32": (np.uint32, 4, lambda a, b: a & b),
    "or": (np.uint32, 4, lambda a, b: a | b), "or_b32": (np.uint32, 4, lambda a, b: a | b),
    "xor": (np.uint32, 4, lambda a, b: a ^ b), "xor_b32": (np.uint32, 4, lambda a, b: a ^ b),
    "smax": (np.int32, 4, np.maximum), "max_i32": (np.int32, 4, np.maximum),
    "smin": (np.int32, 4, np.minimum), "min_i32": (np.int32, 4, np.minimum),
    "umax": (np.uint32, 4, np.maximum), "max_u32": (np.uint32, 4, np.maximum),
    "umin": (np.uint32, 4, np.minimum), "min_u32": (np.uint32, 4, np.minimum),
    "swap": (np.uint32, 4, lambda a, b: b), "swap_b32": (np.uint32, 4, lambda a, b: b),
    **{f"{name}_{kind}64": (number, 8, act) for kind, number in (("i", np.int64), ("u", np.uint64))
       for name, act in (("max", np.maximum), ("min", np.minimum))},
    "smax_x2": (np.int64, 8, np.maximum), "smin_x2": (np.int64, 8, np.minimum),
    "umax_x2": (np.uint64, 8, np.maximum), "umin_x2": (np.uint64, 8, np.minimum),
    "add_x2": (np.uint64, 8, lambda a, b: a + b), "add_u64": (np.uint64, 8, lambda a, b: a + b),
    "swap_x2": (np.uint64, 8, lambda a, b: b), "swap_b64": (np.uint64, 8, lambda a, b: b),
    "add_f32": (np.float32, 4, lambda a, b: a + b), "add_f64": (np.float64, 8, lambda a, b: a + b),
    "max_num_f32": (np.float32, 4, np.fmax), "min_num_f32": (np.float32, 4, np.fmin),
    "pk_add_f16": (np.float16, 4, lambda a, b: a + b), "pk_add_bf16": (np.uint16, 4, _bf16_sum),
}  # fmt: skip


def _atomic(one: Instruction, kind: str, place: int, addresses: Addresses, queue: str, *, returns: bool) -> Run:
    swaps_if = kind.startswith("cmpswap")
    size = 8 if kind.endswith(("x2", "64")) and swaps_if else ATOMICS[kind][1] if not swaps_if else 4
    given = target_of(one.operands[place])
    into = target_of(one.operands[0]) if returns else None
    element = Element(size)

    def run(w: Wave) -> None:
        where, inside = addresses(w)
        data = given.take(w, Element(size * (2 if swaps_if else 1)), w.mask)
        picked, arena, old = where[w.mask], w.group.arena, np.zeros((int(w.mask.sum()), size), np.uint8)
        for lane, address in enumerate(picked):  # one after the other, as lanes may meet
            if inside is not None and not inside[w.mask][lane].all():
                continue
            before = arena.load(np.array([address]), size)
            old[lane] = before[0]
            if swaps_if:  # the new value, then what is compared
                after = data[lane : lane + 1, :size] if (before[0] == data[lane, size:]).all() else before
            else:
                number, _, act = ATOMICS[kind]
                mine = np.ascontiguousarray(data[lane : lane + 1]).view(number)
                after = np.ascontiguousarray(act(before.view(number), mine)).view(np.uint8)
            arena.store(np.array([address]), after)
        if into is None:
            w.later(queue, lambda: None)
        else:
            mask, result = w.mask.copy(), old
            into.spoil(w, element, mask)
            w.later(queue, partial(into.keep, w, element, mask, result))

    return run


def _memory_access(one: Instruction, generation: float) -> Run | None:
    found = re.fullmatch(r"(global|flat|buffer)_(load|store|atomic)_(\w+)", one.name)
    if found is None or one.name.startswith(("global_load_tr", "global_load_async", "buffer_load_format")):
        return None
    space, verb, kind = found[1], found[2], found[3]
    buffer = space == "buffer"
    loads, stores = "load", "store" if generation > 9 else "load"

    def at(place: int, size: int) -> Addresses:
        return _buffer_address(one, place, size, generation) if buffer else _flat_address(one, place, size, generation)

    if verb == "load":
        if kind.startswith("lds_") or "lds" in one.modifiers:
            size = SIZES[kind.removeprefix("lds_")]
            return _copy_into_shared(one, at(0, size), size, loads)
        element = element_of(one.name)
        return _load(one, at(1, element.size), element, loads)
    if verb == "store":
        element = element_of(one.name)
        return _store(one, at(1 if buffer else 0, element.size), element, 0 if buffer else 1, stores)
    returns = bool({"sc0", "glc"} & set(one.modifiers)) or "RETURN" in one.modifiers.get("th", "")
    first = 1 if returns and not buffer else 0
    width = 8 if "x2" in kind or "64" in kind else 4
    queue = loads if returns else stores
    if buffer:  # the data's registers are the result's
        return _atomic(one, kind, 0, at(1, width), queue, returns=returns)
    return _atomic(one, kind, first + 1, at(first, width), queue, returns=returns)


def memory_instruction(one: Instruction, generation: float) -> Run | None:
    """What an instruction that reaches memory does; None where it is none that is known."""
    if one.name.startswith(("buffer_inv", "buffer_wb", "global_inv", "global_wb", "s_dcache", "buffer_gl", "s_icache")):
        return lambda w: None
    return _scalar_load(one) or _memory_access(one, generation)
