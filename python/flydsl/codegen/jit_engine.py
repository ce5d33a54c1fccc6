"""Object code loaded into this process.

One LLVM engine per object: names of different kernels cannot clash, and dropping a `LoadedObject`
frees its code. Outside symbols come from the process (libc, libm), from `add_symbol`, and from the compiler's
support library, where LLVM leaves 128-bit division and conversion.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Iterable
from typing import Any

import llvmlite.binding as llvm

from flydsl.base.errors import LoweringError
from flydsl.codegen.elf_symbols import ObjectSymbols, read_symbols
from flydsl.codegen.llvm_build import MachineKey, host_cpu, host_triple, initialise, new_target_machine

_SUPPORT_LIBRARY = "libgcc_s.so.1"
_lock = threading.Lock()


class LoadedObject:
    """Executable code of one object file; its functions stay valid as long as it is alive."""

    def __init__(self, engine: Any, symbols: ObjectSymbols, keep: tuple[Any, ...]) -> None:
        self._engine = engine
        self._symbols = symbols
        # LLVM's parts must go in order: the engine first, then what it was made of. The collector
        # would take them in any order, so the finalizer holds them until it has closed the engine.
        weakref.finalize(self, _close, engine, keep).atexit = False

    def address(self, name: str) -> int:
        """The address of a function or global defined in the object."""
        if name not in self._symbols.defined:
            known = ", ".join(sorted(self._symbols.defined)) or "nothing"
            raise LoweringError(f"the object defines no '{name}'", hint=f"it defines {known}")
        return self._engine.get_function_address(name) or self._engine.get_global_value_address(name)

    @property
    def names(self) -> frozenset[str]:
        return self._symbols.defined


def load_object(data: bytes) -> LoadedObject:
    """Link object code for this machine into the process."""
    symbols = read_symbols(data)
    cpu, features = host_cpu()
    initialise(host_triple())
    with _lock:
        machine = new_target_machine(MachineKey(host_triple(), cpu, features, 2))
        context = llvm.create_context()
        holder = llvm.parse_assembly("", context)
        # llvmlite's memory manager keeps code and constants within reach of each other, which the small
        # code model needs. Making an engine also opens the process's own symbols for the check below.
        engine = llvm.create_mcjit_compiler(holder, machine, use_lmm=True)
        missing = _add_support(name for name in symbols.undefined if name and not llvm.address_of_symbol(name))
        if missing:
            raise LoweringError(
                f"the object needs symbols this process does not have: {', '.join(missing)}",
                hint="make them known with add_symbol(name, address)",
            )
        engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        engine.finalize_object()
    return LoadedObject(engine, symbols, (holder, context, machine))


def _add_support(names: Iterable[str]) -> list[str]:
    """Make those names known that the compiler's support library has; the others, sorted."""
    missing = sorted(names)
    if not missing:
        return missing
    try:
        library = ctypes.CDLL(_SUPPORT_LIBRARY)
    except OSError:
        return missing
    for name in missing:
        if hasattr(library, name):
            llvm.add_symbol(name, ctypes.cast(library[name], ctypes.c_void_p).value)
    return [name for name in missing if not llvm.address_of_symbol(name)]


def _close(engine: Any, keep: tuple[Any, ...]) -> None:
    with _lock:
        engine.close()
    del keep


def add_symbol(name: str, address: int) -> None:
    """Make a native address known to every object loaded from now on."""
    with _lock:
        llvm.add_symbol(name, address)
