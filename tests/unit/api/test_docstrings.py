"""Every public function and class says what it is for, and so does every public member of the classes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

MODULES = (fx, flyc, fx.coop, fx.random)


def own_docstring(value: Any) -> str | None:
    """The docstring; a class does not inherit its base's."""
    return vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    for name in names:
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isroutine(value)) and value.__module__.startswith("flydsl"):
            yield name, value


def members(kind: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(kind).items():
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_public_names_have_docstrings(module: ModuleType) -> None:
    silent = [name for name, value in public(module) if not (own_docstring(value) or "").strip()]
    assert not silent, f"{module.__name__}: {silent}"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_members_of_public_classes_have_docstrings(module: ModuleType) -> None:
    silent = [
        f"{name}.{member}"
        for name, value in public(module)
        if inspect.isclass(value)
        for member, function in members(value)
        if not (function.__doc__ or "").strip()
    ]
    assert not silent, f"{module.__name__}: {silent}"


def test_number_types_describe_their_bits() -> None:
    assert fx.Uint16.__doc__ == "An unsigned integer of 16 bits."
    assert fx.Float8E4M3FN.__doc__ is not None
    assert fx.Float8E4M3FN.__doc__.startswith("A float of 8 bits, 4 bits of exponent and 3 of mantissa; no infinity")
