"""Names that generated host code and what loads it agree on. A place of its own, free of any IR library."""

from __future__ import annotations

from flydsl.native.constants import STATUS_NO_MEMORY

ENTRY = "fly_entry"
"""The function of an artifact's host object that a call enters."""

CHECK = "fly_check"
"""A function beside the entry, where tensor maps are made: refuses what the entry would, and launches nothing."""

POOL_LAUNCH = "fly_host_launch"
"""The thread pool's entry, which launchers of the host device call."""

POOL_START = "fly_pool_start"
POOL_LIMIT = "fly_pool_limit"
POOL_WATCH_SIGNALS = "fly_pool_watch_signals"

RESIDENT_LAUNCH = "fly_resident_launch"
"""The entry for kernels whose blocks wait for each other, or for those of other ranks."""

SPIN = "fly_host_spin"
"""What a block calls after each look at what it waits for."""

STEP = "fly_host_step"
"""What it calls when it goes on, and before it does what others may wait for."""

POOL_CALLED = (
    POOL_LAUNCH, "fly_launch_begin", "fly_launch_end", RESIDENT_LAUNCH, SPIN, STEP, "fly_ranks_here", "fly_ranks_hooks",
    "fly_ranks_share",
)  # fmt: skip
"""What launchers, kernels and the sanitizers' checker call of the pool."""

DRIVER_ENTRY = "fly_driver_launch"
"""The global of a GPU launcher that holds the driver's launch function."""

DRIVER_ATTRIBUTES_ENTRY = "fly_driver_launch_ex"
"""The global of a CUDA launcher that holds the driver's function for launches with attributes, where it has any."""

TENSOR_MAP_ENTRY = "fly_tensor_map_encode"
"""The global of a CUDA launcher that holds the driver's encoder of tensor maps."""


def handle_symbol(kernel: str) -> str:
    """Return the global of a GPU launcher that holds a kernel's handle."""
    return f"fly_handle_{kernel}"


SANITIZER_ACCESS = "fly_sanitizer_access"
SANITIZER_BARRIER = "fly_sanitizer_barrier"
SANITIZER_WAVE = "fly_sanitizer_wave"
SANITIZER_STRAY = "fly_sanitizer_stray"
SANITIZER_FORGET = "fly_sanitizer_forget"
SANITIZER_ROOT = "fly_sanitizer_root"
SANITIZER_ROOTS = "fly_sanitizer_roots"
SANITIZER_LAUNCH = "fly_sanitizer_launch"
SANITIZER_PENDING = "fly_sanitizer_pending"
SANITIZER_TILE = "fly_sanitizer_tile"
SANITIZER_SETTLE = "fly_sanitizer_settle"
SANITIZER_FENCE = "fly_sanitizer_fence"
SANITIZER_REGISTERS = "fly_sanitizer_registers"
SANITIZER_END = "fly_sanitizer_end"
SANITIZER_HERE = "fly_sanitizer_here"
SANITIZER_MODES = "fly_sanitizer_modes"
SANITIZER_RANKS_FENCE = "fly_sanitizer_ranks_fence"
SANITIZER_CALLED = (
    SANITIZER_ACCESS, SANITIZER_BARRIER, SANITIZER_WAVE, SANITIZER_STRAY, SANITIZER_FORGET, SANITIZER_ROOT,
    SANITIZER_ROOTS, SANITIZER_LAUNCH, SANITIZER_PENDING, SANITIZER_TILE, SANITIZER_SETTLE, SANITIZER_FENCE,
    SANITIZER_REGISTERS, SANITIZER_END, SANITIZER_HERE, SANITIZER_MODES, SANITIZER_RANKS_FENCE,
)  # fmt: skip
"""What sanitized code calls of the checker."""

SANITIZER_BEGIN = "fly_sanitizer_begin"
"""What is called before it is entered."""

SANITIZER_RANKS_OPEN = "fly_sanitizer_ranks_open"
SANITIZER_RANKS_REPORT = "fly_sanitizer_ranks_report"
SANITIZER_RANKS_WRITER = "fly_sanitizer_ranks_writer"
"""What the runtime of virtual ranks calls of the checker."""


# What a native launcher returns: written by the back ends into code, read where a launch fails ----
#
# A place of its own, free of any IR library, so that running compiled code need not load one.


BAD_BLOCK = 1
BAD_GRID = 2
NO_MEMORY = STATUS_NO_MEMORY

# Those of an exported launcher, which checks in C what Python's argument adaptors check.
BAD_ARGUMENT = 3
NOT_LOADED = 4
NO_DRIVER = 5

SANITIZER_FAULT = 6
"""A sanitizer stopped the launch; its state holds the report."""

BAD_MAP_ADDRESS = 7
"""A tensor that does not start where TMA can read; the report has the bytes it is past such a place."""

BAD_CLUSTER = 8
"""A grid that its clusters do not divide."""

BAD_SHARED = 9
"""Bytes of shared memory, known at the launch, that are too few for the kernel or too many for the device."""

BAD_MAP_STRIDE = 10
"""A stride that TMA cannot step by; the report has the mode and the bytes."""

BAD_MAP_EXTENT = 11
"""An extent that TMA cannot take; the report has the mode and the extent."""

BAD_LAYOUT = 12
"""Extents or strides, known at the launch, for which the layout algebra of a kernel has no answer; the report has the
numbers, and the place says what is wrong with them."""

BAD_RESIDENT = 13
"""A grid of blocks that wait for each other, and that the device does not hold all at once."""

SITE_BASE = 1000
"""Statuses from here on name a place in the kernel."""

DRIVER_BASE = 100000
"""Statuses from here on are a GPU driver's own."""

STRIDE_SHIFT, STRIDE_BITS, COUNT_SHIFT = 48, 6, 56
"""Bits of a virtual multicast address: where rank 0's memory is, log2 of the bytes from a rank to the next, ranks."""
