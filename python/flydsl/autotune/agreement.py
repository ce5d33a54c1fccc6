"""Whether two configurations computed the same: the outputs of a run beside those of the reference configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from math import prod
from typing import Any

from flydsl.autotune.buffers import Snapshot
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.target.dtype import is_float

TOLERANCES: Mapping[str, float] = {"f64": 1e-10, "f32": 1e-4, "f16": 5e-3, "bf16": 3e-2}
"""Relative to the element and to the root mean square of the tensor: room for sums in another order, not for more."""
NARROW_TOLERANCE = 0.3
"""Floats of eight bits and fewer: about one step of the format with the fewest digits."""

Check = bool | float | tuple[float, float] | Callable[..., Any] | None
"""None or True: the defaults; False: no check; a number or (relative, absolute); a function of (got, expected)."""


def checked_check(check: Any) -> Check:
    """Return the ``check=`` of a tuned function, if it has a meaning."""
    if check is None or isinstance(check, bool) or callable(check):
        return check
    numbers: tuple[Any, ...] = check if isinstance(check, tuple) and len(check) == 2 else (check,)
    if not all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in numbers):
        raise DslTypeError(
            f"check= is False, a tolerance, a pair of them or a function of (got, expected), got {check!r}"
        )
    if not all(n >= 0 for n in numbers):
        raise DslValueError(f"a tolerance is not negative, got check={check!r}")
    return check


class Agreement:
    """Compares what runs leave behind with what the reference configuration left."""

    def __init__(self, snapshot: Snapshot, check: Check) -> None:
        self._snapshot = snapshot
        self._check = check
        self._expected: dict[str, Any] | None = None

    @property
    def wanted(self) -> bool:
        return self._check is not False

    @property
    def has_reference(self) -> bool:
        return self._expected is not None

    def take_reference(self) -> None:
        """What the tensors hold now is what every configuration has to compute."""
        now, before = self._snapshot.now(), self._snapshot.before
        # An unchanged tensor needs no second copy.
        self._expected = {
            name: value if difference(before[name], value, 0.0) else before[name] for name, value in now.items()
        }

    def disagreement(self) -> str | None:
        """Return where the tensors differ from the reference, or None if they agree."""
        assert self._expected is not None
        got = self._snapshot.now()
        if callable(self._check):
            changed = [
                name
                for name, before in self._snapshot.before.items()
                if self._expected[name] is not before or difference(before, got[name], 0.0)
            ]
            verdict = self._check({n: got[n] for n in changed}, {n: self._expected[n] for n in changed})
            return None if verdict is None or bool(verdict) else "the check function refused its results"
        for name, value in got.items():
            found = difference(self._expected[name], value, self._tolerance(name))
            if found:
                return f"{name} {found}"
        return None

    def _tolerance(self, name: str) -> float | tuple[float, float]:
        if isinstance(self._check, tuple):
            return self._check
        if self._check is not None and not isinstance(self._check, bool):
            return float(self._check)  # type: ignore[arg-type]
        elem = self._snapshot.buffers[name].elem
        return TOLERANCES.get(elem, NARROW_TOLERANCE) if is_float(elem) else 0.0


def difference(expected: Any, got: Any, tolerance: float | tuple[float, float]) -> str | None:
    """Return how ``got`` differs from ``expected`` beyond a tolerance, in words; None if it does not.

    One number allows that part of the element and of the tensor's root mean square; a pair is (relative, absolute).
    NaN agrees with NaN, infinity with itself.
    """
    lib = import_module("torch" if hasattr(expected, "detach") else "numpy")
    if 0 in tuple(expected.shape):
        return None
    exact = tolerance == 0 and not _is_floating(expected)
    with import_module("numpy").errstate(all="ignore"):
        want, have = (expected, got) if exact else (_wide(expected, lib), _wide(got, lib))
        bad = want != have
        if not exact:
            # A sign of zero is no difference, a NaN in one place only is.
            bad = bad & ~(lib.isnan(want) & lib.isnan(have))
            near = lib.abs(have - want) <= _room(want, tolerance, lib)
            bad = bad & ~(lib.isfinite(want) & lib.isfinite(have) & near)
    count = int(bad.sum())
    if not count:
        return None
    flat = int(lib.argmax((bad * 1).reshape(-1)))
    place = tuple(int(i) for i in import_module("numpy").unravel_index(flat, tuple(expected.shape)))
    values = f"{have[place].item()} instead of {want[place].item()}"
    return f"differs in {count} of {prod(expected.shape)} elements, first at {list(place)}: {values}"


def _is_floating(array: Any) -> bool:
    if hasattr(array, "is_floating_point"):
        return array.is_floating_point()
    return array.dtype.kind not in "biu"


def _wide(array: Any, lib: Any) -> Any:
    return array.to(lib.float64) if hasattr(array, "detach") else array.astype("float64")


def _room(want: Any, tolerance: float | tuple[float, float], lib: Any) -> Any:
    if isinstance(tolerance, tuple):
        relative, absolute = tolerance
        return relative * lib.abs(want) + absolute
    finite = lib.where(lib.isfinite(want), want, lib.zeros_like(want))
    return tolerance * (lib.abs(want) + lib.sqrt((finite * finite).mean()))
