"""`flyc.compile`: a specialisation as a callable of its own, which looks nothing up.

A call of it reads its arguments, checks that they are what the code was compiled for, and enters native code. It does
not see later changes of hints, environment or captured values: it is the code it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslTypeError, DslValueError, FlyDSLError
from flydsl.compiler.argument_form import Form, StreamForm
from flydsl.compiler.call import Call
from flydsl.compiler.diagnostics import calling_location, located, presented
from flydsl.compiler.hints import Hints, check_mapping, checked
from flydsl.compiler.ir_text import IrText
from flydsl.compiler.jit_function import BoundJit, JitFunction
from flydsl.compiler.launch_code import Launch, Parameter, launch_function

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
        self._launches: dict[tuple[type, ...], Launch] = {}
        """Launch functions by the Python types of the arguments; the one used last is `_launch`."""
        if examples is not None:
            self._launch = self._launches[tuple(map(type, examples))] = self._launch_for(examples)

    def __call__(self, *args: Any) -> None:
        if not self._launch(args):
            self._call_fully(args)

    def _call_fully(self, args: tuple[Any, ...]) -> None:
        """Arguments of other Python types than at the call before, or wrong ones: check each and say what is wrong."""
        try:
            values = self._completed(args)
            kinds = tuple(map(type, values))
            known = self._launches.get(kinds)
            if known is not None and known(values):
                self._launch = known
                return
            numbers: list[int | float] = []
            for (name, form), value in zip(self._forms, values, strict=True):
                numbers.extend(self._numbers(name, form, value))
            self._executable.launch(numbers if self._has_stream else [*numbers, 0])
        except FlyDSLError as error:
            raise presented(error) from None
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
        from flydsl.compiler.artifact_file import to_bytes

        ir_text = IrText.known(self.source_ir, self.ir)
        place = (self._executable.device.kind, getattr(self._executable.device, "index", 0))
        state = (
            self.__name__,
            to_bytes(self.artifact, _PICKLED),
            self._forms,
            self._defaults,
            self.hints,
            ir_text,
            place,
        )
        return _restored, state


def _restored(name: str, data: bytes, forms: Any, defaults: Any, hints: Hints, ir_text: IrText, place: Any) -> Any:
    from importlib import import_module

    from flydsl.compiler.artifact_file import from_bytes
    from flydsl.compiler.target_choice import device_for

    artifact = from_bytes(data, _PICKLED)
    if artifact is None:
        raise DslValueError(f"the pickled code of '{name}' is damaged, or of another version", hint="compile it again")
    executable = import_module("flydsl.compiler.loading").load(artifact, device_for(place, artifact.target))
    return CompiledFunction(name, executable, forms, defaults, hints, ir_text)


def _nothing(args: tuple[Any, ...]) -> bool:
    """The launch function before the first call tells of which Python types the arguments are."""
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
        """Compile a jit function for arguments, without launching it, and return the `CompiledFunction`.

        None where COMPILE_ONLY leaves nothing to run. With hints and no arguments, the hints become the function's.
        """
        only_hints = self._hints is not None and not args and not kwargs
        if isinstance(fn, BoundJit):
            fn, args = fn.function, (fn.instance, *args)
        if not isinstance(fn, JitFunction):
            raise DslTypeError(
                f"flyc.compile takes a jit function, got {type(fn).__name__}",
                hint="decorate it with @flyc.jit",
                location=calling_location(),
            )
        if only_hints:
            fn.compile_hints.update(self._hints or {})
            return fn
        try:
            return _compiled(fn, args, kwargs, self._hints)
        except FlyDSLError as error:
            raise presented(error) from None


def _compiled(fn: JitFunction, args: Any, kwargs: Any, more: Mapping[str, Any] | None) -> CompiledFunction | None:
    hints = fn.effective_hints(more)
    call: Call = fn.adapted_call(args, kwargs)
    executable = fn.executable(call, hints, ahead=True)
    if executable is None or knobs.COMPILE_ONLY.get():
        return None
    ir_text = IrText.of(fn.func, call, hints)
    forms = list(zip(fn.signature.names, call.forms(), strict=True))
    examples = call.values if call.has_data else None
    return CompiledFunction(fn.__name__, executable, forms, fn.signature.defaults(), hints, ir_text, examples)


compile = Compile()
"""The public `flyc.compile`."""
