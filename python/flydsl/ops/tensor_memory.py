"""Where torch keeps what a tensor is: native code reads it there (`native/src/tensor_memory.h`).

DLPack's reader, which torch gives away, makes a C++ object of Python's one, counts references and asks for the
interpreter's lock: 0.06 us for each tensor of a call, where this takes 0.01 (an H200's host, 2026-11-18). Nothing is
taken for granted of the objects: each place is where all of some tensors have what torch says of them, and what is read
of others like these must be what the reader reads. Where any of it fails, the reader stays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from flydsl.compiler.cache.compiled_code import native_code
from flydsl.compiler.calls.native_call import address_in, dlpack_reader, interpreter
from flydsl.native import constants as native
from flydsl.ops import arrays

_TENSOR_BYTES, _STORAGE_BYTES, _DERIVED_BYTES = 23 * 8, 8 * 8, 19 * 8
"""Of C++'s objects, that are searched: they have some more."""
_MOST = 5
"""Dimensions whose sizes lie in the tensor itself."""
_TYPES = (
    "float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "float8_e4m3fn",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e8m0fnu",
)  # fmt: skip


class _Memory(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in (
            "tensor", "storage", "data", "deleter", "sharing", "rank", "sizes", "strides", "offset", "most", "kind",
            "keys", "derived", "asked", "function", "viewed"
        )),
        ("plain", ctypes.c_int64 * native.MEMORY_PLAIN), ("dtype", ctypes.c_int64 * native.MEMORY_TYPES),
        ("device", ctypes.c_int64 * native.MEMORY_DEVICES),
    )  # fmt: skip


class _Tensor(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = (("data", ctypes.c_uint64), ("device", ctypes.c_uint64), ("rank", ctypes.c_uint32),
                ("dtype", ctypes.c_uint32), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("offset", ctypes.c_uint64))  # fmt: skip


_KNOWN: list[_Memory] = []
"""What native code has the address of; the last."""


@cache
def know_tensors(kind: str) -> bool:
    """Have native code read tensors of the host and of a kind of device where they lie; return whether it does."""
    if kind == "cpu" and _KNOWN:
        return True
    torch = arrays.met_torch()
    try:
        with torch.inference_mode(False), torch.enable_grad():
            memory, others = _places(_probes(kind)), _probes(kind)
    except (AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        return False
    words = (ctypes.c_void_p, ctypes.c_void_p, ctypes.py_object)
    alike = ctypes.PYFUNCTYPE(ctypes.c_bool, *words)(_address("fly_reads_alike"))
    if not all(alike(ctypes.addressof(memory), address_in(interpreter()), other) for other in others):
        return False
    _KNOWN.append(memory)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_address("fly_know_tensors"))(ctypes.addressof(memory))
    return True


def reference_place(of: Any, name: str) -> int | None:
    """Return how far into an object the reference is that an attribute sets; None where it is not in the object."""
    marked = object()
    setattr(of, name, marked)
    found = _places_of([id(of)], type(of).__basicsize__, [(id(marked),)])
    return found[0] if len(found) == 1 else None


def _address(name: str) -> int:
    return native_code("native_replay").address(name)


def _probes(kind: str) -> list[Any]:
    """Return tensors that differ in everything, of every type, on the host and on a kind of device."""
    torch = arrays.met_torch()
    made: list[Any] = [torch.from_numpy(np.empty((4, 9), np.float32))]  # whose memory is another's
    types = [getattr(torch, name) for name in _TYPES if hasattr(torch, name)]
    for device in dict.fromkeys(("cpu", kind)):
        base = torch.empty(4096, device=device)
        wanted = [torch.nn.Parameter(torch.empty(shape, device=device)) for shape in ((8, 2), (5,), *[(7, 3)] * 9)]
        with torch.inference_mode():
            inferred = torch.empty(9, 10, device=device)
        made += [
            torch.empty_strided((3, 5, 7), (70, 14, 2), device=device), base[3:], base[17:1017].view(20, 50).t(),
            base[1:1441].view(2, 3, 4, 5, 12), base[7:8].view(()), *wanted, wanted[0].t(), wanted[1].view(1, 5),
            inferred, *base.split(512), *(torch.empty(6, 4, device=device, dtype=dtype) for dtype in types),
        ]  # fmt: skip
    return made


def _places(probes: Sequence[Any]) -> _Memory:
    """Return where everything is; what is not found in one place alone is an error."""
    torch, held = arrays.met_torch(), [probe.untyped_storage() for probe in probes]
    keys = [torch._C._dispatch_keys(probe).raw_repr() for probe in probes]
    tensors, storages = [probe._cdata for probe in probes], [storage._cdata for storage in held]
    memory = _Memory(most=_MOST)
    (memory.tensor,) = _places_of([id(probe) for probe in probes], type(probes[0]).__basicsize__, _each(tensors))
    told = {
        "storage": _each(storages), "rank": [(probe.dim(),) for probe in probes], "keys": _each(keys),
        "sizes": [probe.shape for probe in probes], "strides": [probe.stride() for probe in probes],
        "offset": [(probe.storage_offset(),) for probe in probes],
    }  # fmt: skip
    for name, values in told.items():
        (found,) = _places_of(tensors, _TENSOR_BYTES, values)
        setattr(memory, name, found)
    (memory.data,) = _places_of(storages, _STORAGE_BYTES, _each([storage.data_ptr() for storage in held]))
    memory.plain[:] = [*dict.fromkeys(keys), *keys[:1] * native.MEMORY_PLAIN][: native.MEMORY_PLAIN]
    _place_sharing(memory, storages, probes)
    _place_kinds(memory, tensors, [_read(probe) for probe in probes])
    _place_gradients(memory, tensors, probes)
    return memory


def _each(words: Sequence[int]) -> list[tuple[int]]:
    return [(word,) for word in words]


def _places_of(addresses: Sequence[int], bytes_: int, values: Sequence[Sequence[int]]) -> list[int]:
    """Return where all objects have some words that follow each other, each its own."""

    def has(address: int, words: Sequence[int]) -> bool:
        return all(ctypes.c_int64.from_address(address + 8 * i).value == word for i, word in enumerate(words))

    pairs = [*zip(addresses, values, strict=True)]
    return [at for at in range(0, bytes_, 8) if all(has(address + at, words) for address, words in pairs)]


def _read(probe: Any) -> _Tensor:
    found, reader = _Tensor(), ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(dlpack_reader())
    if reader(probe, ctypes.addressof(found)):
        raise LookupError
    return found


def _place_sharing(memory: _Memory, storages: Sequence[int], probes: Sequence[Any]) -> None:
    """Find what lazily cloned tensors, whose memory is others' until one is written, have in common with no other."""
    torch, devices = arrays.met_torch(), dict.fromkeys(probe.device for probe in probes)
    cloned = [torch.empty(length, device=device) for device in devices for length in (3, 5, 70)]
    clones = [torch._lazy_clone(one).untyped_storage() for one in cloned]

    def words(at: int, addresses: Sequence[int]) -> set[int]:
        return {ctypes.c_int64.from_address(address + at).value for address in addresses}

    shared = {at: words(at, [clone._cdata for clone in clones]) for at in range(memory.data + 8, _STORAGE_BYTES, 8)}
    places = [at for at, found in shared.items() if len(found) == 1 and not found & words(at, storages)]
    memory.deleter = min(places)  # right behind the address; flags differ as well, beside bytes that nobody sets
    (memory.sharing,) = shared[memory.deleter]


def _place_kinds(memory: _Memory, tensors: Sequence[int], facts: Sequence[_Tensor]) -> None:
    """Find four bytes that tell an element type and a device: as many different ones as there are pairs of these."""
    pairs = [(fact.dtype, fact.device) for fact in facts]
    for at in range(0, _TENSOR_BYTES, 4):
        kinds = [ctypes.c_uint32.from_address(tensor + at).value for tensor in tensors]
        if len({*zip(kinds, pairs, strict=True)}) == len({*kinds}) == len({*pairs}):
            break
    else:
        raise LookupError
    memory.kind = at
    for kind, (dtype, device) in zip(kinds, pairs, strict=True):
        memory.dtype[kind & 0xFFFF], memory.device[kind >> 16 & 255] = dtype, device & 0xFFFFFFFF


def _place_gradients(memory: _Memory, tensors: Sequence[int], probes: Sequence[Any]) -> None:
    """Find what autograd knows of tensors: of views as such, of others that they want gradients or pass them on."""
    known = [probe.requires_grad or probe._is_view() for probe in probes]
    (memory.derived,) = _places_told(ctypes.c_int64, tensors, _TENSOR_BYTES, known)
    derived = [ctypes.c_int64.from_address(tensor + memory.derived).value for tensor in tensors]
    there = [(address, probe) for address, probe in zip(derived, probes, strict=True) if address]
    addresses, leaves = [address for address, _ in there], [probe.is_leaf for _, probe in there]
    asked = [probe.requires_grad and probe.is_leaf for _, probe in there]
    (memory.asked,) = _places_told(ctypes.c_uint8, addresses, _DERIVED_BYTES, asked)
    memory.function, *_ = _places_told(ctypes.c_int64, addresses, _DERIVED_BYTES, [not leaf for leaf in leaves])
    views = _places_told(ctypes.c_uint8, addresses, _DERIVED_BYTES, [probe._is_view() for _, probe in there])
    (memory.viewed,) = [at for at in views if at // 8 == memory.asked // 8]  # one flag is beside the other


def _places_told(kind: Any, addresses: Sequence[int], bytes_: int, told: Sequence[bool]) -> list[int]:
    """Return where objects have something, which of a byte is 1, and the others nothing."""
    places, one = range(0, bytes_, ctypes.sizeof(kind)), (lambda value: value) if kind is ctypes.c_uint8 else bool
    return [at for at in places if [one(kind.from_address(address + at).value) for address in addresses] == told]
