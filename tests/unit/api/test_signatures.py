"""Signatures of the public names: every parameter has a type, and what is chosen from a few words says which."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, get_args

import flydsl.expr as fx
from flydsl.expr import enum
from flydsl.expr.atoms.hardware_enums import AtomicOp
from flydsl.expr.nvvm.tma import Reduction
from flydsl.target.copy_nvvm import LOAD_HINTS, STORE_HINTS, CacheHint
from flydsl.target.tensor_map import REDUCTIONS, SWIZZLES, SwizzleMode

ROOMS = ("arith", "coop", "epilogue", "gpu", "math", "nvvm", "pipeline", "random", "rocdl", "schedule", "vector")
FREE_TEXT = {
    "fx.AddressSpace.named.name", "fx.IntTuple.from_python.make", "fx.Numeric.from_ir_type.text",
    "fx.NumericMeta.__init__.name", "fx.Tuple3D.__init__.op", "fx.atom_set_value.field", "fx.dump.name",
    "fx.require.message", "fx.require.hint",
}  # fmt: skip
"""Parameters that are names or texts of the caller's own, or of the IR."""
SCOPES = "syncscope"
"""A scope may be any that LLVM's target knows."""


def functions(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A public function, or the public methods of a public class; a record's ``__init__`` is not written by hand."""
    if not inspect.isclass(value):
        if callable(value):
            yield name, value
        return
    for member, found in vars(value).items():
        plain = found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
        written = member == "__init__" and "__record_fields__" not in vars(value)
        if inspect.isfunction(plain) and (written or not member.startswith("_")):
            yield f"{name}.{member}", plain


def parameters() -> Iterator[tuple[str, Any]]:
    """Every parameter of what `fx` and its rooms make public, with its annotation."""
    seen: set[int] = set()
    for room in ("", *ROOMS):
        module: Any = getattr(fx, room) if room else fx
        for name in dir(fx) if not room else module.__all__:
            value = getattr(module, name)
            if isinstance(value, ModuleType) or id(value) in seen:
                continue
            seen.add(id(value))
            for path, function in functions(f"fx.{room}.{name}" if room else f"fx.{name}", value):
                for parameter in inspect.signature(function).parameters.values():
                    if parameter.name not in ("self", "cls"):
                        yield f"{path}.{parameter.name}", parameter.annotation


def test_every_public_parameter_has_a_type() -> None:
    found = dict(parameters())
    untyped = [name for name, annotation in found.items() if annotation is inspect.Parameter.empty]
    assert len(found) > 1500 and not untyped


def test_words_to_choose_from_are_literals() -> None:
    """A plain `str` is for free text; what is one of a few words names them, so that an editor completes it."""
    plain = {
        name
        for name, annotation in parameters()
        if str(annotation) in ("str", "str | None") or str(annotation).endswith("| str")
    }
    assert {name for name in plain if not name.endswith(SCOPES)} == FREE_TEXT


def test_the_words_are_those_of_the_tables() -> None:
    assert set(get_args(CacheHint)) == {*LOAD_HINTS, *STORE_HINTS}
    assert set(get_args(SwizzleMode)) == set(SWIZZLES)
    assert set(get_args(Reduction)) == set(REDUCTIONS)
    assert set(get_args(enum.RoundingName)) == set(enum.RoundingMode)
    assert set(get_args(enum.ReductionName)) == set(enum.ReductionOp)
    assert set(get_args(enum.AtomicName)) == {op.name.lower() for op in AtomicOp}
