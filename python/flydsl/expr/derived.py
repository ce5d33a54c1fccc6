"""Tiled copies and matrix operations under the import path of the original; everything is defined elsewhere."""

from __future__ import annotations

from flydsl.expr.atoms import ops_atom
from flydsl.expr.atoms.atom import CopyAtom, MmaAtom, ThrCopy, ThrMma, TiledCopy, TiledMma
from flydsl.expr.atoms.ops_atom import *  # noqa: F403

__all__ = ["CopyAtom", "MmaAtom", "ThrCopy", "ThrMma", "TiledCopy", "TiledMma"]
__all__ += ops_atom.__all__
