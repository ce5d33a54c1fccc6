"""The fly dialects as xDSL objects: the language's own, and what it adds for each vendor."""

from __future__ import annotations

from xdsl.ir import Attribute, Dialect, Operation

from flydsl.dialects.fly.ops import OP_CLASSES
from flydsl.dialects.fly.types import FLY_TYPES, INSTRUCTION_TYPES


def _dialect(name: str) -> Dialect:
    operations: list[type[Operation]] = [op for op in OP_CLASSES.values() if op.spec.dialect == name]
    types: list[type[Attribute]] = [
        cls for cls in (*FLY_TYPES, *INSTRUCTION_TYPES.values()) if cls.name.split(".", 1)[0] == name
    ]
    return Dialect(name, operations, types)


FLY_DIALECTS = tuple(_dialect(name) for name in ("fly", "fly_rocdl", "fly_nvvm"))
