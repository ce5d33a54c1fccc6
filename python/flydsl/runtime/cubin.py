"""Machine code (a cubin) of PTX for the CUDA device at hand, made once so that no later load has to.

`ptxas` compiles PTX as a whole program, as the driver does when it loads PTX. The driver's linker is always there, but
it makes relocatable code: `setmaxnreg` is ignored in it, and the linker says that performance may be lost. Such code
is kept only by who asks for it. Where nothing is made, the driver makes the code of PTX at every load, and says what
is wrong with PTX that is wrong.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError
from flydsl.base.log import get_logger
from flydsl.runtime.driver_device import Driver
from flydsl.runtime.nvidia_tools import Assembled, assembled_by_ptxas, tools

_log = get_logger(__name__)

LOSS = "Potential Performance Loss"
"""What NVIDIA's assembler says of code that it could not make as fast as the PTX asks for."""

_INFO_LOG, _INFO_LOG_BYTES, _ERROR_LOG, _ERROR_LOG_BYTES, _TARGET = 3, 4, 5, 6, 9
"""Of CUjit_option."""
_INPUT_PTX = 1
_LOG_BYTES = 16384
_ACCELERATED = 0x10000
"""What CUjit_target adds to the number of an architecture for the instructions that it alone has."""
_LINK_TARGETS: dict[str, tuple[int | None, ...]] = {"sm_90a": (_ACCELERATED + 90, None)}
"""Values of the target option to try; None leaves it out, and the device decides."""

_WAYS = {"auto": ("ptxas", "driver"), "ptxas": ("ptxas",), "driver": ("driver",), "off": ()}


def machine_code(driver: Driver, ptx: bytes, arch: str, name: str, explain: Callable[[int], str]) -> bytes:
    """Return the cubin of a device's PTX as `FLYDSL_COMPILE_CUBIN` asks for it, empty where there is none to keep."""
    asked = knobs.COMPILE_CUBIN.get()
    if asked == "ptxas" and not tools("ptxas"):
        raise DslRuntimeError(
            f"{knobs.COMPILE_CUBIN.name}=ptxas, and there is no ptxas here",
            hint=f"install the CUDA toolkit, or say where it is with {knobs.CUDA_HOME.name}",
        )
    for way in _WAYS[asked]:
        made = assembled_by_ptxas(ptx, arch) if way == "ptxas" else linked(driver, ptx, arch, explain)
        lossy = LOSS in made.said
        if made.cubin and lossy and (way == "ptxas" or asked == "driver"):
            _log.warning("the %s on '%s': %s", way, name, made.said.strip())
        if made.cubin and not (lossy and way == "driver" and asked == "auto"):
            return made.cubin
        _log.info("no machine code of '%s' is kept by the %s: %s", name, way, made.said.strip())
    return b""


def linked(driver: Driver, ptx: bytes, arch: str, explain: Callable[[int], str]) -> Assembled:
    """Machine code by the driver's linker. The device's context must be current."""
    made = Assembled(b"", "the driver has no linker")
    if not driver.has("cuLinkCreate_v2"):
        return made
    for target in _LINK_TARGETS.get(arch, (None,)):
        made = _link(driver, ptx, target, explain)
        if made.cubin:
            break
    return made


def _link(driver: Driver, ptx: bytes, target: int | None, explain: Callable[[int], str]) -> Assembled:
    info, errors = ctypes.create_string_buffer(_LOG_BYTES), ctypes.create_string_buffer(_LOG_BYTES)
    options: dict[int, int | None] = {
        _INFO_LOG: ctypes.addressof(info), _INFO_LOG_BYTES: _LOG_BYTES,
        _ERROR_LOG: ctypes.addressof(errors), _ERROR_LOG_BYTES: _LOG_BYTES,
    }  # fmt: skip
    if target is not None:
        options[_TARGET] = target
    names, values = (ctypes.c_int * len(options))(*options), (ctypes.c_void_p * len(options))(*options.values())
    state, image, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    status = driver.try_call("cuLinkCreate_v2", len(options), names, values, ctypes.byref(state))
    if status:
        return Assembled(b"", f"cuLinkCreate failed: {explain(status)}")
    cubin = b""
    try:
        data = ctypes.create_string_buffer(ptx)  # ends in a zero, which PTX needs
        place = (data, ctypes.c_size_t(len(data)), b"kernels.ptx")
        status = driver.try_call("cuLinkAddData_v2", state, _INPUT_PTX, *place, 0, None, None)
        if not status:
            status = driver.try_call("cuLinkComplete", state, ctypes.byref(image), ctypes.byref(size))
        if not status and image.value:
            cubin = ctypes.string_at(image.value, size.value)  # the linker's memory goes with the linker
    finally:
        driver.try_call("cuLinkDestroy", state)
    said = [f"the linker failed: {explain(status)}"] if status else []
    said += [text for log in (errors, info) if (text := log.value.decode(errors="replace"))]
    return Assembled(cubin, "\n".join(said))
