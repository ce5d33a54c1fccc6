"""How a name below `kernels` finds its module in `flydsl.kernels`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

RENAMED = {
    "preshuffle_gemm": "gemm.preshuffle_gemm",
    "blockscale_preshuffle_gemm": "gemm.blockscale_preshuffle_gemm",
    "softmax_kernel": "norm.softmax",
    "layernorm_kernel": "norm.layernorm",
    "rmsnorm_kernel": "norm.rmsnorm",
    "norm.softmax_kernel": "norm.softmax",
    "norm.layernorm_kernel": "norm.layernorm",
    "norm.rmsnorm_kernel": "norm.rmsnorm",
    "reduce": "blocks.reduce",
    **{
        f"{room}{name}": "attention.flash_attn"
        for room in ("", "attention.")
        for name in ("flash_attn_generic", "flash_attn_gfx950", "flash_attn_interface", "swa_gfx950")
    },
}
"""Name below `kernels` -> name below `flydsl.kernels`, where the two differ."""


class _Alias(Loader):
    """Puts a module of the library under a second name."""

    def __init__(self, target: str) -> None:
        self._target = target

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(self._target)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != __package__ or fullname == __name__:
            return None
        found = f"flydsl.kernels.{RENAMED.get(name, name)}"
        try:
            known = find_spec(found)
        except ModuleNotFoundError:  # its parent is missing too
            known = None
        return None if known is None else ModuleSpec(fullname, _Alias(found), is_package=True)


def install() -> None:
    """Have `import` ask here for the names below `kernels`."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
