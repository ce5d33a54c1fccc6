"""Each mistake of the catalogue is refused at its line with its advice, and docs/errors.md shows what is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from tests.unit.errors import mends_control_flow, mends_habits, mends_launches, mends_values
from tests.unit.errors.catalogue import MISTAKES, document, mends
from tests.unit.errors.mistake import FILE, Mistake, run, run_program


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


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.slug)
def test_the_advice_works(mistake: Mistake, tmp_path: Path) -> None:
    programs = mends(mistake)
    assert programs, "no program follows the advice"
    for program in programs:
        assert program != mistake.source
        run_program(program, tmp_path)


def test_every_mend_belongs_to_a_mistake() -> None:
    tables = (mends_control_flow.MENDS, mends_habits.MENDS, mends_launches.MENDS, mends_values.MENDS)
    titles = [title for table in tables for title in table]
    assert sorted(titles) == sorted(mistake.title for mistake in MISTAKES)


def test_the_advice_on_atomics_reaches_an_element_of_a_strided_view() -> None:
    @flyc.kernel
    def add(out: fx.Tensor, i: fx.Int32):
        every_second = fx.make_view(fx.get_iter(out), fx.make_layout(4, 2))
        fx.mem_ops.atomic_add(fx.get_iter(every_second), fx.Int32(1), fx.crd2idx(i, every_second.layout))

    @flyc.jit
    def launch(out: fx.Tensor, i: fx.Int32):
        add(out, i).launch(block=(4, 1, 1))

    out = np.zeros(8, np.int32)
    launch(out, 3)
    assert out.tolist() == [0, 0, 0, 0, 0, 0, 4, 0]


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
