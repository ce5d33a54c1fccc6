"""The native parts of the virtual GPU: C in `src/`, and the LLVM text made of it, which is what users get.

`python -m flydsl.native.generate` makes the text and `constants.py` anew with clang; a test does so and compares.
"""

from __future__ import annotations

from importlib import import_module


def native_text(name: str) -> str:
    """Return the LLVM text of one source, for any processor."""
    resources = import_module("importlib.resources")  # slow to import, and a start with a warm cache needs no text
    return resources.files(__name__).joinpath(f"{name}.ll").read_text()
