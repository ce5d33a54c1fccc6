"""The code of a cached call, generated for one specialisation.

Reading an argument takes a few attribute reads whose order and number depend on what the argument is; a loop over
generic readers would cost several times as much as the reads. So each specialisation gets a function of its own, like

    def launch(args):
        try:
            a0, a1 = args
            # x: f32 tensor (?, ?):(?, 1), layout-dynamic
            if a0.__class__ is not t0 or a0.dtype is not d0 or not a0.is_cpu: return False
            x0_0, x0_1 = a0.shape
            s0_0, s0_1 = a0.stride()
            p0 = a0.data_ptr()
            if s0_1 != 1 or p0 & 3: return False
            ...
            block = pack(p0, x0_0, x0_1, s0_0, ...)
        except MISREAD:
            return False
        status = entry(block, report)
        ...
        return True

It answers False, having done nothing, when the arguments are not those the code was compiled for. In `exact` form,
which a jit function uses, that includes arguments the code would serve as well but which a fresh call would compile
for in another way; the other form is that of `flyc.compile`, which also ignores compile-time arguments.

The function that served last is tried first. Then those are tried that were made for arguments of the same types,
element types and compile-time values. What none of them takes goes the full way.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslTypeError
from flydsl.base.records import dataclass
from flydsl.compiler.arguments.adapting import adapt
from flydsl.compiler.arguments.argument_form import (
    ConstantForm,
    Form,
    NoneForm,
    ScalarForm,
    StreamForm,
    TensorForm,
    check_writable,
)
from flydsl.compiler.arguments.kinds import Dynamic
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.calls.native_call import LOWEST_ADDRESS, native_launch
from flydsl.expr.numeric import Float32, Numeric
from flydsl.expr.trace.constexpr_key import never_changes
from flydsl.expr.trace.host_argument import Stream
from flydsl.layout.leaf import INT32_LIMIT
from flydsl.runtime.device_array import DeviceArray
from flydsl.target.family import family

MISREAD = (AttributeError, TypeError, ValueError, RuntimeError, OverflowError, struct.error)
"""What reading arguments of another kind raises: the full path explains it. FlyDSL's errors derive from these."""

F32_LIMIT = (2.0 - 2.0**-24) * 2.0**127
"""The least number that f32 rounds to infinity."""
Launch = Callable[[tuple[Any, ...]], bool]


@dataclass(frozen=True)
class Parameter:
    """A parameter of the specialisation, with a value it was called with."""

    name: str
    form: Form
    example: Any


class Writer:
    """Lines of the function and the objects they mention."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        self.packed: list[str] = []

    def refuse_if(self, *conditions: str) -> None:
        if conditions:
            self.lines.append(f"if {' or '.join(conditions)}: return False")


def launch_function(parameters: Sequence[Parameter], executable: Any, *, exact: bool, hidden_stream: bool) -> Launch:
    """Return the function that reads, checks and launches; ``executable`` is what it launches."""
    native = None
    if "torch" in sys.modules:
        native = native_launch(parameters, executable, exact=exact, hidden_stream=hidden_stream)
    if native is not None:
        return native
    writer = Writer()
    for number, parameter in enumerate(parameters):
        writer.lines.append(f"# {parameter.name}: {parameter.form}".replace("\n", " "))
        _write(writer, number, parameter, exact)
    if hidden_stream:
        writer.packed.append("0")
    arguments = "".join(f"a{i}, " for i in range(len(parameters)))
    body = [f"{arguments.rstrip(' ')} = args" if arguments else "() = args", *writer.lines]
    text = _assemble(body, writer.packed, executable)
    names = {**writer.names, **executable.launch_names(), "MISREAD": MISREAD}
    exec(compile(text, f"<launch of {executable.artifact.name}>", "exec"), names)
    launch = names["launch"]
    launch.source = text
    return launch


def _assemble(body: list[str], packed: list[str], executable: Any) -> str:
    """Return the whole text: reading inside `try`, launching behind it."""
    lines = ["def launch(args):", "    try:"]
    lines += [f"        {line}" for line in body]
    lines += [f"        block = pack({', '.join(packed)})", "    except MISREAD:", "        return False"]
    lines += [
        "    try:",
        "        report = local.report",
        "    except AttributeError:",
        "        report = new_report()",
    ]
    lines += [f"    {line}" for line in executable.launch_lines()]
    lines += ["    if status: fail(status)", "    return True", ""]
    return "\n".join(lines)


# One writer per form -------------------------------------------------------------------------------------------------


def _write(writer: Writer, number: int, parameter: Parameter, exact: bool) -> None:
    form, example = parameter.form, parameter.example
    kind = type(example)
    if isinstance(form, ConstantForm):
        if exact:
            _write_constant(writer, number, form, example)
    elif isinstance(form, NoneForm):
        writer.refuse_if(f"a{number} is not None")
    elif isinstance(form, TensorForm) and (how := _reader_of(example)) is not None:
        how(writer, number, f"a{number}", form, example, exact)
    elif isinstance(form, ScalarForm) and (kind in (int, float, bool) or kind is form.dtype):
        _write_scalar(writer, number, form, kind, exact)
    elif isinstance(form, StreamForm):
        _write_stream(writer, number, form, kind, example)
    else:
        writer.names[f"numbers{number}"] = form.numbers
        if exact:
            writer.names[f"t{number}"] = kind
            writer.refuse_if(f"a{number}.__class__ is not t{number}")
        if exact and isinstance(form, TensorForm):
            writer.names[f"numbers{number}"] = partial(_numbers_of_equal, form)
        writer.packed.append(f"*numbers{number}(a{number})")
    if exact and isinstance(form, ScalarForm) and not form.annotated and isinstance(example, int) and kind is not bool:
        fits = f"{-INT32_LIMIT} <= a{number} < {INT32_LIMIT}"
        writer.refuse_if(fits if form.dtype.width > 32 else f"not {fits}")


def _write_constant(writer: Writer, number: int, form: ConstantForm, example: Any) -> None:
    """Equal values of equal type; what compares in its own way goes through its key."""
    value = f"a{number}"
    if type(example) in (int, bool, str, type(None)):
        writer.names.update({f"c{number}": example, f"t{number}": type(example)})
        writer.refuse_if(f"{value}.__class__ is not t{number}", f"{value} != c{number}")
        return
    writer.names.update({f"k{number}": form.key, f"key{number}": form.key_of})
    check = f"key{number}({value}) != k{number}"
    if never_changes(example):  # the same object needs no second look
        writer.names[f"c{number}"] = example
        check = f"{value} is not c{number} and {check}"
    writer.refuse_if(check)


def _write_scalar(writer: Writer, number: int, form: ScalarForm, kind: type, exact: bool) -> None:
    """Plain numbers; the range is checked by the packing itself, but for that of f32."""
    value = f"a{number}"
    if issubclass(kind, Numeric):
        writer.names[f"t{number}"] = kind
        writer.refuse_if(f"{value}.__class__ is not t{number}")
        writer.packed.append(f"{value}.value")
        return
    writer.names.update({"int": int, "float": float, "bool": bool})
    if form.dtype.is_integer:
        writer.refuse_if(f"{value}.__class__ is not {kind.__name__}")
    elif form.annotated:
        writer.refuse_if(f"{value}.__class__ is not float and {value}.__class__ is not int")
    else:
        writer.refuse_if(f"{value}.__class__ is not float")
    if form.dtype.width == 1 or (form.dtype.is_float and form.dtype.width < 32):
        # Rounding to a narrow type is the number class's own business.
        writer.names[f"numbers{number}"] = form.numbers
        writer.packed.append(f"*numbers{number}({value})")
    else:
        if form.dtype is Float32:
            writer.refuse_if(f"abs({value}) >= {F32_LIMIT} and {value} - {value} == 0")  # finite, and infinite as f32
        writer.packed.append(value)


def _write_stream(writer: Writer, number: int, form: StreamForm, kind: type, example: Any) -> None:
    value = f"a{number}"
    if kind is type(None):
        writer.refuse_if(f"{value} is not None")
        writer.packed.append("0")
    elif kind is Stream and example.value is None:
        writer.names["Stream"] = Stream
        writer.refuse_if(f"{value}.__class__ is not Stream", f"{value}.value is not None")
        writer.packed.append("0")
    elif kind.__module__.startswith("torch.") and hasattr(example, "device_index"):
        writer.names[f"t{number}"] = kind
        wrong = [f"{value}.device_index != {form.place[1]}"] if family(form.place[0]).numbers_streams else []
        writer.refuse_if(f"{value}.__class__ is not t{number}", *wrong)
        writer.packed.append(f"{value}.cuda_stream")
    else:
        writer.names[f"numbers{number}"] = form.numbers
        writer.packed.append(f"*numbers{number}({value})")


# Tensors -------------------------------------------------------------------------------------------------------------

Reader = Callable[[Writer, int, str, TensorForm, Any, bool], None]
"""Writes the code that reads the array of a parameter's number from an expression, given an example of it."""


def _reader_of(example: Any) -> Reader | None:
    """Return how arrays like this one are read, if they are of a type worth code of its own."""
    kind = type(example)
    if kind is TensorAdaptor:
        return _read_adaptor if _reader_of(example.source) is not None else None
    if kind is DeviceArray:
        return _read_device_array
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and kind in (torch.Tensor, torch.nn.Parameter):
        return _read_torch
    if numpy is not None and kind is numpy.ndarray:
        return _read_numpy
    return None


def _read_adaptor(writer: Writer, number: int, value: str, form: TensorForm, example: Any, exact: bool) -> None:
    """The marks must be the same; the array itself is read anew, since its owner may move or reshape it."""
    # The very key of the example, if a mark has not changed it since: most calls then need no comparison.
    key = example.key if example.key == form.key else form.key
    writer.names.update({"TensorAdaptor": TensorAdaptor, f"k{number}": key})
    writer.refuse_if(f"{value}.__class__ is not TensorAdaptor")
    writer.lines.append(f"n{number} = {value}.key")
    writer.refuse_if(f"n{number} is not k{number} and n{number} != k{number}")
    writer.lines.append(f"u{number} = {value}.source")
    reader = _reader_of(example.source)
    assert reader is not None
    reader(writer, number, f"u{number}", form, example.source, exact)


def _read_torch(writer: Writer, number: int, value: str, form: TensorForm, example: Any, exact: bool) -> None:
    writer.names.update({f"t{number}": type(example), f"d{number}": example.dtype})
    checks = [f"{value}.__class__ is not t{number}", f"{value}.dtype is not d{number}", f"{value}.is_neg()"]
    if family(form.place[0]).virtual:
        checks.append(f"not {value}.is_cpu")
    else:
        writer.names[f"v{number}"] = example.device
        checks.append(f"{value}.device != v{number}")
    writer.refuse_if(*checks)
    writer.lines.append(f"p{number} = {value}.data_ptr()")
    # No memory, or an empty array: the full way tells. A storage takes ten times as long to ask as an offset.
    freed = f"p{number} == {value}.storage_offset() * {example.itemsize} and not {value}.untyped_storage().data_ptr()"
    writer.refuse_if(f"p{number} < {LOWEST_ADDRESS} and {freed}")
    _read_layout(writer, number, form, f"{value}.shape", f"{value}.stride()", 1, exact)


def _read_numpy(writer: Writer, number: int, value: str, form: TensorForm, example: Any, exact: bool) -> None:
    writer.names.update({f"t{number}": type(example), f"d{number}": example.dtype})
    same = f"{value}.dtype is not d{number} and {value}.dtype != d{number}"
    writer.refuse_if(f"{value}.__class__ is not t{number}", same)
    header = numpy_header()
    if header is None:
        writer.lines.append(f"p{number}, r{number} = {value}.__array_interface__['data']")
        writer.refuse_if(*([f"r{number}"] if form.writes else ()))
    elif form.writes:
        writer.names.update({"memory": header.memory, "pointer_and_flags": header.pointer_and_flags, "id": id})
        writer.lines.append(f"p{number}, f{number} = pointer_and_flags(memory, id({value}) + {header.offset})")
        writer.refuse_if(f"not f{number} & {WRITEABLE}")
    else:
        writer.names.update({"memory": header.memory, "pointer": header.pointer, "id": id})
        writer.lines.append(f"p{number}, = pointer(memory, id({value}) + {header.offset})")
    _read_layout(writer, number, form, f"{value}.shape", f"{value}.strides", example.itemsize, exact)


def _read_device_array(writer: Writer, number: int, value: str, form: TensorForm, example: Any, exact: bool) -> None:
    writer.names.update({f"t{number}": type(example), f"d{number}": example.dtype, f"v{number}": example.device})
    writer.refuse_if(
        f"{value}.__class__ is not t{number}", f"{value}.dtype != d{number}", f"{value}.device is not v{number}",
        *([f"not {value}.writable"] if form.writes else ()),
    )  # fmt: skip
    writer.lines.append(f"p{number} = {value}.pointer")
    _read_layout(writer, number, form, f"{value}.shape", f"{value}.strides", example.itemsize, exact)


def _read_layout(
    writer: Writer, number: int, form: TensorForm, shape: str, strides: str, unit: int, exact: bool
) -> None:
    """Extents and strides into names, the checks on them, and what goes into the block; ``unit`` is a step of 1."""
    if not any(isinstance(code, Dynamic) for code in (*form.shape, *form.stride)):
        fixed = tuple(code * unit for code in form.stride if not isinstance(code, Dynamic))
        aligned = [f"p{number} & {form.align - 1}"] if form.align > 1 else []
        writer.refuse_if(*aligned, f"{shape} != {form.shape}", f"{strides} != {fixed}")
        writer.packed.append(f"p{number}")
        return
    rank = len(form.shape)
    extents, steps = ([f"{letter}{number}_{axis}" for axis in range(rank)] for letter in "xs")
    writer.lines.append(f"{', '.join(steps)}, = {strides}")  # of another rank, this fails
    writer.packed.append(f"p{number}")
    checks = [f"p{number} & {form.align - 1}"] if form.align > 1 else []
    wide = form.wide_shape and exact
    if all(isinstance(code, Dynamic) and code.divisibility == 1 for code in form.shape) and not wide:
        writer.packed.append(f"*{shape}")  # the number of strides told the rank
    else:
        writer.lines.append(f"{', '.join(extents)}, = {shape}")
        checks += _leaf_checks(form.shape, extents, 1)
        writer.packed += [name for name, code in zip(extents, form.shape, strict=True) if isinstance(code, Dynamic)]
    if wide:
        checks.append("not (" + " or ".join(f"{name} >= {INT32_LIMIT}" for name in extents) + ")")
    checks += _leaf_checks(form.stride, steps, unit)
    dynamic = [(name, code) for name, code in zip(steps, form.stride, strict=True) if isinstance(code, Dynamic)]
    if unit > 1 and dynamic:
        checks.append(f"({' | '.join(name for name, _ in dynamic)}) & {unit - 1}")
    if exact and form.raw:
        lead = form.stride.index(1)
        checks += [f"{name} == {unit}" for name in steps[:lead]]  # a fresh call takes the first unit stride
    writer.refuse_if(*checks)
    shift = unit.bit_length() - 1
    writer.packed += [f"{name} >> {shift}" if shift else name for name, _ in dynamic]


def _leaf_checks(codes: Sequence[Any], names: Sequence[str], unit: int) -> Iterator[str]:
    """Conditions under which leaves are not what the code relies on."""
    for name, code in zip(names, codes, strict=True):
        if not isinstance(code, Dynamic):
            yield f"{name} != {code * unit}"
        elif code.divisibility > 1:
            yield f"{name} & {code.divisibility * unit - 1}"


def _numbers_of_equal(form: TensorForm, value: Any) -> Sequence[int | float]:
    """Numbers of an array that a fresh call would compile the same code for."""
    argument = adapt(value)
    if argument.signature() != form.key or argument.views()[0].device != form.place:
        raise DslTypeError("the array is another than the code was compiled for")
    check_writable(argument, form.writes)
    return argument.pack()


# Fields of a NumPy array ----------------------------------------------------------------------

# Both are fields of the public C struct behind every array. Reading them there takes a tenth of the time that
# `__array_interface__` takes, and the flags beside the pointer cost nothing.

WRITEABLE = 0x400
"""The bit of the flags that says that the array may be written."""
_BEFORE_FLAGS = "@PiPPPP"
"""The struct up to the flags: data, number of dimensions, dimensions, strides, base, type."""


@dataclass(frozen=True)
class NumpyHeader:
    """How to read: ``pointer(memory, id(array) + offset)`` gives a tuple, and so does ``pointer_and_flags``."""

    offset: int
    memory: memoryview
    """The whole address space, of which nothing but array objects is looked at."""
    pointer: Any
    pointer_and_flags: Any

    def read(self, array: Any) -> tuple[int, bool]:
        """Return the pointer, and whether the array may be written."""
        pointer, flags = self.pointer_and_flags(self.memory, id(array) + self.offset)
        return pointer, bool(flags & WRITEABLE)


def _agree(header: NumpyHeader, samples: Sequence[Any]) -> bool:
    for sample in samples:
        pointer, read_only = sample.__array_interface__["data"]
        if header.read(sample) != (pointer, not read_only):
            return False
        if header.pointer(header.memory, id(sample) + header.offset) != (pointer,):
            return False
    return True


@cache
def numpy_header() -> NumpyHeader | None:
    """Return the fields of NumPy's array objects, or None where they are not as we know them; arrays are asked both
    ways."""
    if sys.implementation.name != "cpython":
        return None
    numpy = sys.modules["numpy"]
    between = struct.calcsize(_BEFORE_FLAGS) - struct.calcsize("@P")
    everything = (ctypes.c_char * (sys.maxsize // 2)).from_address(0)
    header = NumpyHeader(
        offset=object.__basicsize__,
        memory=memoryview(everything),
        pointer=struct.Struct("@P").unpack_from,
        pointer_and_flags=struct.Struct(f"@P{between}xi").unpack_from,
    )
    samples = [numpy.zeros(3), numpy.zeros((4, 5), numpy.int8)[1:, 2:], numpy.empty(0), numpy.zeros(3)]
    samples[-1].flags.writeable = False
    return header if _agree(header, samples) else None


# Functions that are kept ----------------------------------------------------------------------------------------------

_MOST_ALIKE = 16
"""Launch functions kept for arguments that look alike; the oldest goes first."""


def _look(value: Any) -> Any:
    """Return what tells arguments apart at a glance."""
    kind = value.__class__
    if kind is TensorAdaptor:
        return value.key, value.source.__class__
    if kind is int or kind is float or value is None:
        return kind
    return kind, getattr(value, "dtype", None)


class CallPath:
    """Launch functions of one jit function under one state of the environment and of the hints."""

    __slots__ = ("_alike", "_constant", "environment", "hints", "latest", "scoped")

    def __init__(self, constexpr: list[bool], environment: knobs.Watch, hints: dict[str, Any], scoped: Any) -> None:
        self._constant = constexpr
        self.environment = environment
        self.hints = dict(hints)
        self.scoped = scoped
        self.latest: Launch = _nothing
        self._alike: dict[Any, list[tuple[Any, Launch]]] = {}

    def holds(self, hints: dict[str, Any], scoped: Any) -> bool:
        """Return whether the environment and the hints are still those of this path."""
        return self.environment.unchanged() and hints == self.hints and scoped == self.scoped

    def launch_another(self, args: tuple[Any, ...]) -> Any:
        """Launch with a function made for arguments that look like these: its code, or None if none takes them."""
        try:
            alike = self._alike.get(self._looks(args), ())
        except Exception:  # a compile-time value that cannot be hashed, or an object with strange attributes
            return None
        for executable, launch in alike:
            if launch(args):
                self.latest = launch
                return executable
        return None

    def forget(self, executable: Any) -> None:
        """Drop the launch functions of some code."""
        for looks, alike in list(self._alike.items()):
            kept = [pair for pair in alike if pair[0] is not executable]
            if len(kept) == len(alike):
                continue
            if any(launch is self.latest for _, launch in alike):
                self.latest = _nothing
            self._alike[looks] = kept
            if not kept:
                del self._alike[looks]

    def knows(self, args: tuple[Any, ...], executable: Any) -> bool:
        """Return whether there is a function already for this code and arguments that look like these."""
        try:
            return any(known is executable for known, _ in self._alike.get(self._looks(args), ()))
        except Exception:
            return True

    def add(self, args: tuple[Any, ...], executable: Any, launch: Launch) -> None:
        """Keep a launch function for arguments like these."""
        looks = self._looks(args)
        self._alike[looks] = [(executable, launch), *self._alike.get(looks, ())][:_MOST_ALIKE]
        self.latest = launch

    def _looks(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            [
                (value.__class__, value) if fixed else _look(value)
                for value, fixed in zip(args, self._constant, strict=True)
            ]
        )


def _nothing(args: tuple[Any, ...]) -> bool:
    return False
