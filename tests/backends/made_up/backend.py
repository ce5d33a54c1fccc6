"""The back end: the passes of every family, with a conversion of its own at the end of stage A."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from xdsl.dialects.builtin import ModuleOp

import flydsl.compiler as flyc
from flydsl.passes.convert_fly_memory import convert_fly_memory
from tests.backends.made_up.family import AbacusFamily
from tests.backends.made_up.target import ABACUS, ABACUS_ONE


def convert_fly_to_abacus(module: ModuleOp) -> None:
    """It has no instructions of its own: loads, stores and the atoms that every target has are enough."""
    convert_fly_memory(module, {}, {})


class AbacusBackend(flyc.BaseBackend):
    """Compiles for an Abacus."""

    name: ClassVar[str] = ABACUS.name
    address_spaces: ClassVar = {"generic": 0, "global": 1, "shared": 3, "register": 5}
    targets: ClassVar = (ABACUS_ONE,)
    family: ClassVar = AbacusFamily()
    passes: ClassVar = {ABACUS.conversion: convert_fly_to_abacus}

    @classmethod
    def detect_target(cls) -> flyc.GPUTarget:
        return flyc.GPUTarget.of(ABACUS_ONE)

    def lower_compile_hints(self, hints: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().lower_compile_hints(hints), "abacus.hints": len(hints)}

    def gpu_module_targets(self) -> list[str]:
        return []
