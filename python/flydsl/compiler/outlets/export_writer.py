"""What `flyc.export` does: compile one specialisation, and write it as files for programs that have no Python.

| file | what it is |
|---|---|
| `NAME.h`, `NAME.c` | the launcher in C: one typed function, see `c_launcher.py` |
| `NAME.o` | the native launcher; for the host device the kernels too |
| `fly_pool.o` | the host device's thread pool (host device only) |
| `NAME.ptx`, `NAME.hsaco` | the kernels of a GPU, which `NAME.c` has inside as well |
| `NAME.cubin` | machine code of the PTX, where an NVIDIA GPU is here; for tools, as `NAME.c` loads the PTX |
| `NAME.json` | what all of it is, for tools |
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from flydsl.backends.launcher import field_offsets
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.base.files import atomic_write
from flydsl.base.native_names import DRIVER_ATTRIBUTES_ENTRY, TENSOR_MAP_ENTRY
from flydsl.base.own_code import VERSION
from flydsl.base.records import dataclass, replace
from flydsl.codegen.exported_object import Processor, exported_object, exported_pool, llvm_version, processor
from flydsl.codegen.llvm_options import option_scope
from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.backends.base import chosen_target
from flydsl.compiler.calls.call import Call
from flydsl.compiler.jit_function import JitFunction, collector_paused
from flydsl.compiler.lowering.driver import Lowered, cubin_of, lower_module
from flydsl.compiler.options.hints import hint_scope, option_settings
from flydsl.compiler.outlets.c_arguments import CArgument, c_argument, c_name, hidden_stream
from flydsl.compiler.outlets.c_launcher import LOCAL_NAMES, STATUSES, CFunction, header_text, source_text
from flydsl.compiler.outlets.jit_call import jit_call
from flydsl.compiler.tracing.trace import trace
from flydsl.runtime.device import CompileOnlyDevice
from flydsl.target.family import family, known_families
from flydsl.target.target import parse_target

DESCRIPTION_VERSION = 1


@dataclass(frozen=True)
class Export:
    """The files of one exported function."""

    name: str
    header: Path
    source: Path
    description: Path
    objects: tuple[Path, ...]
    """What to link besides the source."""
    device_binary: Path | None = None
    cubin: Path | None = None


def export_function(
    fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], *, folder: str | os.PathLike[str], name: str | None,
    device: str | None, arch: str | None, cpu: str,
) -> Export:  # fmt: skip
    """Compile the specialisation of these arguments and write its files; `flyc.export` documents the rest."""
    cpu_found = processor(cpu)
    call = jit_call("flyc.export", fn, args, kwargs)
    with collector_paused(), hint_scope(call.hints):
        return _export(call.function, call.args, call.kwargs, Path(folder), name, device, arch, cpu_found)


def _export(
    fn: JitFunction, args: Sequence[Any], kwargs: Mapping[str, Any], folder: Path, name: str | None,
    device: str | None, arch: str | None, cpu: Processor,
) -> Export:  # fmt: skip
    if knobs.SANITIZE.get():
        raise DslRuntimeError(
            "an export has no sanitizers: they report through Python", hint="export outside flyc.sanitize()"
        )
    chosen = _checked_name(name) if name is not None else c_name(fn.__name__)
    call = fn.adapted_call(tuple(args), kwargs)
    call = replace(call, device=_device(call.device, device, arch))
    hints = fn.effective_hints()
    with option_scope(option_settings(hints)):
        module, formats = trace(fn.func, call.arguments, call.device.target, hints)
        assemble = getattr(call.device, "assemble", None)
        lowered = lower_module(
            module, fn.__name__, call.device.target, call.device.kind, formats, assemble=assemble, hints=hints
        )
        function = _c_function(chosen, call, lowered)
        assert function.argument_format == formats, "C and Python disagree about the argument block"
        return _write(function, lowered, cubin_of(function.binary, lowered.kernels, assemble), folder, cpu)


def _c_function(name: str, call: Call, lowered: Lowered) -> CFunction:
    binary = lowered.binary()  # first: what may fail below must not leave a linker running
    named = list(zip(call.signature.names, call.arguments, strict=True))
    return CFunction(
        name=name,
        python_name=call.func.__name__,
        version=VERSION,
        device=call.device.kind,
        target=call.device.target.arch,
        shared_bytes=call.device.target.lds_bytes,
        arguments=_c_arguments(call, name),
        constants={name: _constant_text(value) for name, value in named if not isinstance(value, Adapted)},
        kernels=lowered.kernels,
        sites=lowered.host.sites,
        binary=binary,
        tensor_maps=_has_global(lowered, TENSOR_MAP_ENTRY),
        launch_attributes=_has_global(lowered, DRIVER_ATTRIBUTES_ENTRY),
        writes=frozenset(number for number, _, _ in lowered.writes),
    )


def _has_global(lowered: Lowered, name: str) -> bool:
    return f"\n@{name} =" in lowered.host.text


def _checked_name(name: str) -> str:
    if c_name(name) != name:
        raise DslValueError(f"name={name!r} is no C identifier", hint=f"say name={c_name(name)!r}")
    return name


def _device(found: Any, kind: str | None, arch: str | None) -> Any:
    """Return the device to export for: the one the arrays are on, unless one is named; an arch alone names its GPU."""
    if kind is None and arch is None:
        return found
    exported = [found.name for found in known_families() if found.export_parts]
    if kind is not None and kind not in exported:
        raise DslValueError(f"there is no device {kind!r} to export for", hint=f"say one of {', '.join(exported)}")
    target = parse_target(arch) if arch is not None else chosen_target()
    kind = kind or target.backend
    if not family(kind).runs(target.backend):
        raise DslValueError(
            f"{target.arch} is no target of device {kind!r}",
            hint=f"name one with arch=, or say device={target.backend!r}",
        )
    return CompileOnlyDevice(target, kind)


def _c_arguments(call: Call, prefix: str) -> tuple[CArgument, ...]:
    """Return the parameters of the C function: Python's order without compile-time ones; a stream last, if none is
    named."""
    taken = set(LOCAL_NAMES)
    found = [
        c_argument(value.argument, name, c_name(name, taken), prefix)
        for name, value in zip(call.signature.names, call.arguments, strict=True)
        if isinstance(value, Adapted)
    ]
    if not call.has_stream:
        found.append(hidden_stream(c_name("stream", taken)))
    return tuple(found)


def _constant_text(value: Any) -> str:
    """Return a compile-time value for comments and the description; nothing of where it lies in memory."""
    if value is None or isinstance(value, (bool, int, float, str, tuple, list)):
        return repr(value)
    return getattr(value, "__qualname__", type(value).__qualname__)


# Files -----------------------------------------------------------------------------------------


def _write(function: CFunction, lowered: Lowered, cubin: bytes, folder: Path, cpu: Processor) -> Export:
    name = function.name
    texts: dict[str, str] = {f"{name}.h": header_text(function), f"{name}.c": source_text(function)}
    objects = {f"{name}.o": exported_object(lowered.host.text, function.symbols, cpu, lowered.level)}
    binary: dict[str, bytes] = {}
    if family(function.device).virtual:
        objects["fly_pool.o"] = exported_pool(cpu)
    else:
        binary[f"{name}.{family(function.device).binary_suffix}"] = function.binary
    if cubin:
        binary[f"{name}.cubin"] = cubin
    described = _description(function, cpu, [*texts, *objects, *binary])
    texts[f"{name}.json"] = json.dumps(described, indent=2) + "\n"
    _write_files(folder, {file: text.encode() for file, text in texts.items()} | objects | binary)
    return Export(
        name=name,
        header=folder / f"{name}.h",
        source=folder / f"{name}.c",
        description=folder / f"{name}.json",
        objects=tuple(folder / file for file in objects),
        device_binary=next((folder / file for file in binary), None),
        cubin=folder / f"{name}.cubin" if cubin else None,
    )


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            atomic_write(folder / file, data, mode=0o666)
    except OSError as error:
        raise DslRuntimeError(
            f"the export cannot be written to dir={str(folder)!r}: {error.strerror}",
            hint="name a folder that you can write; it is made if it does not exist",
        ) from error


def _description(function: CFunction, cpu: Processor, files: list[str]) -> dict[str, Any]:
    """Return what a tool needs to know to build or call the export itself."""
    offsets, numbers = iter(field_offsets(function.argument_format)), count()
    arguments = [
        {
            "name": argument.name,
            "python_name": argument.python_name or None,
            "c_type": argument.c_type,
            **argument.description,
            "packed": [
                {
                    "c_type": slot.c_type,
                    "offset": next(offsets),
                    "from": slot.expression,
                    "written": next(numbers) in function.writes,
                }
                for slot in argument.slots
            ],
        }
        for argument in function.arguments
    ]
    return {
        "format": DESCRIPTION_VERSION,
        "name": function.name,
        "function": function.python_name,
        "prototype": f"{function.prototype};",
        "device": function.device,
        "target": function.target,
        "host": {"triple": cpu.triple, "cpu": cpu.cpu},
        "versions": _versions(),
        "files": files,
        "arguments": arguments,
        "constants": dict(function.constants),
        "kernels": list(function.kernels),
        "entry": {"symbols": function.symbols, "argument_format": function.argument_format},
        "statuses": {name: number for name, (number, _) in STATUSES.items()},
        "sites": [{"file": Path(file).name, "line": line, "message": text} for file, line, text in function.sites],
    }


def _versions() -> dict[str, str]:
    return {"flydsl": VERSION, "llvm": llvm_version()}
