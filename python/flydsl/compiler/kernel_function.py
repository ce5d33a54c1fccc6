"""Kernels: device functions that a jit function launches."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, SourceLocation
from flydsl.compiler.diagnostics import calling_location, user_errors
from flydsl.compiler.hints import hint_scope
from flydsl.compiler.rewrite.rewriter import rewritten
from flydsl.compiler.signature import Signature
from flydsl.dialects.fly.payload import CLUSTER
from flydsl.expr.context import current, is_tracing, tracing
from flydsl.expr.int_tuple import IntTuple
from flydsl.expr.numeric import Int32, Integer, Numeric
from flydsl.expr.protocol import construct_from_ir_values, extract_to_ir_values


class KernelFunction:
    """A function decorated with ``@flyc.kernel``. Calling it inside a jit function prepares a launch."""

    def __init__(self, func: Callable[..., Any], *, name: str | None = None,
                 known_block_size: Sequence[int] | None = None) -> None:  # fmt: skip
        self.func = func
        self.name = name
        self.known_block_size = _block_size(known_block_size)
        self.signature = Signature(func)
        self.__name__ = func.__name__
        self.__doc__ = func.__doc__
        self.__wrapped__ = func

    def __call__(self, *args: Any, unit_attrs: Sequence[str] | None = None, value_attrs: dict[str, Any] | None = None,
                 **kwargs: Any) -> KernelLauncher:  # fmt: skip
        if not is_tracing():
            raise DslRuntimeError(
                f"kernel '{self.__name__}' was called outside a jit function",
                hint=f"call it in a @flyc.jit function: {self.__name__}(...).launch(grid=..., block=...)",
                location=calling_location(),
            )
        if current().kernel_symbol is not None:  # type: ignore[attr-defined]
            raise DslRuntimeError(
                f"kernel '{self.__name__}' was called inside another kernel",
                hint="a plain function (or @flyc.jit) is inlined when called from a kernel",
            )
        values = self.signature.bind(args, kwargs)
        launcher = KernelLauncher(self, values, list(unit_attrs or ()), dict(value_attrs or {}))
        current().builder.waiting[launcher] = current().here()  # type: ignore[attr-defined]
        return launcher

    def __getitem__(self, grid: Any) -> Any:
        raise DslTypeError(
            f"a kernel is not launched with {self.__name__}[grid]",
            hint=f"in a @flyc.jit function write {self.__name__}(...).launch(grid=..., block=...)",
            location=calling_location() if not is_tracing() else None,
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return BoundKernel(self, instance)

    def __repr__(self) -> str:
        return f"<flyc.kernel {self.__name__}>"


def refuse_waiting(waiting: Mapping[KernelLauncher, SourceLocation | None]) -> None:
    """An error for a kernel that was called and never launched: it would silently do nothing."""
    for launcher, location in waiting.items():
        name = launcher.kernel.__name__
        raise DslRuntimeError(
            f"kernel '{name}' is called here but never launched",
            hint=f"write {name}(...).launch(grid=..., block=...)",
            location=location,
        )


class BoundKernel:
    """A kernel used as a method."""

    def __init__(self, kernel: KernelFunction, instance: Any) -> None:
        self.kernel = kernel
        self.instance = instance

    def __call__(self, *args: Any, **kwargs: Any) -> KernelLauncher:
        return self.kernel(self.instance, *args, **kwargs)


def _block_size(size: Sequence[int] | None) -> tuple[int, int, int] | None:
    if size is None:
        return None
    if not isinstance(size, (tuple, list)) or len(size) != 3 or not all(type(n) is int for n in size):
        raise DslTypeError(
            f"known_block_size must be three ints, got {size!r}", hint="write known_block_size=(256, 1, 1)"
        )
    if any(n < 1 for n in size):
        raise DslValueError(f"known_block_size must be positive, got {tuple(size)}")
    return size[0], size[1], size[2]


Dim = Any


def _dims(spec: Dim, what: str) -> list[Any]:
    """Up to three extents as Python ints or run-time integers."""
    parts = list(spec) if isinstance(spec, (tuple, list)) else [spec]
    if isinstance(spec, IntTuple) and not spec.is_leaf:
        parts = [spec[i] for i in range(spec.rank)]
    if not 1 <= len(parts) <= 3:
        raise DslValueError(f"{what} takes one to three extents, got {len(parts)}")
    return [_extent(part, what) for part in parts] + [1] * (3 - len(parts))


def _extent(part: Any, what: str) -> Any:
    if isinstance(part, IntTuple):
        part = part.unpack()
    if isinstance(part, (bool, float)):
        raise DslTypeError(f"{what} extents must be integers, got {part!r}")
    if isinstance(part, int):
        return part
    if isinstance(part, Integer):
        return int(part.value) if part.is_static() else part
    if hasattr(part, "type"):
        return Numeric.from_ir_value(part)
    if hasattr(part, "__index__"):
        return int(part)
    raise DslTypeError(f"{what} extents must be integers, got {type(part).__name__}", hint=f"write {what}=(n, 1, 1)")


class KernelLauncher:
    """A kernel with its arguments, waiting for ``launch``."""

    def __init__(
        self, kernel: KernelFunction, values: list[Any], unit_attrs: list[str], value_attrs: dict[str, Any]
    ) -> None:
        self.kernel = kernel
        self.values = values
        self.unit_attrs = unit_attrs
        self.value_attrs = value_attrs
        self._traced: dict[Any, tuple[str, list[Any]]] = {}

    def launch(self, *, grid: Dim = (1, 1, 1), block: Dim = (1, 1, 1), smem: Any = None, stream: Any = None,
               cluster: Dim = None, unit_attrs: Sequence[str] | None = None,
               value_attrs: dict[str, Any] | None = None) -> None:  # fmt: skip
        """Emit the launch. Extents are ints or run-time integers; ``smem`` is in bytes."""
        emitter: Any = current()
        emitter.builder.waiting.pop(self, None)
        target = emitter.target
        grid_dims, block_dims = _dims(grid, "grid"), _dims(block, "block")
        size = self._known_size(block_dims)
        check_launch(self.kernel.__name__, grid_dims, block_dims, target)
        clusters = None if cluster is None else _dims(cluster, "cluster")
        symbol, arguments = self._trace(emitter, size, [*self.unit_attrs, *(unit_attrs or ())],
                                        {**cluster_attribute(self.kernel.__name__, clusters, grid_dims, target),
                                         **self.value_attrs, **(value_attrs or {})})  # fmt: skip
        shared = self._shared_bytes(emitter, symbol, smem)
        emitter.builder.launch(
            emitter,
            symbol,
            [_as_index(emitter, d) for d in grid_dims],
            [_as_index(emitter, d) for d in block_dims],
            shared,
            _stream_value(emitter, stream),
            arguments,
            [] if clusters is None else [_as_index(emitter, d) for d in clusters],
        )

    def _known_size(self, block: list[Any]) -> tuple[int, int, int] | None:
        known = self.kernel.known_block_size
        if not all(isinstance(n, int) for n in block):
            return known
        size = (block[0], block[1], block[2])
        if known is not None and known != size:
            raise DslValueError(
                f"kernel '{self.kernel.__name__}' states known_block_size={known} but is launched with block={size}",
                hint="make the two agree, or drop known_block_size",
            )
        return size

    def _shared_bytes(self, emitter: Any, symbol: str, smem: Any) -> Any:
        wanted = emitter.builder.dynamic_shared.get(symbol, 0)
        ledger = emitter.builder.shared_ledgers.get(symbol)
        if ledger is not None:
            ledger.check(symbol, emitter.target, smem if isinstance(smem, int) else wanted)
        if smem is None:
            return emitter.constant("i32", wanted) if wanted else None
        if isinstance(smem, int) and smem < wanted:
            raise DslValueError(
                f"smem={smem} bytes, but the kernel allocates {wanted} bytes of dynamic shared memory",
                hint="drop smem= to have it computed",
            )
        return Int32(smem).ir_value()

    def _trace(
        self, emitter: Any, size: Any, unit_attrs: list[str], value_attrs: dict[str, Any]
    ) -> tuple[str, list[Any]]:
        key = (size, tuple(unit_attrs), tuple(sorted(value_attrs.items())))
        if key not in self._traced:
            self._traced[key] = trace_kernel(self.kernel, self.values, emitter, size, unit_attrs, value_attrs)
        return self._traced[key]


def check_launch(kernel: str, grid: list[Any], block: list[Any], target: Any) -> None:
    """Refuse constant extents that no device of this target can launch."""
    if any(isinstance(n, int) and n < 0 for n in grid):
        raise DslValueError(f"kernel '{kernel}' is launched with the negative grid {tuple(grid)}")
    static = [n for n in block if isinstance(n, int)]
    threads = 1
    for n in static:
        threads *= n
    if any(n < 1 for n in static):
        raise DslValueError(
            f"kernel '{kernel}' is launched with block={_shown(block)}: a block needs at least one thread",
            hint="give every block extent at least 1",
        )
    if threads > target.max_block_threads:
        raise DslValueError(
            f"kernel '{kernel}' is launched with block={_shown(block)}, {threads} threads; "
            f"{target.arch} allows {target.max_block_threads}",
            hint="use smaller blocks and a larger grid",
        )


def cluster_attribute(kernel: str, cluster: list[Any] | None, grid: list[Any], target: Any) -> dict[str, Any]:
    """The attribute for a cluster of these extents, if the target can launch it."""
    if cluster is None:
        return {}
    if not all(isinstance(n, int) and n >= 1 for n in cluster):
        raise DslValueError(f"kernel '{kernel}' is launched with cluster={_shown(cluster)}: extents are constants")
    blocks = cluster[0] * cluster[1] * cluster[2]
    if blocks > target.max_cluster_blocks:
        limit = target.max_cluster_blocks
        having = f"{target.arch} allows {limit} blocks" if limit > 1 else f"{target.arch} has no clusters"
        raise DslValueError(f"kernel '{kernel}' is launched with cluster={_shown(cluster)}, {blocks} blocks; {having}")
    for have, step in zip(grid, cluster, strict=True):
        if isinstance(have, int) and have % step:
            raise DslValueError(
                f"kernel '{kernel}' is launched with grid={_shown(grid)}, "
                f"which clusters of {_shown(cluster)} do not divide"
            )
    return {CLUSTER: ",".join(map(str, cluster))} if blocks > 1 else {}


def _shown(dims: list[Any]) -> str:
    return "(" + ", ".join(str(n) if isinstance(n, int) else "?" for n in dims) + ")"


def _as_index(emitter: Any, extent: Any) -> Any:
    if isinstance(extent, int):
        return emitter.constant("index", extent)
    if str(extent.dtype.ir_type) == "index":
        return extent.ir_value()
    cast = "arith.index_cast" if extent.dtype.signed else "arith.index_castui"
    return emitter.op(cast, [extent.ir_value()], "index")


def _stream_value(emitter: Any, stream: Any) -> Any:
    value = getattr(stream, "value", stream)
    if value is None:
        return emitter.default_stream
    if isinstance(value, int):
        return emitter.op("llvm.inttoptr", [emitter.constant("i64", value)], "!llvm.ptr")
    return value


def trace_kernel(kernel: KernelFunction, values: list[Any], host: Any, size: Any, unit_attrs: list[str],
                 value_attrs: dict[str, Any]) -> tuple[str, list[Any]]:  # fmt: skip
    """Build the kernel for these arguments; its symbol and the SSA values to pass."""
    adapted = [_kernel_value(v, name) for v, name in zip(values, kernel.signature.names, strict=True)]
    arguments = extract_to_ir_values(adapted)
    builder = host.builder
    symbol = builder.kernel_symbol(kernel.__name__, kernel.name)
    attributes = builder.attributes(unit_attrs, {**builder.kernel_attributes, **value_attrs})
    emitter = builder.kernel(symbol, arguments, size, attributes, kernel.func.__code__)
    if knobs.SANITIZE.get():
        parameters = zip(adapted, kernel.signature.names, strict=True)
        builder.name_arguments(emitter, [n for value, n in parameters for _ in extract_to_ir_values([value])])
    with tracing(emitter), user_errors(kernel.func):
        inside = construct_from_ir_values(adapted, iter(emitter.entry.args))
        result = rewritten(kernel.func)(*inside)
    if result is not None:
        raise DslTypeError(
            f"kernel '{kernel.__name__}' returns a value", hint="write results to a tensor argument and return nothing"
        )
    builder.finish_kernel(emitter)
    return symbol, arguments


def _kernel_value(value: Any, name: str) -> Any:
    """A kernel argument as a traced value; refuses host arrays, which have no place in a trace."""
    if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        raise DslTypeError(
            f"argument '{name}' is a host array", hint="take it as a parameter of the jit function and pass that on"
        )
    return value


class CompilationContext:
    """The compilation under way, as older kernels ask for it."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    @staticmethod
    def get_current() -> CompilationContext:
        emitter: Any = current()
        return CompilationContext(emitter.builder)

    @property
    def gpu_module_body(self) -> Any:
        """The block that holds the kernels."""
        return self.builder.gpu_module_body

    @property
    def gpu_module_op(self) -> Any:
        return self.builder.gpu_module_op

    @staticmethod
    def compile_hints(hints: Mapping[str, Any]) -> AbstractContextManager[None]:
        """``with CompilationContext.compile_hints({...}):`` adds hints to what this thread compiles inside."""
        return hint_scope(hints)


def kernel(func: Callable[..., Any] | None = None, *, name: str | None = None,
           known_block_size: Sequence[int] | None = None) -> Any:  # fmt: skip
    """Make a function a kernel: ``@flyc.kernel`` or ``@flyc.kernel(known_block_size=(256, 1, 1))``."""
    if func is None:
        return lambda f: KernelFunction(f, name=name, known_block_size=known_block_size)
    if not inspect.isfunction(func):
        raise DslTypeError(f"@flyc.kernel decorates a function, got {type(func).__name__}")
    return KernelFunction(func, name=name, known_block_size=known_block_size)
