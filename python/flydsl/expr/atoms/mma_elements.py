"""Element types of matrix instructions, as the vendors' constructors take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.expr.tensors.element import element_name
from flydsl.expr.trace.context import current, is_tracing
from flydsl.target.mma_facts import not_on_this_target
from flydsl.target.target import Target

_ACCUMULATORS = {"f64": "f64", "i8": "i32", "ui8": "i32", "i4": "i32", "ui4": "i32"}


def pair_of(elem_ab: Any) -> tuple[str, str]:
    """Return the element names of A and B, from one type for both or a pair."""
    if isinstance(elem_ab, (tuple, list)):
        first, second = elem_ab
        return element_name(first), element_name(second)
    return element_name(elem_ab), element_name(elem_ab)


def accumulator_of(elem_acc: Any, elem_a: str) -> str:
    """Return the accumulator's element name; by default i32 for integers, f64 for doubles and f32 for the rest."""
    return _ACCUMULATORS.get(elem_a, "f32") if elem_acc is None else element_name(elem_acc)


def existing(family: str, wanted: str, signatures: Callable[[Target], list[str]], make: Callable[[], Any]) -> Any:
    """Return what ``make`` builds. While tracing, refused with the list of what the target has, unless it has
    ``wanted``.

    ``wanted`` is a shape with element types as `mma_facts.signature` writes it; ``signatures`` lists those of a target.
    """
    if is_tracing() and wanted not in signatures(current_target()):
        raise not_on_this_target(family, wanted, current_target(), signatures(current_target()))
    return checked(make())


def checked(op: Any) -> Any:
    """Return the instruction, refused while tracing for a target that lacks it."""
    return op.require(current_target()) if is_tracing() else op


def current_target() -> Target:
    """Return the target of the kernel being traced."""
    return current().target
