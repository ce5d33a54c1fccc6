"""Configurations: what they inject, and how they are written and read."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import flydsl
import flydsl.expr as fx
from flydsl.autotune import Config


def test_values_options_and_hints() -> None:
    config = Config(BLOCK=128, num_warps=4, waves_per_eu=2, maxnreg=64)
    assert config.kwargs == {"BLOCK": 128}
    assert config.all_kwargs() == {"BLOCK": 128, "num_warps": 4}
    assert config.compiler_opts() == {"waves_per_eu": 2, "maxnreg": 64}
    assert Config(BLOCK=1).all_kwargs() == {"BLOCK": 1} and Config(BLOCK=1).compiler_opts() == {}
    assert repr(config) == "Config(BLOCK=128, num_warps=4, waves_per_eu=2, maxnreg=64)"


@pytest.mark.parametrize(
    "config",
    [
        Config(),
        Config(a=1, b=True, c=1.0, d="text", e=None),
        Config(tile=(64, (32, 8)), steps=[1, (2, 3)], table={"x": (1,)}),
        Config(dtype=fx.Float16, other=(fx.Int8, fx.BFloat16)),
        Config(num_warps=8, maxnreg=128),
    ],
    ids=repr,
)
def test_goes_through_json_unchanged(config: Config) -> None:
    read = Config.from_dict(json.loads(json.dumps(config.to_dict())))
    assert read == config and hash(read) == hash(config) and read.kwargs == config.kwargs
    assert all(type(read.kwargs[name]) is type(value) for name, value in config.kwargs.items())


def test_equality_tells_types_and_hooks_apart() -> None:
    different = [Config(a=1), Config(a=True), Config(a=1.0), Config(a="1"), Config(b=1), Config(a=1, num_warps=1)]
    assert len(set(different)) == len(different)
    assert Config(a=1, b=2) == Config(b=2, a=1)
    assert Config(a=1, pre_hook=print) != Config(a=1)


def test_what_a_file_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="'tile' in a Config is a set"):
        Config(tile={1, 2})
    with pytest.raises(TypeError, match="number types such as"):
        Config(dtype=int)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"num_warps": 0}, ValueError),
        ({"num_warps": 2.0}, TypeError),
        ({"waves_per_eu": -1}, ValueError),
        ({"maxnreg": "many"}, TypeError),
        ({"pre_hook": 3}, TypeError),
    ],
)
def test_bad_options(options: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        Config(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [["BLOCK"], {1: 2}, {"pre_hook": 1}, {"a": {"$type": "NoSuchType"}}, None])
def test_bad_files(values: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        Config.from_dict(values)  # type: ignore[arg-type]


def test_names_of_the_package() -> None:
    assert flydsl.Config is Config
    assert callable(flydsl.autotune) and flydsl.autotune.Config is Config
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        flydsl.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_package_loads_tuning_when_asked_and_nothing_heavy() -> None:
    code = (
        "import sys, flydsl\n"
        "print('flydsl.autotune' in sys.modules)\n"
        "flydsl.Config, flydsl.autotune.do_bench, flydsl.autotune(configs=[flydsl.Config()])\n"
        "print([name for name in ('torch', 'xdsl', 'llvmlite', 'numpy', 'tqdm') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False", "[]"]
