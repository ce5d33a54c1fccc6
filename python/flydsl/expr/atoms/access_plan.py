"""What a copy without an atom does: which accesses it is made of, and why they are not wider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DSLCompileError, DslTypeError
from flydsl.base.records import dataclass
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.expr.tensors.predicate import predicate_over
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import current
from flydsl.expr.values.handle import describe
from flydsl.layout import int_tuple as it
from flydsl.layout.accesses import Access, accesses, spots
from flydsl.layout.swizzle import ComposedLayout, Swizzle, linear_part
from flydsl.layout.tensor import Tensor as TensorPayload
from flydsl.target.dtype import storage_bytes, width_bits
from flydsl.target.memory_access import WIDEST, instructions
from flydsl.target.target import Target


@dataclass(frozen=True)
class SidePlan:
    """The accesses to one side of a copy: their instructions, and why there are more of them than bytes need."""

    space: str
    accesses: tuple[tuple[str, int, int], ...]
    """(instruction, bytes of one, how many), widest first."""
    reason: str | None

    @property
    def bytes_per_access(self) -> int:
        """The bytes that the widest access moves."""
        return max(size for _, size, _ in self.accesses)

    @property
    def count(self) -> int:
        """How many instructions there are."""
        return sum(count for _, _, count in self.accesses)

    @property
    def instruction(self) -> str:
        """The name of the widest instruction."""
        return self.accesses[0][0]

    def __str__(self) -> str:
        said = ", ".join(f"{count} x {name} ({size} bytes)" for name, size, count in self.accesses)
        return said if self.reason is None else f"{said}\n    not wider: {self.reason}"


@dataclass(frozen=True)
class CopyPlan:
    """How a thread copies a tensor: its reads and its writes, None for a side in registers."""

    elements: int
    dtype: str
    target: str
    reads: SidePlan | None
    writes: SidePlan | None

    def _one(self, what: str) -> Any:
        sides = [side for side in (self.reads, self.writes) if side is not None]
        return [getattr(side, what) for side in sides]

    @property
    def bytes_per_access(self) -> int:
        """The bytes of the widest access of the side whose accesses are narrower; 0 among registers."""
        return min(self._one("bytes_per_access"), default=0)

    @property
    def count(self) -> int:
        """How many memory instructions there are."""
        return sum(self._one("count"))

    def __str__(self) -> str:
        lines = [f"copy of {self.elements} {self.dtype} on {self.target}"]
        for name, side in (("reads", self.reads), ("writes", self.writes)):
            lines.append(f"  {name}: {'registers' if side is None else side}")
        return "\n".join(lines)


def copy_plan(src: Any, dst: Any, pred: Any = None) -> CopyPlan:
    """Return the accesses that ``fx.copy(src, dst, pred)`` is made of on the target being traced, and why not wider
    ones."""
    check_sides(src, dst)
    target = current().target
    keys = None if pred is None else predicate_over(pred, src.payload).picks
    return CopyPlan(rules.size(src.payload), src.payload.iter.elem, str(target),
                    _side(src.payload, "source", "load", target, keys),
                    _side(dst.payload, "destination", "store", target, keys))  # fmt: skip


def check_sides(src: Any, dst: Any) -> None:
    """Refuse a copy whose sides do not correspond, element by element."""
    for tensor, name in ((src, "source"), (dst, "destination")):
        if not isinstance(tensor, Tensor) or not tensor.is_memory:
            raise DslTypeError(f"the {name} of a copy must be a tensor over memory, got {describe(tensor)}",
                               hint="fx.copy(src, dst), or fx.copy(atom, src, dst)")  # fmt: skip
        if not isinstance(rules.size(tensor.payload), int):
            raise DSLCompileError(
                f"copy needs tensors of static shape, the {name} is {tensor.payload.layout}",
                hint="divide it into tiles of static size, fx.zipped_divide, and copy one at a time",
            )
    if src.dtype.ir_type != dst.dtype.ir_type:
        raise DslTypeError(
            f"a copy does not convert: the source holds {src.dtype.__name__}, the destination {dst.dtype.__name__}",
            hint="load() the source, convert the vector with .to(dtype), and store() it",
        )
    shapes = [rules.shape_of(tensor.payload) for tensor in (src, dst)]
    modes = [[it.product(mode) for mode in (shape if isinstance(shape, tuple) else (shape,))] for shape in shapes]
    if modes[0] != modes[1] and not (1 in map(len, modes) and it.product(shapes[0]) == it.product(shapes[1])):
        raise DSLCompileError(
            f"copy of a source of shape {it.to_text(shapes[0])} into a destination of shape {it.to_text(shapes[1])}: "
            "coordinates correspond mode by mode",
            hint="partition or slice both sides the same way",
        )


def _made(tensor: TensorPayload, writes: bool, keys: Sequence[int] | None) -> list[Access]:
    """Choose accesses as the lowering does (`passes/shared/vector_access.py`)."""
    pointer: pl.Pointer = tensor.iter
    size = storage_bytes(pointer.elem)
    widest = WIDEST if width_bits(pointer.elem) >= 8 else size
    return accesses(spots(tensor.layout), size, pointer.align, widest, keys, writes, pointer.swizzle is not None)


def _side(tensor: TensorPayload, name: str, kind: str, target: Target, keys: Sequence[int] | None) -> SidePlan | None:
    space = tensor.iter.space
    if space == "register":
        return None
    made = _made(tensor, kind == "store", keys)
    size = storage_bytes(tensor.iter.elem)
    found = Counter(
        instruction
        for access in made
        for instruction in instructions(target, space, kind, len(access.positions) * size, access.align)
    )
    ordered = sorted(((name, size, count) for (name, size), count in found.items()), key=lambda row: (-row[1], row[0]))
    needed = -(-sum(len(access.positions) for access in made) * size // WIDEST)
    reason = _reason(tensor, name, made, keys) if sum(found.values()) > needed else None
    return SidePlan(space, tuple(ordered), reason)


# Why not wider ---------------------------------------------------------------------------------


def _reason(tensor: TensorPayload, name: str, made: list[Access], keys: Sequence[int] | None) -> str:
    """Return the first thing that stands in the way of wider accesses, and what would remove it."""
    pointer: pl.Pointer = tensor.iter
    size = storage_bytes(pointer.elem)
    wanted = min(WIDEST // size, rules.size(tensor))
    longest = max(len(access.positions) for access in made)
    if width_bits(pointer.elem) < 8:
        return f"the {name} holds {pointer.elem}, whose elements are addressed one by one; recast it to bytes"
    if keys is not None and longest < wanted and max(len(a.positions) for a in _made(tensor, False, None)) > longest:
        return (f"the predicate decides about {longest} {_elements(longest)} at a time; "
                f"one for each {wanted} neighbours lets them share an access")  # fmt: skip
    if longest >= wanted:
        return _misaligned(tensor, name, made, wanted * size)
    if pointer.swizzle is not None and pointer.swizzle.together < wanted * size:
        return (f"the {name}'s pointer is swizzled by {pointer.swizzle}, which keeps {pointer.swizzle.together} bytes "
                f"together; a base of {(wanted * size).bit_length() - 1} keeps {wanted * size}")  # fmt: skip
    return _apart(tensor, name, longest, wanted)


def _elements(count: int) -> str:
    return "element" if count == 1 else "elements"


def _apart(tensor: TensorPayload, name: str, longest: int, wanted: int) -> str:
    layout = tensor.layout
    swizzles = []
    while isinstance(layout, ComposedLayout):
        swizzles.append(layout.inner)
        layout = layout.outer
    narrow = next((s for s in swizzles if isinstance(s, Swizzle) and s.together < wanted), None)
    if narrow is not None:
        return (f"the swizzle {narrow} of the {name} keeps {narrow.together} {_elements(narrow.together)} together; "
                f"a base of {wanted.bit_length() - 1} keeps {wanted}")  # fmt: skip
    modes = [(extent, stride) for extent, stride in linear_part(tensor.layout).flat() if extent != 1]
    if not any(stride == 1 for _, stride in modes):
        if any(not isinstance(stride, int) for _, stride in modes):
            return (f"the strides of the {name} {layout} are known at run time only; mark the contiguous mode "
                    "static (its stride is 1), or copy along another mode")  # fmt: skip
        least = min(abs(stride) for _, stride in modes)
        return (f"no mode of the {name} {layout} has stride 1: neighbours lie {least} elements apart; "
                "give each thread elements along the contiguous mode")  # fmt: skip
    return (f"{longest} {_elements(longest)} of the {name} {layout} lie side by side; "
            f"give each thread {wanted} along the mode of stride 1")  # fmt: skip


def _misaligned(tensor: TensorPayload, name: str, made: list[Access], wanted: int) -> str:
    """Enough elements lie side by side, but their addresses are not certainly multiples of what an access wants."""
    pointer: pl.Pointer = tensor.iter
    size = storage_bytes(pointer.elem)
    worst = min(access.align for access in made)
    for number, (extent, stride) in enumerate(linear_part(tensor.layout).flat()):
        if extent == 1 or stride == 1:
            continue
        if not isinstance(stride, int):
            if stride.div * size % wanted:
                return (f"the {name} has a run-time stride in mode {number}, known to be a multiple of {stride.div} "
                        f"{_elements(stride.div)}, so a row starts at {worst}-byte alignment; state that it is a "
                        f"multiple of {wanted // size}")  # fmt: skip
        elif stride * size % wanted:
            padded = -(-stride // (wanted // size)) * (wanted // size)
            return (f"the {name} has stride {stride} elements in mode {number}, so a row starts at {worst}-byte "
                    f"alignment; pad to {padded}")  # fmt: skip
    return (f"the {name} starts at an address known to be a multiple of {pointer.align} bytes only; "
            f"t.aligned({wanted}) or from_dlpack(x, assumed_align={wanted}) says more, and so does a row stride "
            f"that is a multiple of {wanted // size} elements")  # fmt: skip


__all__ = ["CopyPlan", "SidePlan", "copy_plan"]
