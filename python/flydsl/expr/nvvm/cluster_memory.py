"""Memory of others: the shared memory of another block of the cluster, and a symmetric tensor on all ranks at once."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.memory.symmetric import Symmetric
from flydsl.expr.numeric import BFloat16, Float16, Float32, Int16, Int32, Int64, Numeric
from flydsl.expr.nvvm.barriers import issue, shared_address
from flydsl.expr.tensors.ops_memory import inttoptr, ptrtoint
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import pointer_of
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.handle import apply, describe
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.vector import Vector
from flydsl.target.ptx import ASYNC_WORD, CLUSTER_WIDTHS, MULTIMEM_BYTES, cluster_form

_WORDS: dict[int, type[Numeric]] = {16: Int16, 32: Int32, 64: Int64}


def _remote(place: Any, size: int, block: Any) -> Value:
    """Return the address of the same place, and of as many bytes from there on, in another block's shared memory."""
    return issue("mapa", [shared_address(pointer_of(place, size), "the place"), Int32(block).ir_value()])


def _pointer(place: Any) -> Pointer:
    pointer = pointer_of(place, plain="an exchange between the blocks of a cluster")
    if not isinstance(pointer, Pointer):
        raise DslTypeError(f"blocks of a cluster exchange what a pointer or tensor leads to, got {describe(place)}")
    return pointer


def _words(kind: type[Numeric], lanes: int) -> tuple[type[Numeric], int]:
    """Return the integers, and how many, that some elements are moved as."""
    form = cluster_form(kind.width, lanes)
    if form is None:
        raise DslTypeError(
            f"blocks of a cluster exchange {', '.join(map(str, CLUSTER_WIDTHS))} bits at once, and {lanes} of "
            f"{kind.__name__} are {kind.width * lanes}",
            hint="move numbers of 16 to 64 bits or vectors of up to 128, or recast the pointer",
        )
    return _WORDS[form[0]], form[1]


def _name(direction: str, word: type[Numeric], count: int) -> str:
    return f"{direction}.cluster.{'' if count == 1 else f'v{count}.'}b{word.width}"


def cluster_load(place: Any, block: Any, dtype: Any = None) -> Any:
    """Return what block ``block`` of the cluster has at this place of its shared memory: a number of the place's type.

    With a vector type (``Float32x4``), as many as it has lanes, up to 128 bits; they lie at a multiple of their size.
    """
    wanted: Any = _pointer(place).dtype if dtype is None else dtype
    is_vector = hasattr(wanted, "lanes")
    kind, lanes = (wanted.dtype, wanted.lanes) if is_vector else (wanted, 1)
    word, count = _words(kind, lanes)
    found = issue(_name("ld", word, count), [_remote(place, kind.width * lanes // 8, block)])
    fields = [found]
    if count > 1:
        text = str(word.ir_type)
        fields = [current().op("llvm.extractvalue", [found], text, {"position": [i]}) for i in range(count)]
    values = Vector.from_elements([word(field) for field in fields], word).bitcast(kind)
    return values if is_vector else values[0]


def cluster_store(value: Any, place: Any, block: Any, barrier: Any = None) -> None:
    """Write a number, or a vector of up to 128 bits, to this place of the shared memory of block ``block``.

    A number is converted to the type of the place. A vector is written as it is, at a multiple of its size. With
    ``barrier``, the place of an mbarrier, the bytes complete a phase of that block's, as those of a bulk copy do: who
    waits for it sees them, and no barrier of the cluster is needed. They are 32 bits at least then.
    """
    kind = _pointer(place).dtype
    values = value if isinstance(value, Vector) else Vector.from_elements([kind(value)], kind)
    word, count = _words(values.dtype, values.numel)
    parts = [part.ir_value() for part in values.reshape((values.numel,)).bitcast(word)]
    address = _remote(place, values.dtype.width * values.numel // 8, block)
    if barrier is None:
        issue(_name("st", word, count), [address, *parts])
        return
    if word.width < ASYNC_WORD:
        raise DslTypeError(
            f"with an mbarrier told, blocks of a cluster exchange {ASYNC_WORD} bits and more, and {values.numel} of "
            f"{values.dtype.__name__} are {values.dtype.width * values.numel}",
            hint="convert the number to 32 bits, or write two of 16 bits as a vector",
        )
    issue(_name("st.async", word, count), [address, *parts, _remote(barrier, 8, block)])


# All ranks -------------------------------------------------------------------------------------

_KINDS: dict[type[Numeric], tuple[str, type[Numeric]]] = {
    Float32: ("f32", Float32), Float16: ("f16x2", Int32), BFloat16: ("bf16x2", Int32),
}  # fmt: skip
"""A type to its name in the instruction, and to the registers that hold it."""


def _address(x: Symmetric, at: Any) -> Value:
    """Return the address, on all ranks at once, of an element."""
    if not isinstance(x, Symmetric):
        raise DslTypeError(
            f"the memory of all ranks is that of a symmetric tensor, got {describe(x)}", hint="pass an fx.Symmetric"
        )
    base = inttoptr(apply("get_iter", x.local).payload, x.table[x.world])
    coord = IntTuple.from_python(at, "make_coord")
    return ptrtoint(base + apply("crd2idx", coord, apply("get_layout", x.local))).ir_value()


def _kind(dtype: type[Numeric]) -> tuple[str, type[Numeric]]:
    if dtype not in _KINDS:
        raise DslTypeError(
            f"the memory of all ranks is added as {', '.join(kind.__name__ for kind in _KINDS)}, not {dtype.__name__}",
            hint="give the type of the elements with dtype=",
        )
    return _KINDS[dtype]


def multimem_load_reduce(x: Symmetric, at: Any, dtype: type[Numeric] | None = None) -> Vector:
    """Return the sum over all ranks of 16 bytes of a symmetric tensor, from the coordinate ``at`` on: a vector of
    ``dtype``.

    It is added in f32 in an order that the switch chooses, and rounded once; ranks that need the same bits let one of
    them add, and store to all. The address is a multiple of 16. Ranks must have met (`rank_barrier`) since the last
    write. The tensor must have a multicast address: ``rank.multicast`` says whether its memory does.
    """
    kind = x.local.dtype if dtype is None and isinstance(x, Symmetric) else dtype
    name, word = _kind(kind or Float32)
    found = issue(f"multimem.ld_reduce.{name}", [_address(x, at)])
    text = str(word.ir_type)
    parts = [current().op("llvm.extractvalue", [found], text, {"position": [i]}) for i in range(4)]
    vector = Vector.from_elements([word(part) for part in parts], word)
    return vector if word is kind else vector.bitcast(kind)


def multimem_store(value: Vector, x: Symmetric, at: Any) -> None:
    """Write a vector of 16 bytes to a symmetric tensor on all ranks, from the coordinate ``at`` on."""
    if not isinstance(value, Vector) or value.numel * value.dtype.width != 8 * MULTIMEM_BYTES:
        raise DslTypeError(
            f"a store to all ranks writes a vector of {MULTIMEM_BYTES} bytes, got {describe(value)}",
            hint="write 4 Float32 or 8 Float16 at once",
        )
    name, word = _kind(value.dtype)
    parts = value.reshape((value.numel,))
    parts = parts if word is value.dtype else parts.bitcast(word)
    issue(f"multimem.st.{name}", [_address(x, at), *(part.ir_value() for part in parts)])


__all__ = ["cluster_load", "cluster_store", "multimem_load_reduce", "multimem_store"]
