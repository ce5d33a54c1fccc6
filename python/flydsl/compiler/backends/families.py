"""What follows stage A on each family of devices: LLVM text, the binary, and the device itself.

A family is one object. Ours are the virtual GPU, AMD's and NVIDIA's GPUs; `flyc.register_backend` adds those that a
backend from outside brings along. Nobody else asks which family it is: the driver, the dumps, the export and the choice
of a device ask the object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from flydsl.base.errors import LoweringError
from flydsl.base.lazy import lazy_module
from flydsl.base.progress import stage
from flydsl.base.records import dataclass, field
from flydsl.runtime import cuda, hip
from flydsl.target.family import CUDA, HOST, ROCM, Family, family
from flydsl.target.target import Target

if TYPE_CHECKING:
    import pathlib

    from flydsl.backends import driver_launching, launcher
    from flydsl.backends.cuda import compile as cuda_compile
    from flydsl.backends.host import compile as host_compile
    from flydsl.backends.rocm import compile as rocm_compile
    from flydsl.codegen import llvm_build
    from flydsl.passes import schedule_check
    from flydsl.runtime import nvidia_tools
else:
    pathlib = lazy_module("pathlib")
    driver_launching = lazy_module("flydsl.backends.driver_launching")
    launcher = lazy_module("flydsl.backends.launcher")
    cuda_compile = lazy_module("flydsl.backends.cuda.compile")
    host_compile = lazy_module("flydsl.backends.host.compile")
    rocm_compile = lazy_module("flydsl.backends.rocm.compile")
    llvm_build = lazy_module("flydsl.codegen.llvm_build")
    schedule_check = lazy_module("flydsl.passes.schedule_check")
    nvidia_tools = lazy_module("flydsl.runtime.nvidia_tools")

Assemble = Callable[[bytes, str], bytes]
"""How PTX becomes machine code on the device at hand: PTX and the kernels' names to a cubin, empty if it does not."""

LAUNCHER_LEVEL = 0
"""A launcher beside a GPU's kernels is a page of straight code: optimising it takes 9 ms and spares each launch 7 ns
(measured on a Neoverse N1, 2026-11)."""


@dataclass(frozen=True)
class AfterStageA:
    """A module of upstream dialects, and what it is to become."""

    module: Any
    target: Target
    argument_format: str
    kernels: tuple[str, ...]
    level: int
    line_tables: bool = False
    llvm_dir: pathlib.Path | None = None
    recorder: Any = None
    """Has accesses to shared memory written down, on the virtual GPU."""


@dataclass(frozen=True)
class Lowered:
    """A module as LLVM text of the host's part and, for a GPU, the promise of its binary."""

    host: launcher.HostModule
    kernels: tuple[str, ...]
    level: int
    """Optimisation level of the host's part."""
    binary: Callable[[], bytes] = bytes
    writes: tuple[tuple[int, bool, Any], ...] = ()
    """Arguments that the code may write: `Artifact.writes` with the sites themselves."""
    dumps: Mapping[str, str] = field(default_factory=dict)
    """Files for a folder of dumps."""


class DeviceFamily:
    """A family of GPUs with a driver: kernels are compiled for the device, and a launcher calls the driver."""

    facts: Family

    # Code ----------------------------------------------------------------------------------------

    def device_text(self, module: Any, target: Target, line_tables: bool) -> str:
        """LLVM text of the kernels of a module after stage A."""
        raise LoweringError(f"there is no device code for {target.arch}", hint="run it on the virtual GPU")

    def converted_text(self, module: Any, target: Target, line_tables: bool) -> str:
        """LLVM text of a gpu module after stage B."""
        raise LoweringError(f"there is no device code for {target.arch}", hint="run it on the virtual GPU")

    def assembly(self, text: str, target: Target, level: int, llvm_dir: pathlib.Path | None) -> str:
        """Assembly of LLVM text, for dumps."""
        raise LoweringError(f"there is no assembly for {target.arch}", hint="run it on the virtual GPU")

    def begin_binary(self, text: str, target: Target, level: int, llvm_dir: pathlib.Path | None) -> Callable[[], bytes]:
        """Start making the binary of LLVM text; the call gives the bytes."""
        raise LoweringError(f"there is no binary for {target.arch}", hint="run it on the virtual GPU")

    def disassembly(self, assembly: str, name: str, target: Target, assemble: Assemble | None) -> tuple[str, str]:
        """Return what the machine runs of an assembly, as a suffix and a text; empty where a dump has nothing to
        add."""
        return "", ""

    def look_over(self, module: Any) -> None:
        """Called with a module after stage A that no sanitizer watches: warns of what will not do what it says."""

    def lowered(self, asked: AfterStageA) -> Lowered:
        """Run the stages that follow stage A, down to what LLVM compiles."""
        # The launcher first: what it refuses must not leave a linker running.
        with stage("LLVM text"):
            launching = driver_launching.DriverLaunching(list(asked.kernels))
            triple = llvm_build.host_triple()
            host = launcher.launcher_module(asked.module, asked.target, asked.argument_format, launching, triple)
        with stage("device code"):
            text = self.device_text(asked.module, asked.target, asked.line_tables)
            binary = self.begin_binary(text, asked.target, asked.level, asked.llvm_dir)
        return Lowered(host, asked.kernels, LAUNCHER_LEVEL, binary)

    # Devices -------------------------------------------------------------------------------------

    def is_available(self) -> bool:
        """Return whether this machine has a device of the family."""
        return False

    def device(self, index: int) -> Any:
        """Return the device of a number; None where the family has none here."""
        return None


MOST_LEVEL = 3
"""The optimisation level that takes whatever time it takes."""


class HostFamily(DeviceFamily):
    """The virtual GPU: a kernel becomes a function that runs one workgroup."""

    facts = HOST

    def lowered(self, asked: AfterStageA) -> Lowered:
        with stage("LLVM text"):
            patient = asked.level == MOST_LEVEL
            host = host_compile.host_module(asked.module, asked.target, asked.argument_format, asked.recorder, patient)
        return Lowered(host, asked.kernels, asked.level, dumps={"host.ll": host.text})


class CudaFamily(DeviceFamily):
    """NVIDIA's GPUs: PTX, which the driver or `ptxas` assembles."""

    facts = CUDA

    def device_text(self, module: Any, target: Target, line_tables: bool) -> str:
        return cuda_compile.device_text(module, target, line_tables)

    def converted_text(self, module: Any, target: Target, line_tables: bool) -> str:
        return cuda_compile.converted_text(module, target, line_tables)

    def assembly(self, text: str, target: Target, level: int, llvm_dir: pathlib.Path | None) -> str:
        return cuda_compile.ptx_of(text, target, level, llvm_dir)

    def begin_binary(self, text: str, target: Target, level: int, llvm_dir: pathlib.Path | None) -> Callable[[], bytes]:
        ptx = cuda_compile.ptx_of(text, target, level, llvm_dir)
        return lambda: ptx.encode()

    def disassembly(self, assembly: str, name: str, target: Target, assemble: Assemble | None) -> tuple[str, str]:
        """Machine code that the device at hand makes, or else `ptxas`, if a tool here can read it."""
        cubin = assemble(assembly.encode(), name) if assemble is not None else b""
        cubin = cubin or nvidia_tools.assembled_by_ptxas(assembly.encode(), target.arch).cubin
        return ".sass", nvidia_tools.sass_of(cubin) if cubin else ""

    def is_available(self) -> bool:
        return cuda.is_available()

    def device(self, index: int) -> Any:
        return cuda.cuda_device(index)


class RocmFamily(DeviceFamily):
    """AMD's GPUs: code objects."""

    facts = ROCM

    def device_text(self, module: Any, target: Target, line_tables: bool) -> str:
        return rocm_compile.device_text(module, target, line_tables)

    def converted_text(self, module: Any, target: Target, line_tables: bool) -> str:
        return rocm_compile.converted_text(module, target, line_tables)

    def assembly(self, text: str, target: Target, level: int, llvm_dir: pathlib.Path | None) -> str:
        return rocm_compile.isa_of(text, target, level, llvm_dir)

    def begin_binary(self, text: str, target: Target, level: int, llvm_dir: pathlib.Path | None) -> Callable[[], bytes]:
        return rocm_compile.begin_code_object(text, target, level, llvm_dir).result

    def look_over(self, module: Any) -> None:
        schedule_check.warn_about_schedules(module)

    def is_available(self) -> bool:
        return hip.is_available()

    def device(self, index: int) -> Any:
        return hip.hip_device(index)


_families: dict[str, DeviceFamily] = {found.facts.name: found for found in (HostFamily(), CudaFamily(), RocmFamily())}


def device_family(name: str) -> DeviceFamily:
    """Return the family of a name: of a device's kind, or of a target."""
    if name not in _families:
        family(name)  # which says what there is
    return _families[name]


def gpu_families() -> list[DeviceFamily]:
    """Families of real devices, in the order in which they are looked for."""
    return [found for found in _families.values() if not found.facts.virtual]


def register_device_family(new: DeviceFamily) -> None:
    """Make a family known."""
    _families[new.facts.name] = new
