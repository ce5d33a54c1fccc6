"""The fly dialect as one xDSL object."""

from __future__ import annotations

from xdsl.ir import Dialect

from flydsl.dialects.fly.ops import OP_CLASSES
from flydsl.dialects.fly.types import FLY_TYPES, INSTRUCTION_TYPES

FLY = Dialect("fly", list(OP_CLASSES.values()), [*FLY_TYPES, *INSTRUCTION_TYPES.values()])
