"""Specialisations: what a jit function was compiled for, and which property made each one necessary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flydsl.base import log
from flydsl.compiler.argument_form import Form
from flydsl.compiler.hints import Hints

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
    properties: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def properties_of(names: Sequence[str], forms: Sequence[Form], key: Key) -> dict[str, str]:
    """Every property of a specialisation under a name a reader understands."""
    found = {f"argument '{name}': {what}": text for name, form in zip(names, forms, strict=True)
             for what, text in form.properties().items()}  # fmt: skip
    found["target"] = key.arch
    found["device"] = key.kind if key.kind == "host" else f"{key.kind}:{key.device_number}"
    found.update({f"hint {name}": repr(value) for name, value in key.hints})
    found.update({f"environment variable {name}": value for name, value in key.settings})
    return found


def differences(new: dict[str, str], old: dict[str, str]) -> list[str]:
    """What is different, in words."""
    names = dict.fromkeys((*new, *old))
    absent = "not set"
    return [
        f"{name} is {new.get(name, absent)}, was {old.get(name, absent)}"
        for name in names
        if new.get(name) != old.get(name)
    ]


def record(name: str, names: Sequence[str], forms: Sequence[Form], key: Key, seconds: float,
           earlier: Sequence[Specialisation], changed: str | None) -> Specialisation:  # fmt: skip
    """The record of a compile, reported on stderr if ``FLYDSL_LOG=recompiles`` asks for it."""
    now = properties_of(names, forms, key)
    reasons = min((differences(now, dict(e.properties)) for e in reversed(earlier)), key=len, default=None)
    if changed is not None:
        why = changed
    elif reasons is None:
        why = "the first call"
    else:
        why = "; ".join(reasons) or "the same arguments, code and settings as before, forgotten since"
    arguments = tuple(f"{n}: {form}" for n, form in zip(names, forms, strict=True))
    place = key.kind if key.kind == "host" else f"{key.kind}:{key.device_number}"
    made = Specialisation(arguments, key.arch, place, key.hints, seconds, why, tuple(now.items()))
    if log.topic_enabled(TOPIC):
        lines = [f"{name}: specialisation {len(earlier) + 1} for {key.arch} on {place}, {seconds * 1e3:.0f} ms"]
        lines += [f"    why: {reason}" for reason in (reasons or [why] if changed is None else [why])]
        lines += [f"    {argument}" for argument in arguments]
        log.report(TOPIC, "\n".join(lines))
    return made
