"""A cached call on torch tensors, made by native code from the tuple of arguments.

Reading shape, stride, pointer, type and device of a tensor from Python costs most of a microsecond. torch gives
DLPack's C functions away (`__dlpack_c_exchange_api__`), with which `native/src/native_call.c` reads a tensor in some
tens of nanoseconds. What it must find is written here as a plan, a table of 64-bit words; arguments that are not the
plan's are left to the generated Python of `launch_code.py`, and so is everything that is no torch tensor, plain number,
stream or compile-time value.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flydsl.base.lazy import lazy_module
from flydsl.compiler.arguments.argument_form import ConstantForm, NoneForm, ScalarForm, StreamForm, TensorForm
from flydsl.compiler.arguments.kinds import Dynamic
from flydsl.compiler.arguments.tensor_adaptor import TensorAdaptor
from flydsl.compiler.artifacts.artifact import Executable
from flydsl.expr.trace.host_argument import Stream
from flydsl.layout.leaf import INT32_LIMIT
from flydsl.native import constants as native
from flydsl.runtime.array_view import DL_KINDS
from flydsl.target.family import dlpack_type, family

if TYPE_CHECKING:
    from flydsl.compiler.cache import compiled_code
else:
    compiled_code = lazy_module("flydsl.compiler.cache.compiled_code")


# Where Python's own C functions lie, for native code that calls them --------------------------------------------------


@cache
def function_address(name: str) -> int:
    """Return the address of a function of Python's C API."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


_FUNCTIONS = {
    native.PYTHON_INC_REF: "Py_IncRef",
    native.PYTHON_DEC_REF: "Py_DecRef",
    native.PYTHON_ERR_CLEAR: "PyErr_Clear",
    native.PYTHON_ERR_OCCURRED: "PyErr_Occurred",
    native.PYTHON_CALL_NO_ARGS: "PyObject_CallNoArgs",
    native.PYTHON_CALL_ONE_ARG: "PyObject_CallOneArg",
    native.PYTHON_VECTORCALL: "PyObject_Vectorcall",
    native.PYTHON_CALL_TUPLE: "PyObject_CallObject",
    native.PYTHON_RICH_COMPARE_BOOL: "PyObject_RichCompareBool",
    native.PYTHON_GET_ATTR: "PyObject_GetAttr",
    native.PYTHON_AS_LONG_LONG: "PyLong_AsLongLongAndOverflow",
    native.PYTHON_AS_DOUBLE: "PyFloat_AsDouble",
    native.PYTHON_AS_UTF8: "PyUnicode_AsUTF8AndSize",
    native.PYTHON_FROM_LONG_LONG: "PyLong_FromLongLong",
    native.PYTHON_TUPLE_SIZE: "PyTuple_Size",
    native.PYTHON_TUPLE_GET_ITEM: "PyTuple_GetItem",
    native.PYTHON_TUPLE_NEW: "PyTuple_New",
    native.PYTHON_TUPLE_SET_ITEM: "PyTuple_SetItem",
    native.PYTHON_BYTES_FROM: "PyBytes_FromStringAndSize",
    native.PYTHON_TEXT_FROM: "PyUnicode_FromString",
    native.PYTHON_LIST_SET_ITEM: "PyList_SetItem",
    native.PYTHON_DICT_GET_ITEM: "PyDict_GetItemWithError",
    native.PYTHON_THREAD_STATE: "PyThreadState_Get",
    native.PYTHON_THREAD_ID: "PyThreadState_GetID",
    native.PYTHON_SAVE_THREAD: "PyEval_SaveThread",
    native.PYTHON_RESTORE_THREAD: "PyEval_RestoreThread",
}
_KEYS = {
    native.PYTHON_KEY_MODES: "Python",
    native.PYTHON_KEY_TRACER: "Tracer",
    native.PYTHON_KEY_FRONT: "FuncTorchDynamicLayerFrontMode",
    native.PYTHON_KEY_BACK: "FuncTorchDynamicLayerBackMode",
}
"""Keys of torch's dispatcher that a thread has while a mode watches its calls, torch.jit traces them, or torch.func
transforms them."""
_TORCH_FUNCTIONS = {
    native.PYTHON_HAS_KEY: "_ZN3c104impl28tls_is_dispatch_key_includedENS_11DispatchKeyE",
    native.PYTHON_GRAD_ENABLED: "_ZN3c108GradMode10is_enabledEv",
    native.PYTHON_INFERRING: "_ZN3c1013InferenceMode10is_enabledEv",
}
"""Those of C++ that torch's functions for the same ask; to call these by Python takes some five times as long."""
_READER_AT = 40
"""Bytes before `dltensor_from_py_object_no_sync` in DLPack's exchange table."""
_ONE_ARGUMENT = 0x08
"""METH_O: a function of its `self` and one argument."""
LOWEST_ADDRESS = 1 << 32
"""The pointer of a tensor whose storage was freed is its offset in bytes: below this, the tensor is asked for that.
Arrays of the host lie there in a Python that is linked to a fixed address, such as Debian's."""


def dlpack_reader() -> int:
    """Return the address of torch's reader of tensors; 0 where torch has none, or was not imported yet."""
    torch = sys.modules.get("torch")
    return 0 if torch is None else _reader_of(torch)


@cache
def _reader_of(torch: Any) -> int:
    capsule = getattr(getattr(torch, "Tensor", None), "__dlpack_c_exchange_api__", None)
    if capsule is None or sys.implementation.name != "cpython":
        return 0
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    try:
        table = get(capsule, b"dlpack_exchange_api")
    except ValueError:
        return 0
    major = ctypes.c_uint32.from_address(table).value
    return (ctypes.c_void_p.from_address(table + _READER_AT).value or 0) if major == 1 else 0


@cache
def _torch_function(torch: Any, name: str) -> int:
    """Return the address of a function of torch's library of C++; 0 where it is not there."""
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    except (AttributeError, OSError):
        return 0


# Functions of Python that are native code ----------------------------------------------------------------------------


class _MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("doc", ctypes.c_char_p))  # fmt: skip


class Table(bytes):
    """Words that native code reads, and in ``kept`` the objects that they mention."""

    kept: Any = None


def _once(make: Callable[..., Any]) -> Callable[..., Any]:
    """Make a value once for some arguments, of which native code keeps no more than the address: `functools.cache` lets
    threads that ask first at the same time make one each, and forgets all but the last."""
    made: dict[tuple[Any, ...], Any] = {}
    return lambda *given: made.get(given) or made.setdefault(given, make(*given))


@_once
def _method(code: str, name: str, kind: int) -> _MethodDef:
    return _MethodDef(name.encode(), compiled_code.native_code(code).address(name), kind, None)


def native_function(code: str, name: str, kind: int, table: bytes) -> Callable[..., Any]:
    """Return a native function of some code as one of Python, of a kind of C's, whose ``self`` is a table."""
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return new(ctypes.addressof(_method(code, name, kind)), table, None)


def table_of(words: Sequence[int], kept: Any = None) -> Table:
    table = Table(struct.pack(f"@{len(words)}q", *[word - (1 << 64) if word >= 1 << 63 else word for word in words]))
    table.kept = kept
    return table


@cache
def calls_are_native() -> bool:
    """Return whether Python and torch are such as the native code knows them; without it calls go the long way."""
    return (
        bool(dlpack_reader())
        and all(_torch_function(sys.modules["torch"], name) for name in _TORCH_FUNCTIONS.values())
        and bytes.__basicsize__ - 1 == native.BYTES_HEADER
        and getattr(sys, "_is_gil_enabled", lambda: True)()
    )


@_once
def interpreter() -> Table:
    """Return the words on Python and torch."""
    torch = sys.modules["torch"]
    objects = {
        native.PYTHON_TENSOR_TYPE: torch.Tensor,
        native.PYTHON_PARAMETER_TYPE: torch.nn.Parameter,
        native.PYTHON_INT_TYPE: int,
        native.PYTHON_FLOAT_TYPE: float,
        native.PYTHON_STR_TYPE: str,
        native.PYTHON_TUPLE_TYPE: tuple,
        native.PYTHON_SIZE_TYPE: torch.Size,
        native.PYTHON_NONE: None,
        native.PYTHON_TRUE: True,
        native.PYTHON_FALSE: False,
        native.PYTHON_IS_NEG: torch.Tensor.is_neg,
        native.PYTHON_STORAGE_OFFSET: torch.Tensor.storage_offset,
        native.PYTHON_COMPILER: vars(torch.compiler),
        native.PYTHON_COMPILING: sys.intern("_is_compiling_flag"),
        native.PYTHON_FORWARD: vars(torch.autograd.forward_ad),
        native.PYTHON_LEVEL: sys.intern("_current_level"),
        native.PYTHON_REQUIRES_GRAD: sys.intern("requires_grad"),
        native.PYTHON_REPORT: sys.intern("report"),
        native.PYTHON_EMPTY_LIKE: torch.empty_like,
    }
    words = {
        **{word: id(value) for word, value in objects.items()},
        **{word: int(torch._C._parse_dispatch_key(name)) for word, name in _KEYS.items()},
        **{word: _torch_function(torch, name) for word, name in _TORCH_FUNCTIONS.items()},
        **{word: function_address(name) for word, name in _FUNCTIONS.items()},
        native.PYTHON_READER: dlpack_reader(),
        native.PYTHON_LOWEST_ADDRESS: LOWEST_ADDRESS,
    }
    return table_of([words[word] for word in range(native.PYTHON_WORDS)], list(objects.values()))


def address_in(table: bytes) -> int:
    """Return where the words of a table begin."""
    return id(table) + native.BYTES_HEADER


def code_words(names: dict[str, Any], kept: list[Any]) -> list[int]:
    """Return the words on code that is launched, of what its launches mention (`Executable.launch_names`)."""
    last = (ctypes.c_int64 * 2)(-1)
    kept += [names, last]
    words = {
        native.CODE_ENTRY: ctypes.cast(names["entry"], ctypes.c_void_p).value or 0,
        native.CODE_LOCAL: id(names["local"]),
        native.CODE_NEW_REPORT: id(names["new_report"]),
        native.CODE_FAIL: id(names["fail"]),
        native.CODE_LAST: ctypes.addressof(last),
    }
    return [words[word] for word in range(native.CODE_WORDS)]


# Plans ----------------------------------------------------------------------------------------------------------------

Launch = Callable[[tuple[Any, ...]], bool]
_DTYPES = {elem: kind for kind, elem in DL_KINDS.items()}
"""Element to DLPack's type code and bits."""
_INTS = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8}
_FLOATS = {"f": 4, "d": 8}


class _Plan:
    """Rows of the table under construction, and the objects it mentions, which it keeps alive."""

    def __init__(self, formats: str) -> None:
        self.formats = formats
        self.words: list[int] = []
        self.kept: list[Any] = []
        self._field = 0

    def place(self) -> tuple[int, str]:
        """Return the byte offset and the format of the next field of the argument block."""
        until = self.formats[: self._field + 1]
        letter = self.formats[self._field]
        self._field += 1
        return struct.calcsize("@" + until) - struct.calcsize("@" + letter), letter

    def row(self, kind: int, *words: int) -> None:
        self.words += [kind, len(words) + 2, *words]

    def keep(self, value: Any) -> int:
        """Keep an object alive, and return its address."""
        self.kept.append(value)
        return id(value)


def native_launch(parameters: Sequence[Any], executable: Any, *, exact: bool, hidden_stream: bool) -> Launch | None:
    """Return the native form of a launch function, where it is worth having and knows every argument; None
    elsewhere."""
    device = executable.device
    if not dlpack_type(device.kind) or not getattr(device, "is_only_one", True) or executable.artifact.prints:
        return None
    if type(executable) is not Executable:  # such as a sanitized one, whose entry is a function of Python
        return None
    if not any(isinstance(p.form, TensorForm) for p in parameters) or not calls_are_native():
        return None
    plan = _Plan(executable.artifact.argument_format)
    if not all(_add(plan, parameter, exact) for parameter in parameters):
        return None
    hidden = plan.place()[0] if hidden_stream else -1
    return _launch(plan, executable, len(parameters), hidden)


def _launch(plan: _Plan, executable: Any, count: int, hidden: int) -> Launch:
    words = {
        native.PLAN_PYTHON: address_in(interpreter()),
        native.PLAN_BLOCK_BYTES: max(struct.calcsize("@" + plan.formats), 1),
        native.PLAN_ARGUMENTS: count,
        native.PLAN_HIDDEN_STREAM: hidden,
        native.PLAN_LOWEST_ADDRESS: LOWEST_ADDRESS,
    }
    code = code_words(executable.launch_names(), plan.kept)
    table = table_of([*(words[word] for word in range(native.PLAN_CODE)), *code, *plan.words], (plan.kept, executable))
    return native_function("native_call", "fly_launch", _ONE_ARGUMENT, table)


# One row per argument --------------------------------------------------------------------------------------------


def _add(plan: _Plan, parameter: Any, exact: bool) -> bool:
    form, example = parameter.form, parameter.example
    if isinstance(form, ConstantForm):
        if exact and not _is_single(example):
            return False
        plan.row(*((native.ARGUMENT_CONSTANT, plan.keep(example)) if exact else (native.ARGUMENT_TAKEN,)))
        return True
    if isinstance(form, NoneForm):
        plan.row(native.ARGUMENT_CONSTANT, plan.keep(None))
        return True
    if isinstance(form, TensorForm):
        if type(example) is not TensorAdaptor:
            return _add_tensor(plan, form, example, exact)
        # In front of the row of the array inside: what tells that the marks are the same.
        key = example.key if example.key == form.key else form.key
        plan.row(native.ARGUMENT_ADAPTOR, *[plan.keep(x) for x in (TensorAdaptor, key, "key", "source")])
        return _add_tensor(plan, form, example.source, exact)
    if isinstance(form, ScalarForm):
        return _add_number(plan, form, example, exact)
    return isinstance(form, StreamForm) and _add_stream(plan, form, example)


def _is_single(value: Any) -> bool:
    """Return whether equal values are one object, so that comparing addresses is enough."""
    return value is None or isinstance(value, (bool, type)) or (type(value) is int and -5 <= value <= 256)


def _add_tensor(plan: _Plan, form: TensorForm, example: Any, exact: bool) -> bool:
    torch = sys.modules.get("torch")
    if torch is None or type(example) not in (torch.Tensor, torch.nn.Parameter):
        return False
    if form.elem not in _DTYPES or not dlpack_type(form.place[0]) or form.wide_shape:
        return False
    code, bits = _DTYPES[form.elem]
    device = dlpack_type(form.place[0]) | form.place[1] << 32
    pointer, _ = plan.place()
    lead = form.stride.index(1) if exact and form.raw else 0
    leaves = [word for codes in (form.shape, form.stride) for leaf in codes for word in _leaf(plan, leaf)]
    dtype = code | bits << 8 | 1 << 16
    plan.row(native.ARGUMENT_TENSOR, dtype, device, len(form.shape), form.align - 1, pointer, lead, *leaves)
    return True


def _leaf(plan: _Plan, code: Any) -> tuple[int, int, int, int]:
    if not isinstance(code, Dynamic):
        return code, 0, 0, 0
    place, letter = plan.place()
    return -1, place, _INTS[letter], code.divisibility - 1


def _add_number(plan: _Plan, form: ScalarForm, example: Any, exact: bool) -> bool:
    place, letter = plan.place()
    if letter in _FLOATS and type(example) is float and form.dtype.width in (32, 64):
        plan.row(native.ARGUMENT_FLOAT, place, _FLOATS[letter])
        return True
    if letter not in _INTS or type(example) is not int or form.dtype.width == 1 or form.dtype.is_float:
        return False
    bits = form.dtype.width - form.dtype.signed
    low, high = (-(1 << bits) if form.dtype.signed else 0), (1 << bits) - 1
    if exact and not form.annotated:
        if form.dtype.width > 32:  # a number of 32 bits would be another specialisation
            return False
        low, high = -INT32_LIMIT, INT32_LIMIT - 1
    plan.row(native.ARGUMENT_INT, place, _INTS[letter], low, high)
    return True


def _add_stream(plan: _Plan, form: StreamForm, example: Any) -> bool:
    place, _ = plan.place()
    kind = type(example)
    if example is None or (kind is Stream and example.value is None):
        plan.row(native.ARGUMENT_STREAM, place, 0, 0, 0, 0, plan.keep(example))
        return True
    if kind is int:
        plan.row(native.ARGUMENT_INT, place, 8, 0, (1 << 63) - 1)
        return True
    numbered = family(form.place[0]).numbers_streams
    if kind is Stream or not numbered or not kind.__module__.startswith("torch."):
        return False
    names = [plan.keep(name) for name in ("cuda_stream", "device_index")]
    plan.row(native.ARGUMENT_STREAM, place, plan.keep(kind), *names, form.place[1], 0)
    return True
