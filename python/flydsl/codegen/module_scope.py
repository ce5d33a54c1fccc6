"""What a module of LLVM text holds besides the bodies of its functions.

Globals, declarations of outside functions, private helper functions and metadata are asked for while
bodies are emitted; each is written once. Intrinsics need no declaration: LLVM's reader declares and
mangles every called ``@llvm.*`` function from the call's own types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from flydsl.codegen.llvm_types import BF16
from flydsl.codegen.reading.literals import quoted
from flydsl.native import native_text
from flydsl.target.narrow_conversions import PackedConversion

_DECLARED = re.compile(r"^declare (.+?) @(\w+)\((.*)\)$\n?", re.MULTILINE)
_PLAIN_SYMBOL = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")

# On x86 LLVM rounds f32 -> bf16 and f64 -> bf16/f16 by library calls (compiler-rt, which a Python process
# does not hold), even to carry a bf16 vector from one block to the next. On AArch64 without bf16 instructions
# LLVM 22 rounds by adding to the bits, and wrongly: a sum of two <8 x bfloat> takes the odd neighbour of a tie,
# and a NaN it knows to be quiet is not looked for, so that 0x7fffffff becomes minus zero. On both bf16 is a
# 16-bit integer, arithmetic on it is widened to f32, and the truncations are done with integers.
_SOFT_TRUNCATIONS: dict[str, frozenset[tuple[str, str]]] = {
    "x86_64": frozenset({("f32", "bf16"), ("f64", "bf16"), ("f64", "f16")}),
    "aarch64": frozenset({("f32", "bf16"), ("f64", "bf16")}),
}
_SOFT_FLOATS: dict[str, frozenset[str]] = {"x86_64": frozenset({"bf16"}), "aarch64": frozenset({"bf16"})}
# Types whose fused multiply-add goes through f64 (elementwise_float): LLVM's own way ends in f64 -> f16.
_SOFT_FMA: dict[str, frozenset[str]] = {"x86_64": frozenset({"f16", "bf16"}), "aarch64": frozenset({"bf16"})}
# LLVM 22 makes one fixed-point conversion of an integer converted to f16 and then multiplied by a power of two.
# An integer past f16's range then stays finite where it has to become infinite.
_MERGED_SCALING: dict[str, frozenset[str]] = {"aarch64": frozenset({"f16"})}
# Back ends whose `frem` is right for small quotients only.
_SOFT_REMAINDER = frozenset({"nvptx64"})


def symbol_text(name: str) -> str:
    """Return a global name as LLVM text, quoted when it needs to be."""
    return f"@{name}" if _PLAIN_SYMBOL.fullmatch(name) else f'@"{quoted(name.encode())}"'


@cache
def _native(name: str) -> tuple[list[Any], str]:
    """Return what a native source declares, and the rest of its text."""
    text = native_text(name)
    return _DECLARED.findall(text), _DECLARED.sub("", text)


class ModuleScope:
    """The module-level part of one LLVM text. ``triple`` decides which conversions LLVM can do itself."""

    def __init__(self, triple: str = "", data_layout: str = "") -> None:
        self.triple = triple
        self.data_layout = data_layout
        machine = triple.split("-", 1)[0]
        self.soft_truncations = _SOFT_TRUNCATIONS.get(machine, frozenset[tuple[str, str]]())
        self.soft_floats = _SOFT_FLOATS.get(machine, frozenset[str]())
        self.soft_fma = _SOFT_FMA.get(machine, frozenset[str]())
        self.soft_remainder = machine in _SOFT_REMAINDER
        self.merged_scaling = _MERGED_SCALING.get(machine, frozenset[str]())
        self.narrow_conversions: Mapping[str, PackedConversion] = {}
        """Instructions of the target by element type, where a back end has any."""
        self._globals: dict[str, str] = {}
        self._declarations: dict[str, str] = {}
        self._helpers: dict[str, str] = {}
        self._functions: dict[str, str] = {}
        self._metadata: dict[str, int] = {}
        self._texts: dict[bytes, int] = {}
        self._attribute_groups: dict[str, int] = {}
        self._named_metadata: dict[str, list[str]] = {}

    def declare(self, name: str, result: str, arguments: list[str], attributes: str = "") -> str:
        """Declare an outside function once; a definition of the same name in this module wins."""
        if name not in self._declarations:
            tail = f" {attributes}" if attributes else ""
            self._declarations[name] = f"declare {result} {symbol_text(name)}({', '.join(arguments)}){tail}"
        return symbol_text(name)

    def add_declaration(self, name: str, text: str) -> None:
        """A declaration written out by the module itself; it replaces one guessed from a call."""
        self._declarations[name] = text

    def add_global(self, name: str, text: str) -> None:
        """A global variable, as the text after ``@name = ``."""
        self._globals[name] = f"{symbol_text(name)} = {text}"

    def add_function(self, name: str, text: str) -> None:
        """A whole function definition."""
        self._functions[name] = text

    def helper(self, name: str, build: Callable[[str], str]) -> str:
        """Return a private function of this module, built on first use by ``build(symbol)``."""
        symbol = symbol_text(name)
        if name not in self._helpers:
            self._helpers[name] = ""  # a helper may ask for others while it is built
            self._helpers[name] = build(symbol)
        return symbol

    def add_native(self, name: str) -> None:
        """A native source of the package (`flydsl.native`), once; several may use the same functions of C."""
        declared, text = _native(name)
        for result, function, arguments in declared:
            self.declare(function, result, arguments.split(", ") if arguments else [])
        self.helper(f"fly.native.{name}", lambda _: text)

    def text_number(self, text: bytes) -> int:
        """Return the number of a string constant, one per distinct text."""
        return self._texts.setdefault(text, len(self._texts))

    def metadata(self, body: str) -> str:
        """Return the number of a metadata node such as ``!{i32 1}``, one node per distinct body."""
        return f"!{self._metadata.setdefault(body, len(self._metadata))}"

    def add_named_metadata(self, name: str, node: str) -> None:
        """Add a node to a list that LLVM reads by name, such as ``llvm.module.flags``."""
        self._named_metadata.setdefault(name, []).append(node)

    def attribute_group(self, attributes: str) -> str:
        """Return the number of a function attribute group."""
        return f"#{self._attribute_groups.setdefault(attributes, len(self._attribute_groups))}"

    def global_texts(self) -> tuple[str, ...]:
        """Return the globals asked for so far."""
        return tuple(self._globals.values())

    def declaration_texts(self) -> tuple[str, ...]:
        """Return the outside functions declared so far."""
        return tuple(text for name, text in self._declarations.items() if name not in self._functions)

    def helper_texts(self) -> tuple[str, ...]:
        """Return the private functions built so far."""
        return tuple(self._helpers.values())

    def defines(self, name: str) -> bool:
        return name in self._functions

    def text(self) -> str:
        """Return the module's LLVM text."""
        parts: list[str] = []
        if self.data_layout:
            parts.append(f'target datalayout = "{self.data_layout}"')
        if self.triple:
            parts.append(f'target triple = "{self.triple}"')
        parts.append(f"{BF16} = type {'i16' if 'bf16' in self.soft_floats else 'bfloat'}")
        parts.extend(self._globals.values())
        parts.extend(self.declaration_texts())
        parts.extend(text for name, text in self._helpers.items() if name not in self._functions)
        parts.extend(self._functions.values())
        parts.extend(f"attributes #{number} = {{ {body} }}" for body, number in self._attribute_groups.items())
        parts.extend(f"!{name} = !{{{', '.join(nodes)}}}" for name, nodes in self._named_metadata.items())
        parts.extend(f"!{number} = {body}" for body, number in self._metadata.items())
        return "\n".join(parts) + "\n"
