"""Functions of ops that native code answers: a call that can be repeated runs no code of Python.

Python lets native code stand in for that of a function (`PyFunction_SetVectorcall`, from 3.12 on), which stays the same
to those who look at it, torch's compiler among them. Native code puts the arguments in order and makes the call that
the function's own code would (`Lanes.again`); what that cannot repeat runs the code. The structures are those of
`native/src/function_entries.h`.
"""

from __future__ import annotations

import ctypes
import inspect
from functools import cache
from typing import Any

from flydsl.compiler.cache.compiled_code import native_code
from flydsl.compiler.calls.native_call import function_address
from flydsl.ops import arrays
from flydsl.ops.op import Constant, Entry, Given, Ordered

_ENTERED: list[Any] = []
"""What native code has the addresses of."""
_STAND_IN = "PyFunction_SetVectorcall"
_ASKED = {
    "frame_of": "_PyInterpreterState_GetEvalFrameFunc",
    "frame": "_PyEval_EvalFrameDefault",
    "code": "_PyFunction_Vectorcall",
}
"""Functions of Python that an entry has."""


class _Parameter(ctypes.Structure):
    _fields_ = (("name", ctypes.c_void_p), ("otherwise", ctypes.c_void_p), ("absent", ctypes.c_int64),
                ("stands", ctypes.c_int64))  # fmt: skip


class _Argument(ctypes.Structure):
    _fields_ = (("parameter", ctypes.c_int64), ("constant", ctypes.c_void_p), ("asked", ctypes.c_void_p))


class _Entry(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in (
            "next", "function", "site", "none", "frame_of", "interpreter", "frame", "code"
        )),
        *((name, ctypes.c_int64) for name in ("positional", "parameters", "arguments")),
        ("parameter", ctypes.POINTER(_Parameter)), ("argument", ctypes.POINTER(_Argument)),
    )  # fmt: skip


@cache
def _python() -> dict[str, int]:
    """Return what an entry says of Python."""
    api = ctypes.pythonapi
    api.PyInterpreterState_Get.restype = ctypes.c_void_p
    addresses = {word: function_address(name) for word, name in _ASKED.items()}
    return {**addresses, "interpreter": api.PyInterpreterState_Get(), "none": id(None)}


def enter(entry: Entry, again: Any) -> None:
    """Let native code answer a function, by what repeats its calls, where Python knows of such functions."""
    api = ctypes.pythonapi
    if all(hasattr(api, name) for name in (_STAND_IN, *_ASKED.values())):
        stand_in = getattr(api, _STAND_IN)
        stand_in.restype, stand_in.argtypes = None, [ctypes.py_object, ctypes.c_void_p]
        stand_in(entry.function, entered(entry, again))


def entered(entry: Entry, again: Any) -> int:
    """Return the address of the native code, which knows the function then."""
    named = inspect.signature(entry.function).parameters
    parameters = [_parameter(one, entry, [*named]) for one in named.values()]
    arguments = [_argument(one, [*named]) for one in entry.given]
    made = _Entry(
        function=id(entry.function), site=id(again.__self__), **_python(), parameters=len(parameters),
        positional=sum(one.kind is one.POSITIONAL_OR_KEYWORD for one in named.values()), arguments=len(arguments),
        parameter=(_Parameter * len(parameters))(*parameters), argument=(_Argument * len(arguments))(*arguments),
    )  # fmt: skip
    _ENTERED.append((made, entry, again, named))
    code = native_code("native_replay")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("fly_add_entry"))(ctypes.addressof(made))
    return code.address("fly_entry")


def _parameter(one: inspect.Parameter, entry: Entry, names: list[str]) -> _Parameter:
    stands = names.index(entry.stands[1]) if entry.stands and entry.stands[0] == one.name else -1
    default = None if one.default is one.empty else id(one.default)
    return _Parameter(id(one.name), default, one.name in entry.absent, stands)


def _argument(one: Given, names: list[str]) -> _Argument:
    name = one.name if isinstance(one, Ordered) else one if isinstance(one, str) else None
    constant = one.value if isinstance(one, Constant) else None
    asked = id(arrays.is_ordered) if isinstance(one, Ordered) else None
    return _Argument(-1 if name is None else names.index(name), id(constant), asked)
