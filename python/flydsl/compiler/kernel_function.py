"""Kernels: device functions that a jit function launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from flydsl.base.attributes import attribute, has_attribute, is_numpy_scalar
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, SourceLocation, TargetError
from flydsl.base.lazy import lazy_module
from flydsl.compiler.arguments.adapting import Signature, check_constexpr
from flydsl.compiler.arguments.kinds import scalar_argument
from flydsl.compiler.messages.decorated import Decorated, check_decorated
from flydsl.compiler.messages.diagnostics import definition_of, explain, located, present, returning_line
from flydsl.compiler.options.hints import checked, hint_scope
from flydsl.dialects.fly.payload import CLUSTER
from flydsl.expr.numeric import Boolean, Int32, Int64, Integer, Numeric, operand
from flydsl.expr.trace.context import current, is_tracing, tracing
from flydsl.expr.trace.protocol import construct_from_ir_values, extract_to_ir_values
from flydsl.expr.trace.shared_ledger import SharedLedger
from flydsl.expr.values.handle import describe
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.numpy_scalar import python_value

if TYPE_CHECKING:
    from flydsl.compiler.rewrite import rewriter
    from flydsl.target import ptx
else:
    rewriter = lazy_module("flydsl.compiler.rewrite.rewriter")
    ptx = lazy_module("flydsl.target.ptx")


class KernelFunction(Decorated):
    """A function decorated with ``@flyc.kernel``. Calling it inside a jit function prepares a launch."""

    what = "a kernel"
    captured_parts = ("func", "name", "known_block_size")

    def __init__(self, func: Callable[..., Any], *, name: str | None = None,
                 known_block_size: Sequence[int] | None = None) -> None:  # fmt: skip
        super().__init__(func)
        self.name = name
        self.known_block_size = _block_size(known_block_size)
        self.signature = Signature(func)

    @property
    def _func(self) -> Callable[..., Any]:
        """The Python function. Kernels of the original set its name before a launch, to name what they emit."""
        return self.func

    @property
    def _name(self) -> str | None:
        return self.name

    @property
    def _known_block_size(self) -> tuple[int, int, int] | None:
        return self.known_block_size

    def __call__(self, *args: Any, unit_attrs: Sequence[str] | None = None, value_attrs: dict[str, Any] | None = None,
                 **kwargs: Any) -> KernelLauncher:  # fmt: skip
        try:
            self._check_place()
        except DslRuntimeError as error:
            if not is_tracing():
                present(error)
            raise
        values = self.signature.bind(args, kwargs)
        launcher = self.launcher(self, values, list(unit_attrs or ()), dict(value_attrs or {}))
        current().builder.waiting[launcher] = current().here()  # type: ignore[attr-defined]
        return launcher

    def _check_place(self) -> None:
        """Refuse a call that is not in a jit function."""
        if not is_tracing():
            raise DslRuntimeError(
                f"kernel '{self.__name__}' was called outside a jit function",
                hint=f"call it in a @flyc.jit function: {self.__name__}(...).launch(grid=..., block=...)",
            )
        if current().kernel_symbol is not None:  # type: ignore[attr-defined]
            raise DslRuntimeError(
                f"kernel '{self.__name__}' was called inside another kernel",
                hint="a plain function (or @flyc.jit) is inlined when called from a kernel",
            )

    @located
    def __getitem__(self, grid: Any) -> Any:
        raise DslTypeError(
            f"a kernel is not launched with {self.__name__}[grid]",
            hint=f"in a @flyc.jit function write {self.__name__}(...).launch(grid=..., block=...)",
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return BoundKernel(self, instance)

    def __repr__(self) -> str:
        return f"<flyc.kernel {self.__name__}>"

    @property
    def launcher(self) -> type[KernelLauncher]:
        """The launcher that a call of the kernel gives."""
        return KernelLauncher


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

    captured_parts = ("kernel", "instance")

    def __init__(self, kernel: KernelFunction, instance: Any) -> None:
        self.kernel = kernel
        self.instance = instance

    def __call__(self, *args: Any, **kwargs: Any) -> KernelLauncher:
        return self.kernel(self.instance, *args, **kwargs)


def _block_size(size: Sequence[int] | None) -> tuple[int, int, int] | None:
    if size is None:
        return None
    hint = "write known_block_size=(256, 1, 1)"
    if not isinstance(size, (tuple, list)):
        raise DslTypeError(f"known_block_size must be a sequence of 3 positive integers, got {size!r}", hint=hint)
    if len(size) != 3:
        raise DslValueError(f"known_block_size has exactly 3 elements, got {size!r}", hint=hint)
    known = [n.value if isinstance(n, Integer) and n.is_static() else n for n in size]
    if not all(type(n) is int for n in known):
        raise DslTypeError(f"each of known_block_size must be an int, got {size!r}", hint=hint)
    if any(n < 1 for n in known):
        raise DslValueError(f"known_block_size must be positive, got {tuple(known)}")
    return known[0], known[1], known[2]


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
    if not isinstance(part, Numeric) and has_attribute(part, "type"):
        part = Numeric.from_ir_value(part)
    if isinstance(part, (bool, float)) or (isinstance(part, Numeric) and not isinstance(part, Integer)):
        shown = describe(part) if isinstance(part, Numeric) else repr(part)
        raise DslTypeError(
            f"{what} extents must be integers, got {shown}",
            hint="`/` gives a float: divide with `//`, or round up with fx.ceildiv(n, 256)",
        )
    if isinstance(part, int):
        return part
    if isinstance(part, Integer):
        return int(part.value) if part.is_static() else part
    if has_attribute(part, "__index__"):
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
               value_attrs: dict[str, Any] | None = None, pdl: bool = False,
               cooperative: bool = False) -> None:  # fmt: skip
        """Emit the launch. Extents are ints or run-time integers; ``smem`` is in bytes.

        ``pdl`` (programmatic dependent launch) lets the kernel begin while the one before it on the stream ends; what
        that one writes may be read behind ``fx.nvvm.griddepcontrol_wait()``. A ``cooperative`` launch begins when all
        of its blocks can, so that they may wait for each other, whatever else runs on the GPU.
        """
        emitter: Any = current()
        emitter.builder.waiting.pop(self, None)
        target = emitter.target
        grid_dims, block_dims = _dims(grid, "grid"), _dims(block, "block")
        size = self._known_size(block_dims)
        check_launch(self.kernel.__name__, grid_dims, block_dims, target)
        check_attributes(self.kernel.__name__, {"pdl": pdl, "cooperative": cooperative}, target)
        clusters = None if cluster is None else _dims(cluster, "cluster")
        symbol, arguments = self._trace(emitter, size, [*self.unit_attrs, *(unit_attrs or ())],
                                        {**cluster_attribute(self.kernel.__name__, clusters, grid_dims, target),
                                         **self.value_attrs, **(value_attrs or {})})  # fmt: skip
        shared, shared_range = self._shared_bytes(emitter, symbol, smem)
        emitter.builder.launch(
            emitter,
            symbol,
            [_as_index(emitter, d) for d in grid_dims],
            [_as_index(emitter, d) for d in block_dims],
            shared,
            _stream_value(emitter, stream),
            arguments,
            [] if clusters is None else [_as_index(emitter, d) for d in clusters],
            dependent=pdl,
            cooperative=cooperative,
            shared_range=shared_range,
        )

    def _known_size(self, block: list[Any]) -> tuple[int, int, int] | None:
        known = self.kernel.known_block_size
        if not all(isinstance(n, int) for n in block):
            return known
        size = (block[0], block[1], block[2])
        if known is not None and known != size:
            raise DslValueError(
                f"kernel '{self.kernel.__name__}' is launched with block={size}, "
                f"which differs from known_block_size={known}",
                hint="make the two agree, or drop known_block_size",
            )
        return size

    def _shared_bytes(self, emitter: Any, symbol: str, smem: Any) -> tuple[Any, tuple[int, int] | None]:
        """Return the bytes of dynamic shared memory, and what they may be where only the launch knows them."""
        wanted = emitter.builder.dynamic_shared.get(symbol, 0)
        ledger = emitter.builder.shared_ledgers.get(symbol) or SharedLedger()
        given = None if smem is None else _byte_count(smem)
        ledger.check(symbol, emitter.target, given if isinstance(given, int) else wanted)
        if given is None:
            return (emitter.constant("i32", wanted) if wanted else None), None
        if not isinstance(given, int):
            return emitter.narrowed(Int64(given).ir_value()), (wanted, emitter.target.lds_bytes - ledger.fixed)
        if given < wanted:
            raise DslValueError(
                f"smem={given} bytes, but the kernel allocates {wanted} bytes of dynamic shared memory",
                hint="drop smem= to have it computed",
            )
        return Int32(given).ir_value(), None

    def _trace(
        self, emitter: Any, size: Any, unit_attrs: list[str], value_attrs: dict[str, Any]
    ) -> tuple[str, list[Any]]:
        key = (size, tuple(unit_attrs), repr(sorted(value_attrs.items())))
        if key not in self._traced:
            self._traced[key] = trace_kernel(self.kernel, self.values, emitter, size, unit_attrs, value_attrs)
        return self._traced[key]


def _byte_count(smem: Any) -> Any:
    """``smem=`` of a launch as a Python int or a run-time integer."""
    count = smem.unpack() if isinstance(smem, IntTuple) and smem.is_leaf else smem
    if not isinstance(count, Numeric) and has_attribute(count, "type"):
        count = Numeric.from_ir_value(count)
    if isinstance(count, Integer):
        if not count.is_static():
            return count
        count = int(count.value)
    if has_attribute(count, "__index__") and not isinstance(count, (bool, Numeric)):
        if int(count) < 0:
            raise DslValueError(f"smem={count}: a kernel cannot have fewer than 0 bytes of shared memory")
        return int(count)
    raise DslTypeError(
        f"smem= is a whole number of bytes, got {describe(smem)}", hint="write an int, or a run-time Int32"
    )


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
    for what, extents, limits in (("grid", grid, target.max_grid), ("block", block, target.max_block)):
        if any(isinstance(n, int) and n > most for n, most in zip(extents, limits, strict=True)):
            raise DslValueError(
                f"kernel '{kernel}' is launched with {what}={_shown(extents)}; {target.arch} allows up to {limits}",
                hint="use the first axis for the largest extent, or let a block do more",
            )


def check_attributes(kernel: str, asked: dict[str, Any], target: Any) -> None:
    """Refuse kinds of launches that the target does not have."""
    for name, value in asked.items():
        is_there, what, hint = _LAUNCHES[name]
        if not isinstance(value, bool):
            said = f"kernel '{kernel}' is launched with {name}={value!r}: it is known when compiling"
            raise DslTypeError(said, hint="write True or False")
        if value and not is_there(target):
            said = f"kernel '{kernel}' is launched with {name}=True, and {target.arch} has no {what}"
            raise TargetError(said, hint=hint)


_LAUNCHES: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "pdl": (lambda target: target.generation in ptx.PTX_OPS["griddepcontrol.wait"].generations, "dependent launches",
            "they belong to Hopper; drop pdl= here: launches on one stream run in order without it"),
    "cooperative": (lambda target: target.family.maker == "NVIDIA", "cooperative launches here",
                    "NVIDIA's GPUs have them; drop cooperative= here, and have blocks wait for earlier launches only"),
}  # fmt: skip
"""Kinds of launches: whether a target has them, what they are called, and what to do without."""


def cluster_attribute(kernel: str, cluster: list[Any] | None, grid: list[Any], target: Any) -> dict[str, Any]:
    """Return the attribute for a cluster of these extents, if the target can launch it."""
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
    value = attribute(stream, "value", stream)
    if value is None:
        return emitter.default_stream
    if isinstance(value, int):
        return emitter.op("llvm.inttoptr", [emitter.constant("i64", value)], "!llvm.ptr")
    return value


def trace_kernel(kernel: KernelFunction, values: list[Any], host: Any, size: Any, unit_attrs: list[str],
                 value_attrs: dict[str, Any]) -> tuple[str, list[Any]]:  # fmt: skip
    """Build the kernel for these arguments; its symbol and the SSA values to pass."""
    adapted = [_kernel_value(value, kernel.signature, index) for index, value in enumerate(values)]
    arguments = extract_to_ir_values(adapted)
    builder = host.builder
    symbol = builder.kernel_symbol(kernel.func.__name__, kernel.name)
    attributes = builder.attributes(unit_attrs, {**builder.kernel_attributes, **value_attrs})
    emitter = builder.kernel(symbol, arguments, size, attributes, kernel.func.__code__)
    parameters = zip(adapted, kernel.signature.names, strict=True)
    builder.name_arguments(emitter, [n for value, n in parameters for _ in extract_to_ir_values([value])])
    with tracing(emitter):
        try:
            inside = construct_from_ir_values(adapted, iter(emitter.entry.args))
            args, kwargs = kernel.signature.split(inside)
            result = rewriter.rewritten(kernel.func)(*args, **kwargs)
        except Exception as error:
            explain(error, kernel.func)
            raise
    if result is not None:
        raise DslTypeError(
            f"kernel '{kernel.__name__}' returns a value",
            hint="write results to a tensor argument and return nothing",
            location=returning_line(kernel.func),
        )
    builder.finish_kernel(emitter)
    return symbol, arguments


def _kernel_value(value: Any, signature: Signature, index: int) -> Any:
    """Return a kernel argument as a traced value; refuses host arrays, which have no place in a trace."""
    name = signature.names[index]
    if signature.constexpr[index] and index != signature.instance:
        try:
            check_constexpr(value, signature.annotations[index])
        except DslTypeError as error:
            error.message = f"argument '{name}': {error.message}"
            raise
    if is_numpy_scalar(value):
        return python_value(value) if signature.constexpr[index] else _number(value, signature.annotations[index], name)
    protocols = ("__array_interface__", "__dlpack__")
    if not isinstance(value, type) and any(has_attribute(value, protocol) for protocol in protocols):
        raise DslTypeError(
            f"argument '{name}' is a host array", hint="take it as a parameter of the jit function and pass that on"
        )
    return _widened(value, signature.annotations[index])


def _widened(value: Any, annotation: Any) -> Any:
    """Return a number as the annotated type, where that is no narrower, or a float for an integer; others as given."""
    if not (isinstance(annotation, type) and issubclass(annotation, Numeric)):
        return value
    number = operand(value)
    if number is None or type(number) is annotation or Boolean in (type(number), annotation):
        return value
    own = type(number)
    if own.is_float:
        fits = annotation.is_float and annotation.width > own.width
    else:
        fits = annotation.is_float or annotation.width >= own.width
    return annotation(value) if fits else value


def _number(value: Any, annotation: Any, name: str) -> Any:
    """Return a scalar of NumPy as a number of the annotated type, or else of its own."""
    argument = scalar_argument(value, annotation)
    if argument is None:
        raise DslTypeError(f"argument '{name}' is a {type(value).__name__}, which is no number of a kernel")
    argument.pack()
    return argument.dtype(argument.value)


class FuncLocationTracker:
    """The line where a function is defined, and lines in it, as the original's operations name them."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func

    @property
    def location(self) -> SourceLocation | None:
        """Where the function is defined."""
        return definition_of(self.func)

    def here(self) -> SourceLocation | None:
        """Return the line that is being traced; the definition where nothing is."""
        return (current().here() if is_tracing() else None) or self.location


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
    @located
    def compile_hints(hints: Mapping[str, Any]) -> AbstractContextManager[None]:
        """``with CompilationContext.compile_hints({...}):`` adds hints to what this thread compiles inside."""
        checked(hints)
        return hint_scope(hints)


@located
def kernel(func: Callable[..., Any] | None = None, *, name: str | None = None,
           known_block_size: Sequence[int] | None = None) -> Any:  # fmt: skip
    """Make a function a kernel: ``@flyc.kernel`` or ``@flyc.kernel(known_block_size=(256, 1, 1))``."""
    if func is None:
        return partial(kernel, name=name, known_block_size=known_block_size)
    check_decorated(func, "@flyc.kernel")
    return KernelFunction(func, name=name, known_block_size=known_block_size)
