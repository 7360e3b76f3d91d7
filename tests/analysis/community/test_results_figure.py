"""The picture of the community experiment has no panel with nothing in it."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from analysis.community import draw

RECORD = Path(__file__).resolve().parents[3] / "docs" / "results" / "community.json"


@pytest.fixture(scope="module")
def document():
    return json.loads(RECORD.read_text(encoding="utf-8"))


def titles(figure):
    return [ax.get_title() for ax in figure.axes]


def has_content(ax):
    return bool(ax.lines or ax.collections) and ax.axison


def test_every_panel_of_the_record_has_something_in_it(document):
    figure = draw(document)
    assert titles(figure)[:2] == ["ours", "the paper's"]
    assert all(has_content(ax) for ax in figure.axes)


def test_paper_has_no_panel_where_it_has_no_numbers(document):
    quick = copy.deepcopy(document)
    for row in quick["rows"]:
        row["paper"] = row["paper_sd"] = None
    figure = draw(quick)
    assert titles(figure)[0] == "ours"
    assert "the paper's" not in titles(figure)
    assert all(has_content(ax) for ax in figure.axes)
    assert not [text for ax in figure.axes for text in ax.texts if "none" in text.get_text()]


def test_filters_and_zooms_have_no_panel_where_there_are_none(document):
    few = copy.deepcopy(document)
    few["shown"] = [one for one in few["shown"] if one["model"] == "ChebNet"]
    few["runs"] = [run for run in few["runs"] if run["setting"]["model"] == "ChebNet"]
    figure = draw(few)
    assert len(figure.axes) == 3
    assert all(has_content(ax) for ax in figure.axes)
