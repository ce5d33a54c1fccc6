"""The import contracts of pyproject.toml hold, so that plain pytest finds what `make lint` would."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

_LINT = "from importlinter.cli import lint_imports_command as main; main()"


def test_imports_follow_the_layers(repository: Path) -> None:
    command = [sys.executable, "-c", _LINT, "--no-cache", "--no-logo"]
    run = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_package_has_a_row(repository: Path) -> None:
    config = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(contract for contract in config["contracts"] if contract["id"] == "layers")["layers"]
    rows = {name.strip(" ()") for row in layers for name in row.split("|")}
    package = repository / "python" / "flydsl"
    found = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - {"__init__"} <= rows
