"""Text from files is safe to print, and sorted as people do."""

from hypothesis import given
from hypothesis import strategies as st

from cayleygsp._text import first_few, natural_key, printable, quoted


@given(st.text())
def test_what_is_printable_obeys_no_terminal_and_is_itself_where_it_can_be(text):
    shown = printable(text)
    assert shown.isprintable()
    assert shown == text or not text.isprintable()


def test_controls_line_ends_and_marks_are_written_out():
    assert printable("a\x1b[31m\nb\u202ec\x9b\x7f") == "a\\x1b[31m\\nb\\u202ec\\x9b\\x7f"
    assert printable(b"no\xff.txt") == "no\\udcff.txt"


def test_quoted_text_is_shortened_when_asked():
    assert quoted("x" * 100, 10) == "'xxxxxxx...'"
    assert quoted("x" * 100) == "'" + "x" * 100 + "'"


def test_first_few_counts_the_others():
    assert first_few(list("abcdefg")) == "'a', 'b', 'c', 'd', 'e' and 2 more"
    assert first_few(["a"]) == "'a'"


@given(st.lists(st.integers(0, 10**30)))
def test_numbers_in_names_are_sorted_by_value(numbers):
    names = [f"v{number}w" for number in numbers]
    assert sorted(names, key=natural_key) == [f"v{number}w" for number in sorted(numbers)]


@given(st.lists(st.text(alphabet="ab019 -é٣")))
def test_any_names_can_be_sorted(names):
    assert sorted(sorted(names, key=natural_key), key=natural_key) == sorted(reversed(names), key=natural_key)


def test_very_long_numbers_are_sorted():
    names = ["9" * 5000, "1" + "0" * 5000, "2"]
    assert sorted(names, key=natural_key) == ["2", "9" * 5000, "1" + "0" * 5000]
