"""Specialisations: what a jit function was compiled for, and which property made each one necessary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from flydsl.base import log
from flydsl.base.records import dataclass, field
from flydsl.compiler.arguments.argument_form import Form
from flydsl.compiler.options.hints import Hints
from flydsl.target.family import family

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
    """Every property of a specialisation under a name a reader understands."""
    found = {f"argument '{name}': {what}": text for name, form in zip(names, forms, strict=True)
             for what, text in form.properties().items()}  # fmt: skip
    found["target"] = key.arch
    found["device"] = family(key.kind).place(key.device_number)
    if key.backend:
        found["backend"] = key.backend
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


def record(name: str, number: int, names: Sequence[str], forms: Sequence[Form], key: Key, origin: Origin,
           earlier: Iterable[Specialisation]) -> Specialisation:  # fmt: skip
    """The record of a compile, reported on stderr if ``FLYDSL_LOG=recompiles`` asks for it."""
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
    if log.topic_enabled(TOPIC):
        how = f"{'loaded from disk' if origin.from_disk else 'compiled'} in {origin.seconds * 1e3:.0f} ms"
        lines = [f"{name}: specialisation {number} for {key.arch} on {place}, {how}"]
        lines += [f"    why: {reason}" for reason in reasons]
        lines += [f"    not kept on disk: {reason}" for reason in origin.not_kept]
        lines += [f"    {argument}" for argument in arguments]
        log.report(TOPIC, "\n".join(lines))
    return made
