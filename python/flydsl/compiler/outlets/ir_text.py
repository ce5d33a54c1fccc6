"""The IR of a compiled function as text, made when somebody asks: printing it would cost every compile its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flydsl.base.errors import DslRuntimeError
from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass
from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.arguments.kinds import TensorArgument
from flydsl.compiler.calls.call import Call
from flydsl.compiler.capture.inputs import Inputs
from flydsl.compiler.options.hints import Hints

if TYPE_CHECKING:
    from flydsl.compiler.lowering import driver
    from flydsl.compiler.tracing import trace
else:
    driver = lazy_module("flydsl.compiler.lowering.driver")
    trace = lazy_module("flydsl.compiler.tracing.trace")


@dataclass
class IrText:
    """Source and final IR, or what they are made from."""

    _source: str | None = None
    _final: str | None = None
    _make: Callable[[], tuple[str, str]] | None = None

    @staticmethod
    def known(source: str, final: str) -> IrText:
        return IrText(source, final)

    @staticmethod
    def of(func: Callable[..., Any], call: Call, hints: Hints) -> IrText:
        """To be traced again from the function, for arguments like those of the call."""
        arguments = [_without_data(argument) for argument in call.arguments]
        inputs, target = Inputs(func), call.device.target
        return IrText(_make=lambda: _traced(func, arguments, target, hints, inputs))

    def _filled(self) -> tuple[str, str]:
        if (self._source is None or self._final is None) and self._make is not None:
            self._source, self._final = self._make()
        return self._source or "", self._final or ""

    @property
    def source(self) -> str:
        return self._filled()[0]

    @property
    def final(self) -> str:
        return self._filled()[1]


def _without_data(argument: Any) -> Any:
    """Return the argument with nothing that keeps an array alive."""
    if not isinstance(argument, Adapted) or not isinstance(argument.argument, TensorArgument):
        return argument
    old = argument.argument
    view = old.view._replace(owner=None, has_data=False)
    made = TensorArgument(
        view, old.shape_code, old.stride_code, align=old.align, wide_stride=old.wide_stride, raw=old.raw
    )
    return Adapted(made)


def _traced(func: Any, arguments: list[Any], target: Any, hints: Hints, inputs: Inputs) -> tuple[str, str]:
    if not inputs.unchanged():
        raise DslRuntimeError(
            f"the IR of '{func.__name__}' cannot be shown: a value it captured has changed since it was compiled",
            hint="ask for it right after flyc.compile, or set FLYDSL_DUMP_IR=1",
        )
    module, _ = trace.trace(func, arguments, target, hints)
    source = str(module)
    for step in driver.passes_for(target, hints):
        step.run(module)
    return source, str(module)
