"""Families of devices as data: their names, and all that is said, read or written by one and not by another.

This is the only place, beside `backends`, that tells families apart by their names. Everyone else asks a `Family`.
"""

from __future__ import annotations

from flydsl.base.errors import DslValueError, TargetError
from flydsl.base.records import dataclass

NO_STREAMS, STREAMS_OF_ONE_DEVICE, ANY_STREAM = range(3)
"""What a stream that names its device says to a call: it cannot serve it, it must be of that device, or nothing."""


@dataclass(frozen=True)
class Family:
    """One family of devices. ``name`` is what places of arrays, targets and FLYDSL_RUNTIME_KIND call it."""

    name: str
    maker: str = ""
    """Whose GPUs they are, for messages."""
    virtual: bool = False
    """Whether the host's cores run the kernels, in the process's own memory."""
    conversion: str = ""
    """The pass that ends stage A: it turns atoms into the family's instructions."""
    dialect: str = ""
    """MLIR's dialect of its instructions; without one there are no dumps of stage B."""
    binary_step: str = ""
    """What the step is called that makes the binary."""
    binary_suffix: str = ""
    """Of a file that holds the binary."""
    binary_is_text: bool = False
    dlpack: tuple[int, ...] = ()
    """DLPack's numbers of memory that it reaches, the usual one first."""
    other_names: tuple[str, ...] = ()
    streams: int = NO_STREAMS
    counts_waves: bool = False
    """Whether a barrier is over when every wave that still runs is at one (`s_barrier` in AMD's ISA manuals)."""
    ballot: str = ""
    """LLVM's intrinsic for a bit of each lane, where the operation is not one that the gpu dialect of LLVM 22 has."""
    whole_warps: bool = False
    """Whether collectives want whole warps, and wide accesses the alignment they promise (PTX ISA, 9.7)."""
    export_parts: tuple[str, ...] = ()
    """Files of `outlets/export_runtime` that an exported launcher contains."""
    export_includes: tuple[str, ...] = ("dlfcn.h", "pthread.h", "stddef.h", "stdio.h", "string.h")
    export_links: str = "with -lpthread -ldl"

    def place(self, index: int) -> str:
        """Return a device in a report: ``host``, ``cuda:1``."""
        return self.name if self.virtual else f"{self.name}:{index}"

    def spoken(self, index: int) -> str:
        """Return a device in a sentence: ``the host``, ``cuda:1``."""
        return f"the {self.name}" if self.virtual else self.place(index)

    def in_words(self) -> str:
        """Return what kind of device it is, for somebody who wonders where code is for."""
        return f"the virtual GPU ({self.name})" if self.virtual else f"a GPU ({self.name})"

    @property
    def numbers_streams(self) -> bool:
        """Whether a stream serves calls on the device that it names only."""
        return self.streams == STREAMS_OF_ONE_DEVICE

    def takes_stream(self, device: int, index: int) -> bool:
        """Return whether a stream that says it is of CUDA device ``device`` can serve a call on device ``index``."""
        return self.streams == ANY_STREAM or (self.numbers_streams and device == index)

    def runs(self, target_family: str) -> bool:
        """Return whether code for targets of a family runs on devices of this one."""
        return self.virtual or self.name == target_family


HOST = Family(
    "host", virtual=True, dlpack=(1, 3), other_names=("cpu",), export_parts=("host.c",),
    export_includes=("pthread.h", "sched.h", "stddef.h", "stdio.h", "string.h"), export_links="with -lpthread -lm",
)  # fmt: skip
CUDA = Family(
    "cuda", maker="NVIDIA", conversion="convert-fly-to-nvvm", dialect="nvvm", binary_step="emit-ptx",
    binary_suffix="ptx", binary_is_text=True, dlpack=(2, 13), streams=STREAMS_OF_ONE_DEVICE, whole_warps=True,
    export_parts=("driver.c", "cuda.c"),
)  # fmt: skip
ROCM = Family(
    "rocm", maker="AMD", conversion="convert-fly-to-rocdl", dialect="rocdl", binary_step="link-code-object",
    binary_suffix="hsaco", dlpack=(10, 11), streams=ANY_STREAM, counts_waves=True, ballot="llvm.amdgcn.ballot",
    export_parts=("driver.c", "rocm.c"),
)  # fmt: skip

_families: dict[str, Family] = {family.name: family for family in (HOST, CUDA, ROCM)}


def family(name: str) -> Family:
    """Return the family of a name."""
    try:
        return _families[name]
    except KeyError:
        raise TargetError(f"there is no family of devices '{name}'", hint=f"known are {', '.join(_families)}") from None


def known_families() -> tuple[Family, ...]:
    """Return every family, the virtual GPU first."""
    return tuple(_families.values())


def register_family(new: Family) -> None:
    """Make a family known; the same one may be made known again."""
    if _families.setdefault(new.name, new) != new:
        raise DslValueError(f"there is a family of devices '{new.name}' already", hint="choose another name")


def family_of_place(text: str) -> Family | None:
    """Return the family that goes by a name or another name of it; None where none does."""
    return next((found for found in _families.values() if text in (found.name, *found.other_names)), None)


def family_of_dlpack(number: int) -> Family | None:
    """Return the family whose memory DLPack calls by a number; None where nobody's here."""
    return next((found for found in _families.values() if number in found.dlpack), None)


def dlpack_type(name: str) -> int:
    """DLPack's usual number of the memory of a family; 0 where there is none."""
    found = _families.get(name)
    return found.dlpack[0] if found is not None and found.dlpack else 0
