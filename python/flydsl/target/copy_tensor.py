"""gfx1250's tensor data mover as a copy instruction: whole tiles between global memory and LDS."""

from __future__ import annotations

from flydsl.base.errors import DslValueError, TargetError
from flydsl.base.records import dataclass, field
from flydsl.layout.layout import Layout
from flydsl.target.target import Target
from flydsl.target.tensor_descriptor import MOST_RANK


@dataclass(frozen=True)
class TensorCopy:
    """A copy of a tile of 1 to 5 dimensions that ``warps`` waves share; padding counts elements."""

    rank: int
    warps: int = 1
    pad_interval: int = 0
    pad_amount: int = 0
    cache: int = 0
    barrier: bool = False
    timeout: bool = False
    bits: int = field(default=0, init=False)
    direct: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        if not 1 <= self.rank <= MOST_RANK:
            raise DslValueError(f"the tensor data mover copies tiles of 1 to {MOST_RANK} dimensions, not {self.rank}")
        if self.warps < 1 or self.warps & (self.warps - 1):
            raise DslValueError(f"numWarps must be a positive power of two, got {self.warps}")
        if not 0 <= self.cache < 32:
            raise DslValueError(f"the cache modifier {self.cache} is not between 0 and 31")
        if self.pad_interval < 0 or self.pad_amount < 0:
            raise DslValueError(f"padding cannot be negative, got {self.pad_interval}, {self.pad_amount}")
        if bool(self.pad_interval) != bool(self.pad_amount):
            raise DslValueError("padInterval and padAmount must both be zero or both non-zero")
        if self.pad_interval & (self.pad_interval - 1):
            raise DslValueError(f"padInterval must be a power of two (in elements), got {self.pad_interval}")

    @property
    def state(self) -> tuple[str, ...]:
        sizes = tuple(f"{kind}_{i}" for kind in ("extent", "stride") for i in range(self.rank))
        return (*sizes, "imm_offset", "workgroup_mask", *(("barrier",) if self.barrier else ()))

    def __str__(self) -> str:
        flags = f"barrier = {str(self.barrier).lower()}, timeout = {str(self.timeout).lower()}"
        return (
            f"!fly_rocdl.gfx1250.tdm<rank = {self.rank}, warps = {self.warps}, "
            f"pad = {self.pad_interval}, {self.pad_amount}, cache = {self.cache}, {flags}>"
        )

    def thr_layout(self) -> Layout:
        return Layout(1, 0)

    def tv_layouts(self, val_bits: int) -> tuple[Layout, Layout, Layout]:
        """The tile says how many values move, not the instruction; seen from a lane it is one."""
        layout = Layout((1, 1), (0, 1))
        return layout, layout, layout

    def require(self, target: Target) -> None:
        if target.generation != "cdna5":
            raise TargetError(f"{target} has no tensor data mover", hint="it belongs to gfx1250")
