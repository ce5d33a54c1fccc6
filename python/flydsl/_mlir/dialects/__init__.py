"""The dialects of the raw layer under the original's import paths: modules made from tables, and `scf`.

`scf`, whose operations have blocks, is a file of its own.
"""

from __future__ import annotations

import sys
from typing import Any

from flydsl._mlir.dialect_modules import dialect_modules

for _name, _module in dialect_modules(__name__).items():
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _module


def __getattr__(name: str) -> Any:
    raise AttributeError(f"the raw layer has no dialect '{name}'", name=name)
