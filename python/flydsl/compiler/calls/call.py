"""One call of a jit function, adapted: what it is traced with, what specialises it, and the numbers to launch with.

A specialisation is what the function was compiled for, and which property made that necessary.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from flydsl.base import device_libraries, knobs
from flydsl.base.errors import DslRuntimeError, DslValueError, FlyDSLError, SourceLocation
from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass, field
from flydsl.compiler.arguments.adapting import Adapted, Signature, adapt, check_constexpr
from flydsl.compiler.arguments.argument_form import (
    ConstantForm,
    Form,
    NoneForm,
    Write,
    check_writable,
    form_of,
    part_of,
)
from flydsl.compiler.arguments.kinds import NoneArgument, StreamArgument, check_stream_device
from flydsl.compiler.backends.base import age, backend_for, device_of, is_own
from flydsl.compiler.calls.launch_code import Parameter
from flydsl.compiler.messages.diagnostics import about_argument
from flydsl.compiler.options.hints import Hints
from flydsl.expr.trace.constexpr_key import constexpr_key
from flydsl.expr.values.numpy_scalar import python_value
from flydsl.target.family import family

if TYPE_CHECKING:
    from flydsl.base import log
    from flydsl.compiler.artifacts import artifact as artifact_file
else:
    log = lazy_module("flydsl.base.log")
    artifact_file = lazy_module("flydsl.compiler.artifacts.artifact")

# Specialisations ------------------------------------------------------------------------------------------------------

TOPIC = "recompiles"


class Key(NamedTuple):
    """Everything a specialisation depends on, but for the code itself and what it captures."""

    kind: str
    arch: str
    settings: tuple[tuple[str, str], ...]
    """The environment variables that change code, by name."""
    hints: Hints
    arguments: tuple[Any, ...]
    device_number: int = 0
    """It is no part of the code, but code is loaded onto one device."""
    backend: str = ""
    """A backend that is not this package's own, and its hash."""
    libraries: tuple[tuple[str, str], ...] = ()
    """Functions of device libraries that another file was named for since code was made of them."""


@dataclass(frozen=True)
class Origin:
    """How the code of a specialisation was come by."""

    seconds: float
    from_disk: bool = False
    not_kept: tuple[str, ...] = ()
    """Why it is not on disk, where that has a reason."""
    changed: str | None = None
    """What the function reads that is different now, in words."""
    stages: tuple[tuple[str, float], ...] = ()
    """Seconds of each stage."""


@dataclass(frozen=True)
class Specialisation:
    """One compile of a jit function."""

    arguments: tuple[str, ...]
    """Each parameter with what is known of it: ``x: f32 tensor (?):(1), layout-dynamic, 4-byte aligned``."""
    target: str
    device: str
    hints: Hints
    seconds: float
    """Time it took, compiled or found on disk."""
    why: str
    """What differs from the nearest earlier specialisation."""
    from_disk: bool = False
    """Whether it was found on disk, and not compiled."""
    not_kept: tuple[str, ...] = ()
    """Why the code is good for this process only; empty if it is on disk, or would be with the cache on."""
    stages: tuple[tuple[str, float], ...] = ()
    """The seconds by stage, in the order in which the stages first began."""
    properties: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    code: Callable[[], tuple[Any, ...]] | None = field(default=None, repr=False, compare=False)

    @property
    def kernels(self) -> tuple[Any, ...]:
        """What each kernel costs on the target: registers, spills, shared memory, occupancy, instructions and code.

        The code is made again when it is first asked for, from the function as it is now.
        """
        return () if self.code is None else self.code()


def properties_of(names: Sequence[str], forms: Sequence[Form], key: Key) -> dict[str, str]:
    """Return every property of a specialisation under a name a reader understands."""
    found = {f"argument '{name}': {what}": text for name, form in zip(names, forms, strict=True)
             for what, text in form.properties().items()}  # fmt: skip
    found["target"] = key.arch
    found["device"] = family(key.kind).place(key.device_number)
    if key.backend:
        found["backend"] = key.backend
    found.update({f"the library of '{symbol}'": stamp.partition(" ")[0] for symbol, stamp in key.libraries})
    found.update({f"hint {name}": repr(value) for name, value in key.hints})
    found.update({f"environment variable {name}": value for name, value in key.settings})
    return found


def differences(new: dict[str, str], old: dict[str, str]) -> list[str]:
    """Return what is different, in words."""
    names = dict.fromkeys((*new, *old))
    absent = "not set"
    return [
        f"{name} is {new.get(name, absent)}, was {old.get(name, absent)}"
        for name in names
        if new.get(name) != old.get(name)
    ]


def record(name: str, number: int, names: Sequence[str], forms: Sequence[Form], key: Key, origin: Origin,
           earlier: Iterable[Specialisation]) -> Specialisation:  # fmt: skip
    """Return the record of a compile, reported on stderr if ``FLYDSL_LOG=recompiles`` asks for it."""
    now = properties_of(names, forms, key)
    reasons = min((differences(now, dict(e.properties)) for e in reversed(tuple(earlier))), key=len, default=None)
    if origin.changed is not None:
        reasons = [origin.changed]
    elif reasons is None:
        reasons = ["the first call"]
    elif not reasons:
        reasons = ["the same arguments, code and settings as before, forgotten since"]
    arguments = tuple(f"{n}: {form}" for n, form in zip(names, forms, strict=True))
    place = family(key.kind).place(key.device_number)
    made = Specialisation(arguments, key.arch, place, key.hints, origin.seconds, "; ".join(reasons), origin.from_disk,
                          origin.not_kept, origin.stages, tuple(now.items()))  # fmt: skip
    if TOPIC in knobs.LOG.get():
        how = f"{'loaded from disk' if origin.from_disk else 'compiled'} in {origin.seconds * 1e3:.0f} ms"
        lines = [f"{name}: specialisation {number} for {key.arch} on {place}, {how}"]
        lines += [f"    why: {reason}" for reason in reasons]
        lines += [f"    not kept on disk: {reason}" for reason in origin.not_kept]
        lines += [f"    {argument}" for argument in arguments]
        log.report(TOPIC, "\n".join(lines))
    return made


# Calls ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """The arguments of a call, adapted; ``values`` are what the caller passed, defaults applied."""

    func: Callable[..., Any]
    signature: Signature
    values: tuple[Any, ...]
    arguments: list[Any]
    """Adapted arguments, and compile-time values as they are."""
    key: tuple[Any, ...]
    numbers: list[int | float]
    device: Any

    @property
    def index(self) -> int:
        return getattr(self.device, "index", 0)

    @property
    def place(self) -> tuple[str, int]:
        return (self.device.kind, self.index)

    @property
    def has_stream(self) -> bool:
        return any(isinstance(a, Adapted) and a.is_stream for a in self.arguments)

    def streams(self) -> list[int]:
        """Handles of the streams its launches may go to."""
        found = [a.argument.handle for a in self.arguments if isinstance(a, Adapted) and a.is_stream]  # type: ignore[union-attr]
        return found or [0]

    def specialisation_key(self, hints: Hints) -> Key:
        target = self.device.target
        backend = backend_for(target)
        made_by = "" if is_own(backend) else f"{type(backend).__qualname__} {age()} {backend.hash()}"
        return Key(self.device.kind, target.arch, knobs.code_settings(), hints, self.key, self.index, made_by,
                   device_libraries.relinked_now())  # fmt: skip

    def forms(self, artifact: artifact_file.Artifact | None = None) -> list[Form]:
        """Return what each parameter of the code for this call accepts; the artifact tells which arrays it may
        write."""
        written = self._written(artifact) if artifact is not None else [()] * len(self.arguments)
        return [
            form_of(argument.argument, self.signature.annotations[index], self.place, writes)
            if isinstance(argument, Adapted)
            else ConstantForm.of(argument, _key_function(self.signature, index))
            if self.signature.constexpr[index]
            else NoneForm()
            for index, (argument, writes) in enumerate(zip(self.arguments, written, strict=True))
        ]

    def parameters(self, artifact: artifact_file.Artifact) -> list[Parameter]:
        """Return the same, with names and the values of this call."""
        rows = zip(self.signature.names, self.forms(artifact), self.values, strict=True)
        return [Parameter(name, form, value) for name, form, value in rows]

    def _written(self, artifact: artifact_file.Artifact) -> list[tuple[Write, ...]]:
        """Return what the code may write of each argument."""
        counts = [len(a.argument.abi()) if isinstance(a, Adapted) else 0 for a in self.arguments]
        firsts = accumulate(counts, initial=0)
        writes = writes_of(artifact)
        return [part_of(writes, first, count) for first, count in zip(firsts, counts, strict=False)]

    def known_writes(self, artifact: artifact_file.Artifact) -> dict[str, Write]:
        """Return the parameters that the code is known to write, not just possibly, each with a place where it does."""
        rows = zip(self.signature.names, self._written(artifact), strict=True)
        return {name: write for name, writes in rows for write in writes if write.known}

    def check_writable(self, artifact: artifact_file.Artifact) -> None:
        """Refuse read-only arrays that the code may write."""
        if not artifact.writes:
            return
        for name, argument, writes in zip(self.signature.names, self.arguments, self._written(artifact), strict=True):
            try:
                if writes:
                    check_writable(argument.argument, writes)
            except FlyDSLError as error:
                error.message = f"argument '{name}' of '{self.func.__name__}': {error.message}"
                raise

    @property
    def has_data(self) -> bool:
        """Whether every array is more than a description."""
        adapted = [a.argument for a in self.arguments if isinstance(a, Adapted)]
        return all(view.has_data for argument in adapted for view in argument.views())

    def check_launchable(self) -> None:
        """Refuse descriptions without data, which only serve to compile."""
        for name, argument in zip(self.signature.names, self.arguments, strict=True):
            if isinstance(argument, Adapted) and not all(view.has_data for view in argument.argument.views()):
                error = DslValueError(
                    "a description of an array has no data to launch with",
                    hint="pass the array itself; a description is for warmup() and flyc.compile()",
                )
                raise about_argument(error, self.func, name)


def _key_function(signature: Signature, index: int) -> Callable[[Any], Any]:
    """Return what gives the key of a compile-time parameter."""
    return signature.instance_key if index == signature.instance else constexpr_key


def adapted_call(func: Callable[..., Any], signature: Signature, values: Sequence[Any]) -> Call:
    """Adapt the arguments of a call, in the order of the parameters; an error names the argument."""
    arguments: list[Any] = []
    key: list[Any] = []
    numbers: list[int | float] = []
    places: list[Any] = []
    streams: list[tuple[str, StreamArgument]] = []
    for index, value in enumerate(values):
        try:
            if signature.constexpr[index]:
                if index != signature.instance:
                    check_constexpr(value, signature.annotations[index])
                key.append(_key_function(signature, index)(value))
                arguments.append(python_value(value))
                continue
            argument = adapt(value, signature.annotations[index], optional=signature.optional[index])
            key.append(argument.signature())
            numbers.extend(argument.pack())
            places.extend(view.device for view in argument.views())
        except FlyDSLError as error:
            raise about_argument(error, func, signature.names[index]) from None
        if isinstance(argument, StreamArgument):
            streams.append((signature.names[index], argument))
        arguments.append(None if isinstance(argument, NoneArgument) else Adapted(argument))
    device = device_of(places)
    for name, stream in streams:
        try:
            check_stream_device(stream.device, device.kind, getattr(device, "index", 0))
        except FlyDSLError as error:
            raise about_argument(error, func, name) from None
    if not streams:
        numbers.append(0)
    return Call(func, signature, tuple(values), arguments, tuple(key), numbers, device)


def writes_of(artifact: artifact_file.Artifact) -> tuple[Write, ...]:
    """Return what the code may write, by the numbers of its argument block."""
    return tuple(Write(number, known, _place(artifact.sites[site])) for number, known, site in artifact.writes)


def _place(site: tuple[str, int, str]) -> SourceLocation | None:
    return SourceLocation(site[0], site[1]) if site[0] else None


# Graph capture: launches are recorded, but compiling and loading code would break the recording ----


def refuse_during_capture(call: Call, name: str) -> None:
    """Raise if a stream of the call is being captured into a graph."""
    if not hasattr(call.device, "is_capturing"):
        return
    if any(call.device.is_capturing(stream) for stream in call.streams()) or _torch_is_capturing():
        raise DslRuntimeError(
            f"'{name}' is not compiled for these arguments, and a graph is being captured",
            hint=f"call {name}.warmup(...) with such arguments before the capture; launching during it is fine",
        )


def _torch_is_capturing() -> bool:
    """Return whether torch captures the stream that is current in this thread."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_initialized() and bool(torch.cuda.is_current_stream_capturing())
