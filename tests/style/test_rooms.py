"""The house: folders that one can look over, and rooms that the map names."""

from __future__ import annotations

from pathlib import Path

MOST, MOST_ELSEWHERE = 14, 30
"""Modules of one folder in `compiler` and `expr`, and in any other package."""


def folders(repository: Path) -> dict[str, int]:
    """How many modules each folder of the package has."""
    package = repository / "python" / "flydsl"
    found: dict[str, int] = {}
    for path in package.rglob("*.py"):
        name = path.parent.relative_to(package).as_posix()
        found[name] = found.get(name, 0) + 1
    return found


def test_no_folder_is_crowded(repository: Path) -> None:
    crowded = {
        name: count
        for name, count in folders(repository).items()
        if count > (MOST if name.split("/")[0] in ("compiler", "expr") else MOST_ELSEWHERE)
    }
    assert not crowded, f"divide these into rooms: {crowded}"


def test_every_room_is_on_the_map(repository: Path) -> None:
    page = (repository / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [name for name in folders(repository) if name.split("/")[0] in ("compiler", "expr") and "/" in name]
    missing = [name for name in rooms if f"`{name}" not in page and "rocdl" not in name and "nvvm" not in name]
    assert not missing, f"docs/architecture.md does not name {missing}"
