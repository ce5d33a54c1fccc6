"""Names that people bring along from NumPy, torch, CUDA, Triton and CuTe, and what to write here instead.

Plain tables, by the kind of value the name was asked of. They are read only when a lookup has failed, so a wrong name
costs nothing until then. A name that no table has is answered with the nearest one that exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from flydsl.base.errors import DslAttributeError
from flydsl.expr.gpu import Tuple3D
from flydsl.expr.numeric import Numeric, NumericMeta
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.values.foreign import function_here
from flydsl.expr.values.handle import Handle
from flydsl.expr.values.vector_value import Vector

_READ = "read elements first: t[i] is one, t.load() those of a small tile as a vector"
_CONVERT = "write x.to(fx.Float16) (or another fx type)"


def _each(names: str, advice: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), advice)


TENSOR: Mapping[str, str] = {
    **_each("mT transpose permute swapaxes", "write t.T, or fx.select(t, [1, 0]) for any order of the modes"),
    **_each("size numel nelement", "fx.size(t) is the number of elements, t.shape[i] the extent of a mode"),
    **_each("ndim dim", "t.rank is the number of modes"),
    **_each("strides", "t.stride[i] is the stride of a mode, in elements"),
    **_each(
        "reshape view flatten ravel unflatten squeeze unsqueeze expand broadcast_to contiguous",
        "fx.make_view(fx.get_iter(t), fx.make_layout(shape, stride)) is the same memory under another layout",
    ),
    **_each(
        "sum mean prod max min any all argmax argmin norm cumsum dot matmul mm",
        't.load().reduce("add") is over the elements of a small tile, fx.coop.BlockReduce over the threads of a block, '
        "and fx.gemm multiplies tiles",
    ),
    **_each(
        "to astype float half double int long bool bfloat16",
        "memory keeps its element type; convert what is read: t[i].to(fx.Float16), t.load().to(fx.Float16)",
    ),
    **_each("data_ptr data ptr iterator", "fx.get_iter(t) is the pointer to its first element"),
    **_each("item tolist numpy cpu cuda device is_cuda", f"its elements are known when the kernel runs; {_READ}"),
    **_each("clone copy copy_", "fx.copy(atom, source, target) copies, and target.store(source.load()) a small tile"),
    **_each("fill_ zero_", "t.fill(0) sets the elements of a small tile"),
    **_each("tile partition", "fx.zipped_divide(t, fx.make_layout(4, 1))[None, i] is the i-th tile of 4"),
}
VECTOR: Mapping[str, str] = {
    **_each("sum", 'write v.reduce("add")'),
    **_each("prod", 'write v.reduce("mul")'),
    **_each("mean", 'write v.reduce("add") / v.numel'),
    **_each("max amax", 'write v.reduce("max")'),
    **_each("min amin", 'write v.reduce("min")'),
    **_each("any", 'write v.reduce("or")'),
    **_each("all", 'write v.reduce("and")'),
    **_each("size nelement", "v.numel is the number of elements"),
    **_each("ndim dim", "len(v.shape) is the number of modes"),
    **_each("astype float half int", "write v.to(fx.Float16) (or another fx type)"),
    **_each("view", "v.bitcast(dtype) reads the same bits as another type, v.reshape(...) has another shape"),
    **_each("T transpose permute", "v.shuffle(v, order) puts the elements in another order"),
    **_each("item tolist numpy", "v[i] is one element; their values are known when the kernel runs"),
    **_each("flatten ravel", "write v.reshape(v.numel)"),
}
NUMBER: Mapping[str, str] = {
    **_each("astype cast float half double int long", _CONVERT),
    **_each("view", "x.bitcast(fx.Int32) reads the same bits as another type"),
    **_each("item tolist numpy", "x is a number already; a run-time one is known when the kernel runs"),
    **_each("bit_count", "write fx.ctpop(x)"),
    **_each("bit_length", "write x.width - fx.ctlz(x)"),
}
CLASS: Mapping[str, str] = {
    **_each("max min inf nan eps finfo iinfo", "write the number: fx.Float32(float('inf')), fx.Int32(2**31 - 1)"),
    **_each("itemsize nbytes bytes", "write dtype.width // 8"),
}
INDEX: Mapping[str, str] = _each("w", "an index has .x, .y and .z")
LANGUAGE: Mapping[str, str] = {
    **_each("program_id", "fx.block_idx.x is the number of the workgroup, and fx.thread_idx.x of the thread in it"),
    **_each("num_programs", "write fx.grid_dim.x"),
    **_each("arange", "each thread has its own index, fx.thread_idx.x; fx.make_identity_tensor(shape) has coordinates"),
    **_each("threadIdx", "write fx.thread_idx"),
    **_each("blockIdx", "write fx.block_idx"),
    **_each("blockDim", "write fx.block_dim"),
    **_each("gridDim", "write fx.grid_dim"),
    **_each("syncthreads sync_threads __syncthreads debug_barrier", "write fx.barrier()"),
    **_each("cdiv", "write fx.ceil_div(a, b)"),
    **_each("where", "write condition.select(a, b), or a if condition else b"),
    **_each("maximum", "write fx.max(a, b)"),
    **_each("minimum", "write fx.min(a, b)"),
    **_each("abs", "write abs(x)"),
    **_each("pow power", "write x ** y"),
    **_each("sum", 'write vector.reduce("add"), or fx.coop.BlockReduce over the threads of a block'),
    **_each("dot matmul", "fx.gemm(mma, d, a, b, c) multiplies tiles"),
    **_each("load", "t[i] reads an element, t.load() a small tile as a vector"),
    **_each("store", "t[i] = x writes an element, t.store(vector) a small tile"),
    **_each("zeros", "write fx.full(n, 0, dtype), a vector, or fx.make_rmem_tensor(shape, dtype)"),
    **_each("ones", "write fx.full(n, 1, dtype)"),
    **_each(
        "atomic_add atomicAdd atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_cas atomicCAS",
        'fx.atomic("add", t, x, at=i) adds x to t[i] and gives what was there before; other operations are "min", '
        '"max", "and", "or", "xor", "exchange" and "compare_exchange"',
    ),
    **_each(
        "local_tile local_partition",
        "fx.zipped_divide(t, fx.make_layout(4, 1))[None, i] is the i-th tile of 4; "
        "tiled.get_slice(fx.thread_idx.x).partition_S(tile) a thread's part of it",
    ),
    **_each("arch", "fx.thread_idx.x, fx.block_idx.x, fx.barrier(), fx.lane_id() and fx.shuffle_xor are fx's own"),
    **_each("static_range", "write fx.range_constexpr(...)"),
    **_each("print", "write fx.printf(...)"),
    **_each("sigmoid", "write 1 / (1 + fx.exp(-x))"),
    **_each("float16 half", "write fx.Float16"),
    **_each("bfloat16", "write fx.BFloat16"),
    **_each("float32 float", "write fx.Float32"),
    **_each("float64 double", "write fx.Float64"),
    **_each("int8", "write fx.Int8"),
    **_each("int16", "write fx.Int16"),
    **_each("int32 int", "write fx.Int32"),
    **_each("int64", "write fx.Int64"),
    **_each("uint8", "write fx.Uint8"),
    **_each("uint32", "write fx.Uint32"),
    **_each("bool", "write fx.Boolean"),
}
"""Of the module fx itself."""


def wrong_name(value: Any, name: str) -> DslAttributeError | None:
    """Return the error for a name that a value of ours lacks; None for any other value."""
    if name.startswith("__") and name.endswith("__"):
        return None
    found = _kind(value)
    if found is None:
        return None
    what, advice = found
    hint = advice.get(name)
    if hint is None and not isinstance(value, (ModuleType, type)) and (function := function_here(name)) is not None:
        hint = f"write {function}({_READING.get(type(value), 'x')})"
    return DslAttributeError(f"{what} has no '{name}'", hint=hint or _nearest(name, _public(value)))


_READING = {Tensor: "t[i]", Vector: "v"}


def _kind(value: Any) -> tuple[str, Mapping[str, str]] | None:
    if isinstance(value, ModuleType):
        return ("fx", LANGUAGE) if value.__name__ == "flydsl.expr" else None
    if isinstance(value, NumericMeta):
        return f"the number type {value}", CLASS
    if isinstance(value, Numeric):
        return f"a{'n' if str(type(value))[0] == 'I' else ''} {type(value)}", NUMBER
    if isinstance(value, Vector):
        return "a vector", VECTOR
    if isinstance(value, Tuple3D):
        return "an index of the hardware", INDEX
    if isinstance(value, Handle):
        article = "an" if value.kind[0] in "aeiou" else "a"
        return f"{article} {value.kind}", TENSOR if isinstance(value, Tensor) else {}
    return None


def _public(value: Any) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]


def _nearest(name: str, names: Iterable[str]) -> str:
    """Return the name that was probably meant, or all there are when none is near."""
    found = list(names)
    by_case = {existing.lower(): existing for existing in found}
    near = import_module("difflib").get_close_matches(name.lower(), by_case, 1)
    if near:
        return f"did you mean '{by_case[near[0]]}'?"
    return f"it has: {', '.join(found)}" if len(found) < 40 else "docs/language.md lists what there is"
