"""No test draws data that cannot be drawn again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

UNSEEDED = "default_rng" + "()"


def test_every_generator_is_seeded(repository: Path) -> None:
    unseeded = [
        path.relative_to(repository).as_posix()
        for path in (repository / "tests").rglob("*.py")
        if UNSEEDED in path.read_text(encoding="utf-8")
    ]
    assert not unseeded, f"take the rng fixture, or random_data.generator(), in {unseeded}"


def test_a_failure_prints_the_seed_and_the_seed_draws_the_data_again(tmp_path: Path, repository: Path) -> None:
    test = tmp_path / "test_that_fails.py"
    test.write_text("def test_draw(rng):\n    raise AssertionError(f'drew {rng.integers(10**9)}')\n")

    def drawn(*environment: str) -> tuple[str, str]:
        command = [
            "env",
            *environment,
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "tests.conftest",
            "-n",
            "0",
            str(test),
        ]
        output = subprocess.run(command, cwd=repository, capture_output=True, text=True).stdout
        number = next(line.split()[-1] for line in output.splitlines() if "AssertionError: drew" in line)
        seed = next(line.split("=")[-1] for line in output.splitlines() if "FLYDSL_TEST_SEED=" in line)
        return number, seed

    number, seed = drawn("-u", "FLYDSL_TEST_SEED")
    assert drawn(f"FLYDSL_TEST_SEED={seed}") == (number, seed)
