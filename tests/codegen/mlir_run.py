"""Small MLIR texts compiled for this machine and run on NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, cf, func, llvm, math, scf, vector
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from flydsl.codegen.function_emitter import Rule
from flydsl.codegen.llvm_build import emit_object, host_triple
from flydsl.codegen.module_emitter import emit_module_text
from flydsl.runtime.object_code import LoadedObject, load_object

DTYPES: dict[str, np.dtype] = {
    "i1": np.dtype(np.uint8),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "index": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3": np.dtype(ml_dtypes.float8_e4m3),
    "f8E3M4": np.dtype(ml_dtypes.float8_e3m4),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E4M3B11FNUZ": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "f6E2M3FN": np.dtype(ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": np.dtype(ml_dtypes.float6_e3m2fn),
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
}


X86 = "x86_64-unknown-linux-gnu"


@cache
def context() -> Context:
    """Upstream's dialects as xDSL has them; ops it lacks are written in generic form."""
    found = Context(allow_unregistered=True)
    for dialect in (Builtin, arith.Arith, cf.Cf, func.Func, llvm.LLVM, math.Math, scf.Scf, vector.Vector):
        found.load_dialect(dialect)
    return found


def parse(text: str) -> ModuleOp:
    """Custom forms of xDSL's arith refuse some vectors that MLIR allows; the tests use generic form there."""
    return Parser(context(), text).parse_module()


def llvm_text(text: str, triple: str = "", rules: Mapping[str, Rule] | None = None) -> str:
    return emit_module_text(parse(text), triple or host_triple(), extra_rules=rules)


def build(text: str, level: int = 2, triple: str = "", rules: Mapping[str, Rule] | None = None) -> LoadedObject:
    """Compile MLIR for this process, written the way ``triple`` needs it (x86 has no bf16 rounding, say)."""
    return load_object(emit_object(llvm_text(text, triple, rules), level=level))


def call(loaded: LoadedObject, name: str, *arguments: np.ndarray | int, result: type | None = None) -> object:
    """Call a function; arrays are passed by address, integers as i64."""
    types = [ctypes.c_void_p if isinstance(value, np.ndarray) else ctypes.c_int64 for value in arguments]
    values = [value.ctypes.data if isinstance(value, np.ndarray) else value for value in arguments]
    return ctypes.CFUNCTYPE(result, *types)(loaded.address(name))(*values)


@dataclass(frozen=True)
class Form:
    """How a suite of functions is written: as scalars or vectors, for this machine or the way x86 needs it."""

    name: str
    lanes: int
    triple: str = ""

    def __str__(self) -> str:
        return self.name

    def covers(self, *elements: str) -> bool:
        """x86 differs in its 16-bit floats only."""
        return not self.triple or bool({"f16", "bf16"} & set(elements))


FORMS = (Form("scalar", 0), Form("vector", 4), Form("as-for-x86", 4, X86))


@dataclass(frozen=True)
class Elementwise:
    """One function that runs ``body`` on every element of its input arrays.

    ``body`` reads ``%a``, ``%b``, ``%c`` and sets ``%r`` (and ``%s`` for a second output). With ``lanes``
    it sees vectors; ``{T}`` in it is the type of ``%a``, ``{R}`` of ``%r``.
    """

    name: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    body: str
    lanes: int = 0

    def type_of(self, element: str) -> str:
        return f"vector<{self.lanes}x{element}>" if self.lanes else element

    def text(self) -> str:
        first = self.type_of(self.inputs[0])
        body = self.body.replace("{T}", first).replace("{R}", self.type_of(self.outputs[0]))
        pointers = [f"%p{i}: !llvm.ptr" for i in range(len(self.inputs) + len(self.outputs))]
        lines = [f"func.func @{self.name}({', '.join(pointers)}, %n: index) {{"]
        lines += ["  %zero = arith.constant 0 : index", f"  %step = arith.constant {max(self.lanes, 1)} : index"]
        lines += ["  scf.for %i = %zero to %n step %step {", "    %at = arith.index_cast %i : index to i64"]
        for number, (value, element) in enumerate(zip("abc", self.inputs)):
            lines += self._address(number, element)
            lines.append(
                f"    %{value} = llvm.load %q{number} {{alignment = 1 : i64}} : !llvm.ptr -> {self.type_of(element)}"
            )
        lines += [f"    {line}" for line in body.strip().splitlines()]
        for offset, (value, element) in enumerate(zip("rs", self.outputs)):
            number = len(self.inputs) + offset
            lines += self._address(number, element) + self._store(number, value, element)
        return "\n".join([*lines, "  }", "  func.return", "}"])

    def _address(self, number: int, element: str) -> list[str]:
        stored = "i8" if DTYPES[element].itemsize == 1 else element
        where = f"%q{number} = llvm.getelementptr %p{number}[%at]"
        return [f"    {where} : (!llvm.ptr, i64) -> !llvm.ptr, {'i64' if stored == 'index' else stored}"]

    def _store(self, number: int, value: str, element: str) -> list[str]:
        type_, name = self.type_of(element), f"%{value}"
        lines: list[str] = []
        if element == "i1":
            lines = [f'    %{value}w = "arith.extui"({name}) : ({type_}) -> {self.type_of("i8")}']
            type_, name = self.type_of("i8"), f"%{value}w"
        return [*lines, f"    llvm.store {name}, %q{number} {{alignment = 1 : i64}} : {type_}, !llvm.ptr"]


def all_predicates(op: str, count: int, lanes: int) -> str:
    """A body for `Elementwise` that sets bit k of the i16 ``%r`` to comparison number k of ``%a`` and ``%b``."""
    flag, word = (f"vector<{lanes}x{bits}>" if lanes else bits for bits in ("i1", "i16"))
    lines = [f'%r{count} = "arith.constant"() <{{value = {_zero(lanes)}}}> : () -> {word}']
    for number in reversed(range(count)):
        lines += [
            f'%c{number} = "arith.{op}"(%a, %b) <{{predicate = {number} : i64}}> : ({{T}}, {{T}}) -> {flag}',
            f'%x{number} = "arith.extui"(%c{number}) : ({flag}) -> {word}',
            f'%d{number} = "arith.addi"(%r{number + 1}, %r{number + 1}) : ({word}, {word}) -> {word}',
            f'%r{number} = "arith.ori"(%d{number}, %x{number}) : ({word}, {word}) -> {word}',
        ]
    return "\n".join(lines).replace("%r0 =", "%r =")


def _zero(lanes: int) -> str:
    return f"dense<0> : vector<{lanes}xi16>" if lanes else "0 : i16"


class Suite:
    """Many elementwise functions compiled as one module: one pass through LLVM for all of them.

    ``rules`` replace those of the host.
    """

    def __init__(
        self,
        functions: Sequence[Elementwise],
        level: int = 1,
        triple: str = "",
        rules: Mapping[str, Rule] | None = None,
    ) -> None:
        self.functions = {function.name: function for function in functions}
        assert len(self.functions) == len(functions), "two functions of one name"
        self.loaded = build("\n".join(function.text() for function in functions), level, triple, rules)

    def run(self, name: str, *inputs: np.ndarray) -> np.ndarray:
        return self.run_all(name, *inputs)[0]

    def run_all(self, name: str, *inputs: np.ndarray) -> list[np.ndarray]:
        function = self.functions[name]
        count = inputs[0].size
        inputs = tuple(np.ascontiguousarray(array) for array in inputs)
        for array, element in zip(inputs, function.inputs, strict=True):
            assert array.size == count and array.dtype.itemsize == DTYPES[element].itemsize, (name, array.dtype)
        outputs = [np.zeros(count, DTYPES[element]) for element in function.outputs]
        call(self.loaded, name, *inputs, *outputs, count)
        return outputs


def equal_bits(left: np.ndarray, right: np.ndarray) -> bool:
    """Same values, NaN equal to NaN, zeros told apart by sign."""
    bits = np.dtype(f"u{left.dtype.itemsize}")
    same = left.view(bits) == right.view(bits)
    if left.dtype.kind in "fV" or left.dtype.name.startswith(("bfloat", "float")):
        same = same | (np.isnan(left.astype(np.float64)) & np.isnan(right.astype(np.float64)))
    return bool(same.all())
