"""The figure by order."""

from __future__ import annotations

from analysis.cora import orders
from analysis.cora.settings import (
    CAYLEY,
    CHEBNET,
    EXTENDED,
    recipe_of,
)


def test_bars_that_stand_in_a_table_are_runs_of_the_table():
    recipes = {model: recipe_of(model, EXTENDED) for model in orders.MODELS}
    settings = orders.settings_of(quick=False)
    short = [orders.changes(setting, recipes[setting["model"]]) for setting in settings]
    assert {"model": CAYLEY} in short
    assert {"model": CHEBNET} in short
    numbers = {"accuracy": 0.5, "n_parameters": 1}
    rows = orders.collect(recipes, [{"setting": setting, "numbers": numbers} for setting in short])["rows"]
    assert [{name: row[name] for name in setting} for row, setting in zip(rows, settings, strict=True)] == settings
