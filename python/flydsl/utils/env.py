"""Settings by the names of the original; `flydsl.base.knobs` is where they are defined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flydsl.base import knobs


class EnvManager:
    """The environment variables of one group as attributes: ``env.debug.dump_ir``.

    Attribute names are the variable names without the group's prefix, in lower case.
    """

    def __init__(self, prefix: str = "FLYDSL_") -> None:
        self._prefix = prefix

    def _knob(self, name: str) -> Any:
        for full in (self._prefix + name.upper(), f"FLYDSL_{name.upper()}", name.upper()):
            if full in knobs.TABLE:
                return knobs.TABLE[full]
        known = ", ".join(self)
        raise AttributeError(f"no setting is called '{name}'; there are {known}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._knob(name).get()

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a setting; ``default`` if there is no such setting."""
        try:
            return getattr(self, name)
        except AttributeError:
            return default

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(self._prefix).lower() for name in knobs.TABLE if name.startswith(self._prefix))


compile = EnvManager("FLYDSL_COMPILE_")
runtime = EnvManager("FLYDSL_RUNTIME_")
debug = EnvManager("FLYDSL_DEBUG_")
env = EnvManager()

__all__ = ["EnvManager", "compile", "debug", "env", "runtime"]
