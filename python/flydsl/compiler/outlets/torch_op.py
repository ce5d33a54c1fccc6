"""`flyc.torch_op`: a jit function as an operator of PyTorch, which `torch.compile` and autograd treat as one of theirs.

torch wants to know of an operator its schema, what it writes, and what its results look like without running it. The
schema comes from the annotations, the rest from two options: ``mutates`` names tensors the caller passes in and the
function writes; ``returns`` names tensors that the operator makes itself and returns, and says how to make each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, get_args

from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, FlyDSLError, UnsupportedError
from flydsl.base.records import dataclass
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.messages.diagnostics import definition_of, located
from flydsl.compiler.options.hints import hint_scope
from flydsl.compiler.outlets.jit_call import chosen_names, jit_call, jit_function
from flydsl.expr.numeric import Boolean, Numeric
from flydsl.target.family import CUDA

NAMESPACE = "flydsl"
_CONSTANTS: dict[Any, str] = {int: "int", float: "float", bool: "bool", str: "str"}
_NO_DEFAULT = inspect.Parameter.empty


@located
def torch_op(
    fn: Any = None, *, name: str | None = None, mutates: Sequence[str] = (),
    returns: Mapping[str, Callable[..., Any]] | None = None, fake: Callable[..., Any] | None = None,
    backward: Callable[..., Any] | None = None, setup_context: Callable[..., Any] | None = None,
) -> Any:  # fmt: skip
    """Register a jit function as a torch operator; returns torch's `CustomOpDef`, which is called like the function.

    ``name`` is ``op`` or ``namespace::op`` (the function's name in ``flydsl``). ``mutates`` lists the tensor
    parameters that the function writes and the caller passes. ``returns`` maps each tensor parameter that the operator
    allocates and returns to a function that makes it from the arguments it names, ``{"y": lambda x: x.new_empty(4)}``.
    A stream parameter is not part of the operator: it gets torch's current stream. ``fake`` replaces the derived fake
    kernel, and ``backward`` with ``setup_context`` are given to `register_autograd`.
    """
    if fn is None:
        return partial(
            torch_op, name=name, mutates=mutates, returns=returns, fake=fake, backward=backward,
            setup_context=setup_context,
        )  # fmt: skip
    operator = _Operator.of(fn, _names(mutates, "mutates"), dict(returns or {}))
    torch = _torch()
    full_name = _free_name(torch, operator.fn, name)
    made = torch.library.custom_op(
        full_name, operator.implementation(torch), mutates_args=operator.mutates, schema=operator.schema
    )
    made.register_fake(fake if fake is not None else operator.outputs)
    if backward is not None:
        made.register_autograd(backward, setup_context=setup_context)
    return made


def _torch() -> Any:
    try:
        return import_module("torch")
    except ModuleNotFoundError:
        raise UnsupportedError(
            "flyc.torch_op needs PyTorch, which is not installed", hint="pip install torch"
        ) from None


def _names(names: Any, what: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise DslTypeError(f"{what}={names!r} is one string", hint=f"write {what}=({names!r},)")
    return tuple(names)


def _free_name(torch: Any, fn: JitFunction, name: str | None) -> str:
    """Return the operator's full name; torch itself would silently replace an operator of the same name."""
    space, _, own = (name if name is not None else fn.__name__).rpartition("::")
    space = space or NAMESPACE
    if not (space.isidentifier() and own.isidentifier()):
        raise DslValueError(f"name={name!r} is no operator name", hint="write 'op' or 'namespace::op'")
    if hasattr(getattr(torch.ops, space), own):
        raise DslValueError(f"torch has an operator {space}::{own} already", hint="choose another with name=")
    return f"{space}::{own}"


# Parameters ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Parameter:
    """A parameter of the jit function as torch sees it; ``kind`` is a type of torch's schemas, or Stream."""

    name: str
    kind: str
    default: Any = _NO_DEFAULT
    optional: bool = False

    def schema(self, mutation: str) -> str:
        text = f"{self.kind}{mutation}{'?' if self.optional else ''} {self.name}"
        return text if self.default is _NO_DEFAULT else f"{text}={_default_text(self.default)}"


def _default_text(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def _parameters(fn: JitFunction, chosen: Collection[str]) -> list[_Parameter]:
    """Return what torch is told of: all but those whose values a tuned function chooses itself."""
    signature = fn.signature
    inspected = inspect.signature(fn.func).parameters
    found = []
    rows = zip(signature.names, signature.annotations, signature.constexpr, signature.optional, strict=True)
    for name, annotation, fixed, optional in rows:
        if name in chosen:
            continue
        try:
            default = _plain(inspected[name].default)
            found.append(_Parameter(name, _schema_kind(annotation, fixed, default), default, optional))
        except FlyDSLError as error:
            message = f"parameter '{name}' of '{fn.__name__}' {error.message}"
            raise type(error)(message, hint=error.hint, location=definition_of(fn.func)) from None
    return found


def _plain(default: Any) -> Any:
    """Return a default as a plain Python number."""
    return default.value if isinstance(default, Numeric) and default.is_static() else default


def _schema_kind(annotation: Any, fixed: bool, default: Any) -> str:
    """Return the word torch's schemas have for a parameter."""
    if getattr(annotation, "__name__", "") == "Stream":
        return "Stream"
    if fixed:
        return _constant_kind(annotation, default)
    if getattr(annotation, "__name__", "") == "Tensor":
        return "Tensor"
    if isinstance(annotation, type) and issubclass(annotation, Numeric):
        # A run-time integer may be symbolic: torch then keeps a size open that is passed as one.
        return "bool" if annotation is Boolean else "SymInt" if annotation.is_integer else "float"
    if annotation is None:
        raise DslTypeError("has no annotation, and torch wants its type", hint="annotate it: fx.Tensor, fx.Int32, …")
    shown = getattr(annotation, "__name__", repr(annotation))
    raise DslTypeError(
        f"is a {shown}, which torch has no type for", hint="an operator takes tensors, numbers and Constexpr values"
    )


def _constant_kind(annotation: Any, default: Any) -> str:
    arguments = get_args(annotation)
    kind = arguments[0] if arguments else type(default)
    if kind not in _CONSTANTS:
        raise DslTypeError(
            "is compile-time, and torch cannot pass its value",
            hint="say which kind it is: fx.Constexpr[int], [float], [bool] or [str]; build others into the function",
        )
    return _CONSTANTS[kind]


# The operator ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Operator:
    """A jit function, and what torch is told about it."""

    fn: JitFunction
    called: Any
    """What a call of the operator calls: the jit function, or one that chooses the rest of its arguments."""
    parameters: tuple[_Parameter, ...]
    mutates: tuple[str, ...]
    returns: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]]
    """Tensors the operator makes: how, and from which arguments."""

    @classmethod
    def of(cls, fn: Any, mutates: tuple[str, ...], returns: dict[str, Callable[..., Any]]) -> _Operator:
        called, fn = fn, jit_function("flyc.torch_op", fn)
        parameters = _parameters(fn, chosen_names(called))
        tensors = [p.name for p in parameters if p.kind == "Tensor"]
        for option, names in (("mutates", mutates), ("returns", returns)):
            for wrong in [name for name in names if name not in tensors]:
                raise DslValueError(
                    f"{option} names '{wrong}', which is no tensor parameter of '{fn.__name__}'",
                    hint=f"its tensors are {', '.join(tensors) or 'none'}",
                )
        if both := sorted(set(mutates) & set(returns)):
            raise DslValueError(
                f"'{both[0]}' is in mutates and in returns", hint="a tensor is passed in or made, not both"
            )
        if not mutates and not returns:
            raise DslValueError(
                f"the operator of '{fn.__name__}' would have no effect that torch knows of, and be dropped",
                hint='name the tensors it writes: mutates=("y",), or returns={"y": lambda x: x.new_empty(x.shape)}',
            )
        taken = [p.name for p in parameters if p.name not in returns and p.kind != "Stream"]
        makers = {name: (maker, _wanted(name, maker, taken)) for name, maker in returns.items()}
        ordered = {p.name: makers[p.name] for p in parameters if p.name in makers}
        return cls(fn, called, tuple(parameters), mutates, ordered)

    @property
    def inputs(self) -> list[_Parameter]:
        """What the caller passes."""
        return [p for p in self.parameters if p.name not in self.returns and p.kind != "Stream"]

    @property
    def schema(self) -> str:
        marks = {name: f"(a{index}!)" for index, name in enumerate(self.mutates)}
        inputs = ", ".join(p.schema(marks.get(p.name, "")) for p in self.inputs)
        results = ", ".join("Tensor" for _ in self.returns)
        return f"({inputs}) -> {results if len(self.returns) == 1 else f'({results})'}"

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the caller's values by name; torch has checked them against the schema, and may leave defaults out."""
        values = {p.name: p.default for p in self.inputs if p.default is not _NO_DEFAULT}
        return {**values, **dict(zip((p.name for p in self.inputs), args, strict=False)), **kwargs}

    def outputs(self, *args: Any, **kwargs: Any) -> Any:
        """Return the results, allocated and not yet written; also the fake kernel."""
        return self._result(self._make(self.bound(args, kwargs)))

    def _make(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: maker(**{wanted: values[wanted] for wanted in arguments})
            for name, (maker, arguments) in self.returns.items()
        }

    def _result(self, made: Mapping[str, Any]) -> Any:
        tensors = tuple(made[name] for name in self.returns)
        return None if not tensors else tensors[0] if len(tensors) == 1 else tensors

    def implementation(self, torch: Any) -> Callable[..., Any]:
        """Return what torch runs: make the results, launch on the current stream."""
        compiled = -1
        """How much was compiled when a call was last looked at: what is new may write what torch was not told of."""

        def run(*args: Any, **kwargs: Any) -> Any:
            nonlocal compiled
            values = self.bound(args, kwargs)
            made = self._make(values)
            values |= made
            stream = self._stream(torch, values)
            arguments = [stream if p.kind == "Stream" else values[p.name] for p in self.parameters]
            by_position, by_name = self._given(arguments)
            try:
                if compiled < 0:
                    self._check_writes(arguments)
                self.called(*by_position, **by_name)
            except DslRuntimeError as error:
                self._advise(error, arguments)
                raise
            if len(self.fn.specialisations) != compiled:
                self._check_writes(arguments)
                compiled = len(self.fn.specialisations)
            return self._result(made)

        return run

    def _given(self, arguments: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Arguments as they are passed: by name where a tuned function adds others between them."""
        if self.called is self.fn:
            return self.fn.signature.split(arguments)
        return [], {p.name: value for p, value in zip(self.parameters, arguments, strict=True)}

    def _advise(self, error: FlyDSLError, arguments: list[Any]) -> None:
        """For a tensor without a unit stride; elsewhere from_dlpack would do, but here torch passes the tensors."""
        for parameter, value in zip(self.parameters, arguments, strict=True):
            if parameter.kind == "Tensor" and value is not None and value.numel() > 1 and 1 not in value.stride():
                error.hint = f"pass {parameter.name}.contiguous() to the operator"
                return

    def _check_writes(self, arguments: list[Any]) -> None:
        """Refuse code that writes a tensor of which torch believes that it stays as it is."""
        wanted = jit_call("flyc.torch_op", self.called, *self._given(arguments))
        call = self.fn.adapted_call(wanted.args, wanted.kwargs)
        with hint_scope(wanted.hints):
            executable = self.fn.executable(call, self.fn.effective_hints())
        if executable is None:
            return
        for name, write in call.known_writes(executable.artifact).items():
            if name not in self.mutates and name not in self.returns:
                raise DslValueError(
                    f"the operator of '{self.fn.__name__}' writes '{name}', which it does not say",
                    hint=f"torch relies on it: write mutates={(*self.mutates, name)!r}",
                    location=write.place,
                )

    def _stream(self, torch: Any, values: Mapping[str, Any]) -> int | None:
        """torch's current stream on the device of the tensors; the host has none."""
        tensors = [values[p.name] for p in self.parameters if p.kind == "Tensor"]
        device = next(tensor.device for tensor in tensors if tensor is not None)
        if device.type != CUDA.name:
            return None
        stream = torch.cuda.current_stream(device).cuda_stream
        if stream and all(p.kind != "Stream" for p in self.parameters):
            raise DslRuntimeError(
                f"'{self.fn.__name__}' takes no stream and would not wait for torch's current one",
                hint="give it a parameter stream: fx.Stream = None, and launch its kernels on it",
                location=definition_of(self.fn.func),
            )
        return stream


def _wanted(name: str, maker: Any, taken: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments that a maker of a result asks for, by its parameters' names."""
    if not callable(maker):
        raise DslTypeError(
            f"returns['{name}'] is a {type(maker).__name__}", hint="give a function: lambda x: x.new_empty(x.shape)"
        )
    wanted = tuple(inspect.signature(maker).parameters)
    for wrong in [argument for argument in wanted if argument not in taken]:
        raise DslValueError(
            f"the maker of '{name}' asks for '{wrong}', which the operator does not take",
            hint=f"it takes {', '.join(taken)}",
        )
    return wanted
