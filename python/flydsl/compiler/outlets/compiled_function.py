"""`flyc.compile`: a specialisation as a callable of its own, which looks nothing up.

Making one launches it once with the arguments it was made from. A call of it reads its arguments, checks that they are
what the code was compiled for, and enters native code. It does not see later changes of hints, environment or captured
values: it is the code it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from flydsl.base import knobs
from flydsl.base.errors import DslTypeError, DslValueError, FlyDSLError
from flydsl.base.lazy import lazy_module
from flydsl.compiler.arguments.argument_form import ConstantForm, Form, NoneForm, StreamForm
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.calls.call import Call
from flydsl.compiler.calls.launch_code import Launch, Parameter, launch_function
from flydsl.compiler.jit_function import BoundJit, JitFunction
from flydsl.compiler.messages.diagnostics import definition_of, located, present
from flydsl.compiler.options.hints import Hints, check_mapping, checked, hint_scope
from flydsl.compiler.outlets.ir_text import IrText
from flydsl.compiler.outlets.jit_call import jit_call, jit_function

if TYPE_CHECKING:
    from flydsl.compiler.artifacts import artifact as artifact_file
    from flydsl.compiler.backends import base as target_choice
    from flydsl.compiler.cache import compiled_code
else:
    artifact_file = lazy_module("flydsl.compiler.artifacts.artifact")
    target_choice = lazy_module("flydsl.compiler.backends.base")
    compiled_code = lazy_module("flydsl.compiler.cache.compiled_code")


_MOST = 16
"""Combinations of Python types that get a launch function of their own."""
_PICKLED = "pickled"
"""The key under which an artifact in a pickle is written: it is nobody's entry in a cache."""


class CompiledFunction:
    """Compiled code with the arguments it accepts; call it positionally, as the function it came from.

    Values in compile-time places are accepted and ignored. Arrays of other element types, ranks or devices than those
    it was compiled for are refused, and so are layouts that break what the code relies on.
    """

    def __init__(self, name: str, executable: Any, forms: Sequence[tuple[str, Form]], defaults: tuple[Any, ...],
                 hints: Hints, ir_text: IrText, examples: Sequence[Any] | None = None) -> None:  # fmt: skip
        self.__name__ = name
        self.hints = hints
        self._executable = executable
        self._forms = list(forms)
        self._defaults = defaults
        self._ir_text = ir_text
        self._has_stream = any(isinstance(form, StreamForm) for _, form in forms)
        self._launch: Launch = _nothing
        self._launches: dict[tuple[Any, ...], Launch] = {}
        """Launch functions by the Python types of the arguments; the one used last is `_launch`."""
        if examples is not None:
            self._launch = self._launches[_kinds(examples)] = self._launch_for(examples)

    def __call__(self, *args: Any) -> None:
        try:
            if not self._launch(args):
                self._call_fully(args)
        except Exception as error:
            present(error)
            raise

    def _call_fully(self, args: tuple[Any, ...]) -> None:
        """Arguments of other Python types than at the call before, or wrong ones: check each and say what is wrong."""
        values = self._completed(args)
        kinds = _kinds(values)
        known = self._launches.get(kinds)
        if known is not None and known(values):
            self._launch = known
            return
        numbers: list[int | float] = []
        for (name, form), value in zip(self._forms, values, strict=True):
            numbers.extend(self._numbers(name, form, value))
        self._executable.launch(numbers if self._has_stream else [*numbers, 0])
        if known is None and len(self._launches) < _MOST:
            self._launch = self._launches[kinds] = self._launch_for(values)

    def _numbers(self, name: str, form: Any, value: Any) -> Sequence[int | float]:
        try:
            return form.numbers(value)
        except FlyDSLError as error:
            error.message = f"argument '{name}' of the compiled '{self.__name__}': {error.message}"
            error.hint = error.hint or f"call {self.__name__}(...) itself, which compiles for any arguments"
            raise

    def _completed(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        missing = len(self._forms) - len(args)
        if not 0 <= missing <= len(self._defaults):
            names = ", ".join(name for name, _ in self._forms)
            raise DslTypeError(
                f"the compiled '{self.__name__}' takes {len(self._forms)} positional arguments, got {len(args)}",
                hint=f"its parameters are {names}",
            )
        return args + self._defaults[len(self._defaults) - missing :]

    def _launch_for(self, values: Sequence[Any]) -> Launch:
        rows = zip(self._forms, values, strict=True)
        parameters = [Parameter(name, form, value) for (name, form), value in rows]
        return launch_function(parameters, self._executable, exact=False, hidden_stream=not self._has_stream)

    # Looking inside ------------------------------------------------------------------------------

    def parts(self, args: tuple[Any, ...]) -> tuple[Any, list[Form], tuple[Any, ...]]:
        """Return (the code, what each parameter accepts, its value), of a call with some arguments."""
        return self._executable, [form for _, form in self._forms], self._completed(args)

    @property
    def artifact(self) -> Any:
        """The compiled code as data."""
        return self._executable.artifact

    @property
    def source_ir(self) -> str:
        """The IR as traced. It is made anew from the function when it is asked for."""
        return self._ir_text.source

    @property
    def ir(self) -> str:
        """The IR at the end of the pipeline, before LLVM."""
        return self._ir_text.final

    def dump(self, compiled: bool = True) -> None:
        """Print the IR, final or as traced."""
        print(self.ir if compiled else self.source_ir)

    print_ir = dump

    def __repr__(self) -> str:
        return f"<compiled {self.__name__} for {self.artifact.target}>"

    def __reduce__(self) -> Any:
        # Code is handed over as data: the artifact's own file form, whose reader checks it.
        ir_text = IrText.known(self.source_ir, self.ir)
        place = (self._executable.device.kind, getattr(self._executable.device, "index", 0))
        state = (
            self.__name__,
            artifact_file.to_bytes(self.artifact, _PICKLED),
            self._forms,
            self._defaults,
            self.hints,
            ir_text,
            place,
        )
        return _restored, state


def _restored(name: str, data: bytes, forms: Any, defaults: Any, hints: Hints, ir_text: IrText, place: Any) -> Any:
    artifact = artifact_file.from_bytes(data, _PICKLED)
    if artifact is None:
        raise DslValueError(f"the pickled code of '{name}' is damaged, or of another version", hint="compile it again")
    executable = compiled_code.load(artifact, target_choice.device_for(place, artifact.target))
    return CompiledFunction(name, executable, forms, defaults, hints, ir_text)


def _kinds(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return what tells arguments apart that one launch function cannot read: their types, and those of wrapped
    arrays."""
    return tuple([(TensorAdaptor, type(value.source)) if type(value) is TensorAdaptor else type(value)
                  for value in values])  # fmt: skip


def _nothing(args: tuple[Any, ...]) -> bool:
    """Return the launch function before the first call tells of which Python types the arguments are."""
    return False


class Compile:
    """``flyc.compile(fn, *args)``, and ``flyc.compile[hints](fn, *args)``."""

    def __init__(self, hints: Mapping[str, Any] | None = None) -> None:
        self._hints = hints

    @located
    def __getitem__(self, hints: Mapping[str, Any]) -> Compile:
        given = dict(check_mapping(hints))
        checked(given)
        return Compile({**(self._hints or {}), **given})

    def __call__(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Compile a jit function for arguments, launch it once with them, and return the `CompiledFunction`.

        Descriptions of arrays (`flyc.TensorSpec`) have nothing to launch with: they compile alone, as ``fn.warmup``
        does. None where COMPILE_ONLY leaves nothing to run. Without arguments the hints, if any, become the
        function's, and it is returned.
        """
        function = jit_function("flyc.compile", fn)
        if not args and not kwargs:
            function.compile_hints.update(self._hints or {})
            return function if isinstance(fn, BoundJit) else fn
        try:
            with hint_scope(self._hints) if self._hints else nullcontext():
                return _compiled(fn, args, kwargs)
        except Exception as error:
            present(error)
            raise


def _compiled(function: Any, args: Any, kwargs: Any) -> CompiledFunction | None:
    if knobs.COMPILE_ONLY.get():
        function.warmup(*args, **kwargs)
        return None
    wanted = jit_call("flyc.compile", function, args, kwargs)
    fn = wanted.function
    with hint_scope(wanted.hints):
        hints = fn.effective_hints()
    call: Call = fn.adapted_call(wanted.args, wanted.kwargs)
    executable = fn.executable(call, hints, ahead=True)
    if call.has_data:
        call.check_writable(executable.artifact)
        executable.launch(call.numbers)
    else:
        executable.check(call.numbers)
    ir_text = IrText.of(fn.func, call, hints)
    rows = zip(fn.signature.names, call.forms(executable.artifact), call.values, strict=True)
    left = [row for row in rows if not (row[0] in wanted.chosen and _is_built_in(fn, *row))]
    forms, examples = [(name, form) for name, form, _ in left], [value for _, _, value in left]
    defaults = fn.signature.defaults(without=wanted.chosen)
    return CompiledFunction(
        fn.__name__, executable, forms, defaults, hints, ir_text, examples if call.has_data else None
    )


def _is_built_in(fn: JitFunction, name: str, form: Form, value: Any) -> bool:
    """True: a chosen value is part of the code, so that its parameter is gone. What is not would have to be passed."""
    if not isinstance(form, (ConstantForm, NoneForm)):
        raise DslTypeError(
            f"'{name}' of '{fn.__name__}' is chosen by its configurations ({value!r} here) and passed at run time, "
            "which compiled code cannot do",
            hint=f"annotate it: {name}: fx.Constexpr[int]",
            location=definition_of(fn.func),
        )
    return True


compile = Compile()
"""The public `flyc.compile`."""
