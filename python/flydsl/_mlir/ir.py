"""`ir` of the raw layer: types, attributes, values, places to build, under the names of MLIR's bindings."""

from __future__ import annotations

from typing import Any

from flydsl._mlir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseElementsAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
    UnitAttr,
)
from flydsl._mlir.op_view import OpView
from flydsl._mlir.places import BlockView, Context, InsertionPoint, Location, Module
from flydsl._mlir.types import (
    FLOAT_CLASSES,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    Type,
    VectorType,
)
from flydsl._mlir.values import Value

Operation = OpView
Block = BlockView


def __getattr__(name: str) -> Any:
    if name in FLOAT_CLASSES:
        return FLOAT_CLASSES[name]
    raise AttributeError(f"the raw layer's ir has no '{name}'", name=name)


__all__ = [
    "ArrayAttr", "Attribute", "Block", "BoolAttr", "Context", "DenseElementsAttr", "FlatSymbolRefAttr", "FloatAttr",
    "FloatType", "FunctionType", "IndexType", "InsertionPoint", "IntegerAttr", "IntegerType", "Location", "MemRefType",
    "Module", "OpView", "Operation", "StringAttr", "Type", "TypeAttr", "UnitAttr", "Value", "VectorType",
]  # fmt: skip
