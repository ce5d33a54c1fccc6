"""Each mistake of the catalogue is refused at its line with its advice, and docs/errors.md shows what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.errors.catalogue import MISTAKES, document
from tests.unit.errors.mistake import FILE, Mistake, run


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.slug)
def test_a_mistake_is_explained(mistake: Mistake, tmp_path: Path) -> None:
    error = run(mistake, tmp_path)
    assert type(error) is mistake.error
    assert isinstance(error, mistake.built_in)
    location = error.location
    assert location is not None, "no place"
    assert location.file == str(tmp_path / FILE)
    assert location.line == mistake.line, str(error)
    assert error.hint, "no advice"
    text = error.rendered()
    first = text.splitlines()[0]
    assert first.startswith(f"{location.file}:{mistake.line}")
    assert mistake.source.splitlines()[mistake.line - 1].strip() in text
    for word in mistake.words:
        assert word in text, f"{word!r} is not in:\n{text}"


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.slug)
def test_the_message_is_in_the_user_s_words(mistake: Mistake, tmp_path: Path) -> None:
    text = run(mistake, tmp_path).rendered()
    for inside in ("Traceback", "xdsl", "object at 0x", "<class", "NotImplemented"):
        assert inside not in text, text


def test_the_catalogue_is_large_enough_and_says_each_thing_once() -> None:
    assert len(MISTAKES) >= 40
    assert len({mistake.title for mistake in MISTAKES}) == len(MISTAKES)


def test_the_page_is_current(repository: Path) -> None:
    page = (repository / "docs" / "errors.md").read_text(encoding="utf-8")
    assert page == document(), "run `python -m tests.unit.errors.catalogue > docs/errors.md`"


def test_equal_kernels_in_two_files_are_told_apart(tmp_path: Path) -> None:
    """Python's code objects compare equal whatever their file; the place of an operation must not."""
    mistake = next(mistake for mistake in MISTAKES if mistake.title == "a wide copy of scattered elements")
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        location = run(mistake, folder).location
        assert location is not None and location.file == str(folder / FILE)
