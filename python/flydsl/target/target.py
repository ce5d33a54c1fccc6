"""What code is generated for: one frozen record of facts per GPU architecture.

This is the only place that compares architecture strings. Everyone else asks a
:class:`Target` for a fact.
"""

from __future__ import annotations

from flydsl.base.errors import DslValueError, TargetError
from flydsl.base.records import dataclass
from flydsl.target.family import Family, family

KIB = 1024


@dataclass(frozen=True)
class Target:
    """The facts of one architecture that the compiler and the virtual GPU need.

    ``lds_bytes`` is what one workgroup may allocate, ``generation`` names the family whose matrix
    and copy instructions apply, ``fnuz`` says which fp8 encoding the matrix unit reads.
    """

    backend: str
    arch: str
    generation: str
    wave_size: int
    lds_bytes: int
    max_block_threads: int = 1024
    max_block: tuple[int, int, int] = (1024, 1024, 64)
    max_grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    fnuz: bool = False
    max_cluster_blocks: int = 1
    processors: int = 0
    """Compute units or multiprocessors of the largest product; each holds one block of any kernel. 0 if unknown."""

    @property
    def family(self) -> Family:
        """The family of devices that runs its code."""
        return family(self.backend)

    @property
    def warp_size(self) -> int:
        return self.wave_size

    @property
    def barriers_count_waves(self) -> bool:
        """Whether a barrier is over when every wave that still runs is at one (`s_barrier` in AMD's ISA manuals)."""
        return self.family.counts_waves

    def __str__(self) -> str:
        return self.arch


_AMD_BLOCK = (1024, 1024, 1024)
_AMD_GRID = (2**31 - 1, 2**31 - 1, 2**31 - 1)


def _amd(arch: str, generation: str, wave: int, lds_kib: int, units: int = 0, *, fnuz: bool = False, clusters: int = 1
         ) -> Target:  # fmt: skip
    return Target("rocm", arch, generation, wave, lds_kib * KIB, max_block=_AMD_BLOCK, max_grid=_AMD_GRID,
                  fnuz=fnuz, max_cluster_blocks=clusters, processors=units)  # fmt: skip


# LDS sizes: AMD CDNA3/CDNA4 and RDNA3/4 ISA documents; NVIDIA: CUDA programming guide, table of
# technical specifications (the opt-in limit per block). Compute units: the product pages of MI250X (one die), MI300X,
# MI355X, RX 7900 XTX, Radeon 8060S, RX 9060 XT and RX 9070 XT; A100 and H100 SXM.
_TARGETS: dict[str, Target] = {
    t.arch: t
    for t in (
        _amd("gfx90a", "cdna2", 64, 64, 104),
        _amd("gfx942", "cdna3", 64, 64, 304, fnuz=True),
        _amd("gfx950", "cdna4", 64, 160, 256),
        _amd("gfx1100", "rdna3", 32, 64, 96),
        _amd("gfx1151", "rdna3", 32, 64, 40),
        _amd("gfx1200", "rdna4", 32, 64, 32),
        _amd("gfx1201", "rdna4", 32, 64, 64),
        _amd("gfx1250", "cdna5", 32, 320, clusters=16),
        Target("cuda", "sm_80", "ampere", 32, 163 * KIB, processors=108),
        Target("cuda", "sm_90a", "hopper", 32, 227 * KIB, max_cluster_blocks=16, processors=132),
    )
}

DEFAULT_ARCH = "gfx942"


def is_rdna(arch: str) -> bool:
    """Return whether an AMD architecture is of the RDNA family: gfx10, gfx11 and gfx120x. gfx1250 is of the CDNA
    family."""
    return arch.strip().lower().startswith(("gfx10", "gfx11", "gfx120"))


def register_target(new: Target) -> None:
    """Make a target known; the same one may be made known again."""
    if _TARGETS.setdefault(new.arch, new) != new:
        raise DslValueError(f"there is a target {new.arch!r} already", hint="choose another name")


def known_archs() -> tuple[str, ...]:
    return tuple(_TARGETS)


def parse_target(arch: str) -> Target:
    """Return the target named by an architecture string such as ``gfx942`` or ``sm_90a``.

    Feature suffixes that a driver appends (``gfx942:sramecc+:xnack-``) are ignored, and the plain
    ``sm_90`` means the Hopper that exists.
    """
    name = arch.strip().split(":")[0]
    name = "sm_90a" if name == "sm_90" else name
    try:
        return _TARGETS[name]
    except KeyError:
        raise TargetError(f"unknown target {arch!r}", hint="set ARCH to one of: " + ", ".join(_TARGETS)) from None
