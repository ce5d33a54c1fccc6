"""Launchers that builders keep: equal numbers of other types neither find them nor leave others."""

from __future__ import annotations

import pkgutil
from dataclasses import replace
from importlib import import_module
from inspect import signature
from typing import Any, TypeAlias, get_type_hints

import numpy as np
import pytest

import flydsl.kernels
from flydsl.kernels.attention.rope_cache import build_rope_module
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.gemm.hgemm_splitk import launcher
from flydsl.kernels.gemm.lds_plan import LdsPlan
from flydsl.kernels.moe.topk_gating import build_topk_gating_softmax_module
from flydsl.kernels.quant.device_quant import build_mx_quant_module


def test_a_float_leaves_no_launcher(rng: np.random.Generator) -> None:
    """2.0 heads and 2 are equal: the launcher of the first failed, and was then given out for the second."""
    for wrong in (2.0, np.float32(2)):
        with pytest.raises(TypeError, match="heads of build_rope_module is an integer, got"):
            build_rope_module(wrong, 8, "f32")
    x, angles = rng.standard_normal((3, 16)).astype(np.float32), rng.standard_normal((3, 4)).astype(np.float32)
    out = np.empty_like(x)
    build_rope_module(2, 8, "f32")(x, np.cos(angles), np.sin(angles), out, 3, 3)
    a, b = x.reshape(3, 2, 8)[..., :4], x.reshape(3, 2, 8)[..., 4:]
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    np.testing.assert_allclose(
        out.reshape(3, 2, 8), np.concatenate([a * cos - b * sin, b * cos + a * sin], -1), 1e-5, 1e-6
    )
    with pytest.raises(TypeError, match=r"heads of build_rope_module is an integer, got 2\.0"):
        build_rope_module(2.0, 8, "f32")  # type: ignore[arg-type]


def test_numbers_are_made_what_they_are_said_to_be() -> None:
    one = build_topk_gating_softmax_module(8, 1, "f32", True)
    assert build_topk_gating_softmax_module(np.int64(8), True, "f32", 1) is one
    with pytest.raises(TypeError, match=r"renormalize of build_topk_gating_softmax_module is True or False, got 1\.0"):
        build_topk_gating_softmax_module(8, 1, "f32", 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"N of build_mx_quant_module is an integer, got '64'"):
        build_mx_quant_module("64", "f32")  # type: ignore[arg-type]

    @kept
    def build_numbers(tile: tuple[int, int], eps: float, wide: int | None = None) -> Any:
        return tile, eps, wide

    found = build_numbers((np.int32(2), True), 1, wide=np.uint8(3))
    assert [*map(type, (*found[0], *found[1:]))] == [int, int, float, int] and found is build_numbers((2, 1), 1.0, 3)
    with pytest.raises(TypeError, match=r"each number in tile of build_numbers is an integer, got 2\.0"):
        build_numbers((2.0, 1), 1.0)  # type: ignore[arg-type]


Tile: TypeAlias = tuple[int, ...]
Heads: TypeAlias = int | None


def test_annotations_may_have_names_of_their_own() -> None:
    @kept
    def build_named(tile: Tile | None, names: tuple[str, ...] = (), heads: Heads = None, other=1) -> Any:
        return tile, names, heads, other

    found = build_named((np.int32(2), True), ("a",), np.int8(3), 4.0)
    assert [*map(type, (*found[0], *found[1:]))] == [int, int, tuple, int, float]
    assert found is build_named((2, 1), ("a",), 3, 4.0) and build_named(None)[0] is None
    for wrong in (((2.0,),), ((), (), 3.0)):
        with pytest.raises(TypeError, match="of build_named is an integer, got"):
            build_named(*wrong)


def test_fields_of_plans_are_looked_at() -> None:
    plan = LdsPlan(192, 64, 64, 64, 32, "fp16", "fp16")
    with pytest.raises(TypeError, match=r"n in plan of launcher is an integer, got 192\.0"):
        launcher(replace(plan, n=192.0))  # type: ignore[arg-type]
    assert launcher(plan) is launcher(replace(plan, n=np.int64(192)))  # type: ignore[arg-type]


def test_builders_are_kept_so() -> None:
    """All that keep launchers for numbers."""
    builders = {}
    for module in pkgutil.walk_packages(flydsl.kernels.__path__, "flydsl.kernels."):
        for name, value in vars(import_module(module.name)).items():
            if hasattr(value, "cache_parameters") and name.startswith(("build_", "compile_")):
                builders[value.__module__, name] = value
    assert len(builders) > 60
    for name, build in builders.items():
        plain = [kind for one in signature(build).parameters.values() if "int" in (kind := str(one.annotation))]
        assert build.cache_parameters()["typed"] or not plain, name
        assert get_type_hints(build).keys() >= signature(build).parameters.keys(), name
