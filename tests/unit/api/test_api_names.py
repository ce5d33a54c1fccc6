"""Every name that the public documentation of the original uses exists here.

`api_names.txt` is a copy of the surface document's list: a name and its tag, S for a name of the documentation, R for
one of the repository only. All of them must exist, but for a few R names of kernels that are not written yet.

A name that exists may still be broken, so each S name is also *used* by executed code: a test, a document, an example
or a kernel. `usage.py` finds the uses by reading.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

import flydsl.expr as fx
from tests.unit.api.usage import usage_of

NAMES = [line.split() for line in (Path(__file__).parent / "api_names.txt").read_text().splitlines() if line.strip()]
FAMILIES = {"flydsl.expr.Numeric.": "flydsl.expr.Int32."}
"""Facts such as ``width`` are listed under the family and belong to each class of it."""


def resolve(name: str) -> Any:
    """The object a dotted name stands for; raises AttributeError where it ends."""
    for family, member in FAMILIES.items():
        name = name.replace(family, member)
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)


def exists(name: str) -> bool:
    try:
        resolve(name)
    except AttributeError:
        return False
    return True


KERNELS_TO_COME = {
    "kernels.attention.mla_fwd_decode.flydsl_mla_fwd_decode",
    "kernels.attention.pa_decode_swa.compile_pa_decode_sw",
    "kernels.conv.conv3d_implicit.conv3d_implicit",
    "kernels.conv.conv3d_implicit_fp8.conv3d_implicit_fp8",
}
"""R names that are not written yet."""


@pytest.mark.parametrize("name", [name for name, tag in NAMES if tag == "S"])
def test_documented_name_exists(name: str) -> None:
    assert exists(name), f"{name} is missing"


@pytest.mark.parametrize("name", [name for name, tag in NAMES if tag == "S"])
def test_documented_name_is_used(name: str, repository: Path) -> None:
    usage = usage_of(repository)
    owner, _, member = name.rpartition(".")
    of_a_class = bool(owner) and exists(owner) and inspect.isclass(resolve(owner))
    assert name in usage.names or (of_a_class and member in usage.members), (
        f"no test, document, example or kernel uses {name}: add one to test_older_names.py"
    )


@pytest.mark.parametrize("name", [name for name, tag in NAMES if tag == "R"])
def test_repository_name_exists(name: str) -> None:
    assert exists(name) is (name not in KERNELS_TO_COME), f"{name} is missing, or listed as missing and there"


def test_the_list_is_whole() -> None:
    assert [sum(tag == wanted for _, tag in NAMES) for wanted in "SR"] == [230, 807]


def test_star_import_gives_public_names_only() -> None:
    listed = set(fx.__all__)
    assert {"struct", "Array", "SharedAllocator", "make_layout", "Float32x4", "copy", "thread_idx"} <= listed
    assert not {"Any", "annotations", "current", "apply", "DslTypeError", "describe", "wrap"} & listed
    assert all(hasattr(fx, name) for name in listed)


@pytest.mark.parametrize("module", ["arith", "math", "gpu", "primitive", "derived", "typing", "numeric", "vector"])
def test_modules_that_are_star_imported_say_what_they_export(module: str) -> None:
    loaded = importlib.import_module(f"flydsl.expr.{module}")
    assert all(hasattr(loaded, name) for name in loaded.__all__)


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    lazy = {
        "buffer_ops", "coop", "epilogue", "extern", "mem_ops", "meta", "nvvm", "pipeline", "random", "rocdl",
        "schedule", "tdm_ops", "utils",
    }  # fmt: skip
    seldom = {
        "Symmetric", "assume", "atomic_load", "atomic_store", "gather", "grid_barrier", "rank_barrier", "require",
        "scatter", "signal", "wait",
    }  # fmt: skip
    assert set(dir(fx)) == {*fx.__all__, *lazy, *seldom}
    assert all(hasattr(fx, name) for name in dir(fx))


def test_lazy_submodules() -> None:
    assert fx.coop.__name__ == "flydsl.expr.coop" and fx.random.__name__ == "flydsl.expr.random"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fx.nothing  # noqa: B018
