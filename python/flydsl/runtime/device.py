"""Where kernels run: the contract every device fulfils."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from flydsl.runtime.rocm_arch import get_rocm_arch, is_rdna_arch
from flydsl.target.target import Target

__all__ = ["Device", "get_rocm_arch", "is_rdna_arch"]


class Device(Protocol):
    """A place that runs kernels compiled for one target."""

    @property
    def kind(self) -> str:
        """``host``, ``cuda`` or ``rocm``."""
        ...

    @property
    def target(self) -> Target:
        """What kernels are compiled for to run here."""
        ...

    def arrays(self, *arrays: Any) -> AbstractContextManager[Sequence[Any]]:
        """The arrays where kernels of this device can reach them; results are back when the block ends."""
        ...

    def synchronize(self) -> None:
        """Wait until everything launched so far has finished."""
        ...
