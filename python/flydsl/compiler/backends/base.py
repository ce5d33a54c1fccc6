"""Backends: what one answers, which one compiles for which target, and on which device a call runs.

Compiling asks a backend for the target (`make_target`, `detect_target`, `supports_target`), for attributes of kernels
(`lower_compile_hints`), for the passes (`pipeline_fragments`, or `external_binary_pipeline_fragments` when another LLVM
makes the binary) and for its part of the key (`hash`). The other methods tell tools what is true of the target.

There are two backends of our own, those registered here, and those of installed packages. `backend_for` gives the one
FLYDSL_COMPILE_BACKEND names, else the one registered under the name of the target's family.

Arrays decide the device: those in a GPU's memory run there, those of the host on the virtual GPU. With no arrays, and
for `current_device`, a GPU is taken if there is one. FLYDSL_RUNTIME_KIND asks for a kind of device, and a
call that cannot run there is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from weakref import WeakSet

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, TargetError
from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass
from flydsl.base.toolchain import toolchain_text
from flydsl.compiler.backends.families import DeviceFamily, gpu_families, register_device_family
from flydsl.compiler.options.hints import checked, kernel_attributes
from flydsl.expr.trace.context import current, is_tracing
from flydsl.runtime.device import CompileOnlyDevice, HostDevice
from flydsl.runtime.hip import environment_arch
from flydsl.target.family import HOST, family, family_of_place, register_family
from flydsl.target.target import Target, parse_target, register_target

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


# Which one compiles ---------------------------------------------------------------------------------------------------

GROUP = "flydsl.backends"
"""Entry points of this group are backends: ``name = "package.module:Class"``."""

B = TypeVar("B", bound=type[BaseBackend])
OWN: dict[str, type[BaseBackend]] = {}
_backends: dict[str, type[BaseBackend]] = {}


def own_backend(cls: B) -> B:
    """Make a backend of this package known."""
    OWN[cls.name] = _backends[cls.name] = cls
    return cls


def register_backend(name: str, cls: type[BaseBackend], *, force: bool = False) -> None:
    """Make a backend known; ``force`` replaces one of the same name."""
    if not isinstance(name, str) or not name:
        raise DslTypeError(f"a backend has a name, got {name!r}", hint='write register_backend("mine", MyBackend)')
    if not (isinstance(cls, type) and issubclass(cls, BaseBackend)):
        raise DslTypeError(f"a backend is a subclass of flyc.BaseBackend, got {cls!r}")
    if name in _backends and not force:
        raise DslValueError(f"there is a backend '{name}' already", hint="pass force=True to replace it")
    for target in cls.targets:
        register_target(target)
    if cls.family is not None:
        register_family(cls.family.facts)
        register_device_family(cls.family)
    replaced = _backends.get(name) not in (None, cls)
    _backends[name] = cls
    if replaced:  # code in memory may be what the other one made
        outdate()


def backend_named(name: str, arch: str = "") -> BaseBackend:
    """Return a backend by name, for an architecture or the one it detects."""
    cls = _class_of(name)
    return _made(name, cls, cls.make_target(arch) if arch else cls.detect_target())


def backend_for(target: Target) -> BaseBackend:
    """Return the backend that compiles for a target: the named one, which must fit it, or the target's own."""
    return backend_named(knobs.COMPILE_BACKEND.get() or target.backend, target.arch)


def is_own(backend: BaseBackend) -> bool:
    """Return whether a backend is this package's, which every key covers already."""
    return type(backend) in OWN.values()


def _made(name: str, cls: type[BaseBackend], target: GPUTarget) -> BaseBackend:
    if not cls.supports_target(target):
        raise TargetError(
            f"the backend '{name}' does not compile for {target.arch} of '{target.backend}'",
            hint=f"choose another target, or another {knobs.COMPILE_BACKEND.name}: '{target.backend}' is its own",
        )
    return cls(target)


def _class_of(name: str) -> type[BaseBackend]:
    found = _backends.get(name) or _installed(name)
    if found is None:
        known = ", ".join(sorted({*_backends, *(entry.name for entry in _entry_points())}))
        raise DslValueError(
            f"there is no backend '{name}'",
            hint=f"the backends are: {known}; flyc.register_backend(...) adds one",
        )
    return found


def _installed(name: str) -> type[BaseBackend] | None:
    for entry in _entry_points():
        if entry.name == name:
            register_backend(name, entry.load())
            return _backends[name]
    return None


def _entry_points() -> Any:
    return import_module("importlib.metadata").entry_points(group=GROUP)  # slow to import, and seldom needed


# Devices and targets --------------------------------------------------------------------------------------------------

_KIND = knobs.RUNTIME_KIND.name


def chosen_target() -> Target:
    """Return the target of the virtual GPU: the environment's, or that of the backend or kind of device which it
    names."""
    name = knobs.COMPILE_BACKEND.get()
    if name is None and knobs.ARCH.get() is None and _is_gpu(knobs.RUNTIME_KIND.get()):
        name = knobs.RUNTIME_KIND.get()
    if name is None:
        return environment_target()
    return parsed(backend_named(name, arch=knobs.ARCH.get() or "").target.arch)


@cache
def _host(target: Target) -> HostDevice:
    return HostDevice(target)


def current_device() -> Any:
    """Return the device that new work goes to: a GPU if there is one, else the virtual GPU."""
    kind, target = asked_kind(), chosen_target()
    named = _target_is_named()
    for found in gpu_families():
        name = found.facts.name
        wanted = kind == name or (kind == "auto" and not (named and target.backend != name))
        if wanted and found.is_available():
            return found.device(0)
    if _is_gpu(kind):
        raise DslRuntimeError(
            f"{_KIND}={kind} asks for an {family(kind).maker} GPU, and there is none here",
            hint=f"unset it, or set {_KIND}=host, to run on the virtual GPU",
        )
    return _host(target)


def _target_is_named() -> bool:
    return knobs.ARCH.get() is not None or knobs.COMPILE_BACKEND.get() is not None


def asked_kind() -> str:
    """FLYDSL_RUNTIME_KIND, which must fit a target that is named."""
    kind = knobs.RUNTIME_KIND.get()
    if _is_gpu(kind) and _target_is_named() and (target := chosen_target()).backend != kind:
        raise DslValueError(
            f"{_KIND}={kind} does not fit the target {target.arch}, which is an {target.family.maker} GPU",
            hint=f"set {_KIND} to {target.backend}, to host (the virtual GPU) or to auto, or choose another target",
        )
    return kind


def _is_gpu(kind: str) -> bool:
    """Return whether a kind is of real devices."""
    return any(found.facts.name == kind for found in gpu_families())


def _gpu(kind: str, index: int) -> Any:
    """Return the GPU of a family and number; None where the family is none of ours."""
    return next((found.device(index) for found in gpu_families() if found.facts.name == kind), None)


@cache
def _absent(target: Target, kind: str) -> CompileOnlyDevice:
    return CompileOnlyDevice(target, kind)


def device_for(place: tuple[str, int], arch: str) -> Any:
    """Return the device at a place, to run code compiled for an architecture."""
    kind, index = place
    return _gpu(kind, index) or _host(parsed(arch))


def device_of(places: Iterable[tuple[str, int] | None]) -> Any:
    """Return the device that holds these arrays; with COMPILE_ONLY, the one code is made for."""
    kind = asked_kind()
    if knobs.COMPILE_ONLY.get():
        target = chosen_target()
        return _absent(target, target.backend if kind == "auto" else kind)
    found = {place for place in places if place is not None}
    if not found:
        return current_device()
    if len(found) > 1:
        shown = ", ".join(sorted(_place_text(*place) for place in found))
        raise DslValueError(
            f"the arrays of one call lie on different devices: {shown}",
            hint="move them all to the device the kernel runs on",
        )
    place, index = next(iter(found))
    if kind not in ("auto", place):
        raise _elsewhere(kind, place)
    if place == HOST.name:
        return _host(chosen_target())
    device = _gpu(place, index)
    if device is None:
        raise DslValueError(f"arrays on '{place}' cannot be reached", hint="pass arrays of the host, or of a GPU")
    return device


def _place_text(kind: str, index: int) -> str:
    found = family_of_place(kind)
    return found.place(index) if found is not None else f"{kind}:{index}"


def _elsewhere(kind: str, place: str) -> DslValueError:
    """Arrays that the device which FLYDSL_RUNTIME_KIND asks for cannot reach."""
    lie = "in the host's memory" if place == HOST.name else f"on a GPU ('{place}')"
    asked = "the virtual GPU" if kind == HOST.name else f"an {family(kind).maker} GPU"
    where = "NumPy arrays, for one" if kind == HOST.name else "those of flyc.current_device().arrays(...) or of torch"
    return DslValueError(
        f"the arrays of this call lie {lie}, and {_KIND}={kind} asks for {asked}",
        hint=f"pass arrays that lie there ({where}), or unset {_KIND}: the arrays then decide",
    )


def compile_backend_name() -> str:
    """Return the backend that compiles: FLYDSL_COMPILE_BACKEND, else that of the target new work is compiled for."""
    named = knobs.COMPILE_BACKEND.get()
    if named is None and (kind := knobs.RUNTIME_KIND.get()) in OWN:
        named = kind  # also where there is no such device: code can be made for it
    return named or current_device().target.backend


def get_backend(name: str | None = None, *, arch: str = "") -> BaseBackend:
    """Return a backend by name, for an architecture or the one it detects."""
    return backend_named(name or compile_backend_name(), arch)


@cache
def _make_backend(name: str, arch: str) -> BaseBackend:
    """Return a backend for an architecture, made once."""
    return get_backend(name, arch=arch)


def current_target() -> GPUTarget:
    """Return the target that new work is compiled for; while tracing, that of the trace."""
    return GPUTarget.of(current().target if is_tracing() else current_device().target)
