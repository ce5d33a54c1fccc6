"""What a backend answers: its targets, its passes, what hints mean to it, and which driver runs its code.

Compiling asks it for the target (`make_target`, `detect_target`, `supports_target`), for the attributes of kernels
(`lower_compile_hints`), for the passes (`pipeline_fragments`, or `external_binary_pipeline_fragments` when another LLVM
makes the binary) and for its part of the key (`hash`). The other methods tell tools what is true of the target.

Before it, what every backend goes by: the target that the environment names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakSet

from flydsl.base import knobs
from flydsl.base.errors import DslValueError, TargetError
from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass
from flydsl.base.toolchain import toolchain_text
from flydsl.compiler.backends.families import DeviceFamily
from flydsl.compiler.options.hints import checked, kernel_attributes
from flydsl.runtime.hip import environment_arch
from flydsl.target.target import Target, parse_target

if TYPE_CHECKING:
    from flydsl.backends import pipeline as later_stages
    from flydsl.passes import pipeline
else:
    later_stages = lazy_module("flydsl.backends.pipeline")
    pipeline = lazy_module("flydsl.passes.pipeline")


# Environment ----------------------------------------------------------------------------------------------------------


def environment_target() -> Target:
    """Return the target that the variables name: ARCH, FLYDSL_GPU_ARCH, HSA_OVERRIDE_GFX_VERSION, then gfx942."""
    return parsed(environment_arch())


@cache
def parsed(arch: str) -> Target:
    """Return a target by its name, found once."""
    return parse_target(arch)


_WATCHED = (
    knobs.ARCH, knobs.GPU_ARCH, knobs.HSA_OVERRIDE_GFX_VERSION, knobs.COMPILE_ONLY, knobs.RUNTIME_KIND, knobs.JIT,
    *(knob for knob in knobs.TABLE.values() if knob.affects_code),
)  # fmt: skip
"""Variables that choose the target and the device of a call, or change the code."""


_given_out: WeakSet[knobs.Watch] = WeakSet()
_age = 0


def environment_now() -> knobs.Watch:
    """Their state: while it is unchanged, a call does what the one before did."""
    watch = knobs.Watch(_WATCHED)
    _given_out.add(watch)
    return watch


def outdate() -> None:
    """Something beside the variables changed what calls compile to: none does any more what the one before did."""
    global _age
    _age += 1
    for watch in list(_given_out):
        watch.unchanged = _changed


def age() -> int:
    """Return how often `outdate` was called."""
    return _age


def _changed() -> bool:
    return False


# Backends -------------------------------------------------------------------------------------------------------------

TO_LLVM = "llvm-text"
"""The step that turns upstream dialects into LLVM text; it and those after it are the same for every backend."""


@dataclass(frozen=True)
class GPUTarget:
    """The name of a target: family, architecture, and threads of a warp or wave."""

    backend: str
    arch: str
    warp_size: int

    @staticmethod
    def of(target: Target) -> GPUTarget:
        """Return the name of a record of facts."""
        return GPUTarget(target.backend, target.arch, target.wave_size)


class BaseBackend(ABC):
    """A family of targets. The methods say what is true of the one at hand; a subclass fills in the tables."""

    name: ClassVar[str]
    address_spaces: ClassVar[Mapping[str, int]]
    """fly address spaces as LLVM numbers."""
    driver_libraries: ClassVar[tuple[str, ...]] = ()
    hint_attributes: ClassVar[Mapping[str, str]] = {}
    """Hints of its own, and the attribute that each puts on every kernel."""
    targets: ClassVar[tuple[Target, ...]] = ()
    """Targets that come with it."""
    family: ClassVar[DeviceFamily | None] = None
    """The family of devices that comes with it, where its targets are of none that is known."""
    passes: ClassVar[Mapping[str, Callable[[Any], None]]] = {}
    """Passes of its own, which `pipeline_fragments` may name: each changes the module it is given."""

    def __init__(self, target: GPUTarget) -> None:
        if not self.supports_target(target):
            raise TargetError(f"the backend '{self.name}' does not compile for {target.arch} of '{target.backend}'")
        self.target = target

    @classmethod
    def supports_target(cls, target: GPUTarget) -> bool:
        """Return whether the target is of this family."""
        return target.backend == cls.name

    @classmethod
    @abstractmethod
    def detect_target(cls) -> GPUTarget:
        """Return the target to compile for when none is named."""

    @classmethod
    def make_target(cls, arch: str) -> GPUTarget:
        """Return the target of an architecture's name."""
        return GPUTarget.of(parse_target(arch))

    def llvm_address_space(self, space: Any) -> int:
        """LLVM's number of an address space."""
        name = getattr(space, "ir_name", space)
        if name not in self.address_spaces:
            raise DslValueError(f"'{name}' is no address space", hint=f"use one of {', '.join(self.address_spaces)}")
        return self.address_spaces[name]

    def _pipeline_parts(self) -> Iterator[list[str]]:
        """Yield the three stages pass by pass, as dumps and `fly-opt` run them, options in braces.

        They are: fly to the target's dialect, all of that to the llvm dialect, and kernels to a binary.
        """
        target = parse_target(self.target.arch)
        level, line_tables = knobs.COMPILE_OPT_LEVEL.get(), knobs.DEBUG_ENABLE_DEBUG_INFO.get()
        kernels, *rest = later_stages.stage_b(target, level, line_tables)
        yield [*self._stage_a(), f"gpu.module({','.join(kernels.texts())})"]
        yield [text for step in rest for text in step.texts()]
        yield later_stages.STAGE_C.texts()

    def _pipeline_fragments_for_mode(self, mode: str = "fatbin") -> list[str]:
        """Return the passes for a kind of result: ``fatbin``, a module with code in it, or ``external``, one
        without."""
        if mode not in ("fatbin", "external"):
            raise DslValueError(f"no pipeline makes '{mode}'", hint="the modes are fatbin and external")
        parts = list(self._pipeline_parts())
        return [step for part in (parts if mode == "fatbin" else parts[:-1]) for step in part]

    def _stage_a(self) -> list[str]:
        return list(pipeline.stage_a_names(parse_target(self.target.arch).backend))

    def _binary_step(self) -> str:
        """Return the step of a pipeline that makes the device binary."""
        return parse_target(self.target.arch).family.binary_step

    def pipeline_fragments(self, *, compile_hints: Mapping[str, Any] | None = None) -> list[str]:
        """Return every step from traced IR to the binary, in order. A backend may change those before ``llvm-text``.

        From there on a compilation goes the short way; `_pipeline_parts` has the same as passes.
        """
        checked(compile_hints or {})
        return [*self._stage_a(), TO_LLVM, "llvm-optimise", self._binary_step()]

    def external_binary_pipeline_fragments(self, *, compile_hints: Mapping[str, Any] | None = None) -> list[str]:
        """Return the steps that this process runs when another LLVM makes the binary (``FLYDSL_COMPILE_LLVM_DIR``)."""
        binary = ["llvm-optimise", self._binary_step()]
        return [step for step in self.pipeline_fragments(compile_hints=compile_hints) if step not in binary]

    def lower_compile_hints(self, hints: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes that hints put on every kernel."""
        own = {name: hints[hint] for hint, name in self.hint_attributes.items() if hints.get(hint)}
        return kernel_attributes(checked(hints)) | own

    @abstractmethod
    def gpu_module_targets(self) -> list[str]:
        """Return the target attribute of a gpu module, as MLIR text."""

    def hash(self) -> str:
        """Return a text that changes with the backend, its target, and the versions of what compiles."""
        found = [type(self).__module__, type(self).__qualname__, *map(str, vars(self.target).values())]
        hashlib = import_module("hashlib")  # slow to import
        return hashlib.sha256("\n".join([*found, toolchain_text()]).encode()).hexdigest()

    def native_lib_patterns(self) -> list[str]:
        """Shared libraries of this package that its code needs: none, since launchers are compiled as well."""
        return []

    def jit_runtime_lib_basenames(self) -> list[str]:
        """Return the driver's libraries, opened when a device is used."""
        return list(self.driver_libraries)
