"""`flyc.export`: a compiled jit function as files that C and C++ programs use without Python."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from flydsl.base.lazy import lazy_module
from flydsl.compiler.messages.diagnostics import present

if TYPE_CHECKING:
    from flydsl.compiler.outlets import export_writer
else:
    export_writer = lazy_module("flydsl.compiler.outlets.export_writer")


def export(
    fn: Any, *args: Any, dir: str | os.PathLike[str], name: str | None = None, device: str | None = None,
    arch: str | None = None, cpu: str = "native", **kwargs: Any,
) -> export_writer.Export:  # fmt: skip
    """Compile ``fn`` for these arguments and write it into the folder ``dir``: objects, C launcher, JSON description.

    The arguments are examples: of a tensor only the element type counts and what is static of its layout, of a number
    only its type. Compile-time arguments are built in. ``name`` (the function's own) names the files and prefixes every
    C name. The code is for the device the arrays are on; ``arch="sm_90a"`` makes it for that GPU, which need not be
    here, and ``device="host"`` for the virtual GPU. ``cpu`` is what the host's part runs on: ``native`` is this
    machine's processor, ``generic`` any of its family. Parameters of ``fn`` may be given by keyword.
    """
    try:
        return export_writer.export_function(fn, args, kwargs, folder=dir, name=name, device=device, arch=arch, cpu=cpu)
    except Exception as error:
        present(error)
        raise
