"""The command ``explore``."""

from __future__ import annotations

import json
import re

import pytest
import typer

from cayleygsp.cli.app import app
from cayleygsp.explorer.content import MOST_ORDER, PRESET_ORDERS
from tests.cli.running import N, refused, run_json


def content(path):
    page = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="content">(.*?)</script>', page).group(1))


def test_a_page_is_written(folder, capsys):
    numbers = run_json(
        capsys, "explore", "@communities", "-o", "page.html", "--vertex", "7", "--zoom", "2", "--order", "5"
    )
    assert numbers["vertices"] == N
    assert numbers["bytes"] == (folder / "page.html").stat().st_size
    told = content(folder / "page.html")
    assert told["start"] == {"vertex": 7, "zoom": 2.0, "order": 5, "filter": "low"}
    assert told["laplacian"]["kind"] == "combinatorial"


def test_own_coefficients_are_shown_first(folder, capsys):
    run_json(capsys, "explore", "@ring:9", "-o", "page.html", "--coeffs", "0.5,-0.25+1j", "--zoom", "3")
    told = content(folder / "page.html")
    assert told["filters"] == [{"name": "own coefficients", "zoom": 3.0, "real": [0.5, -0.25], "imag": [0, 1]}]
    assert told["start"]["filter"] == "own:0"
    assert told["start"]["zoom"] == 3.0


def test_help_names_the_largest_orders_that_are_accepted(folder, capsys):
    options = typer.main.get_command(app).commands["explore"].params
    (text,) = (option.help for option in options if option.name == "order")
    assert f"at most {PRESET_ORDERS}." in text
    assert f"at most {MOST_ORDER}." in text
    call = ["explore", "@ring:9", "-o", "page.html", "--force"]

    run_json(capsys, *call, "--order", str(PRESET_ORDERS))
    assert content(folder / "page.html")["start"]["order"] == PRESET_ORDERS
    message = refused(capsys, *call, "--order", str(PRESET_ORDERS + 1))
    assert f"--order must be at most {PRESET_ORDERS} on a page, got {PRESET_ORDERS + 1}" in message

    def own(order):
        return ["--zoom", "1", "--coeffs", ",".join(["0.01"] * (order + 1)), "--order", str(order)]

    run_json(capsys, *call, *own(MOST_ORDER))
    assert len(content(folder / "page.html")["filters"][0]["real"]) == MOST_ORDER + 1
    assert f"at most {MOST_ORDER} on a page" in refused(capsys, *call, *own(MOST_ORDER + 1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["@ring:9"], "give one output file that ends in .html"),
        (["@ring:9", "-o", "page.png"], "must end in .html"),
        (["@ring:9", "-o", "p.html", "--order", "17"], "--order must be at most 16 on a page, got 17"),
        (["@ring:9", "-o", "p.html", "--vertex", "9"], "`vertex` must be"),
        (["@ring:9", "-o", "p.html", "--zoom", "1e9"], "`zoom` times the bound of the spectrum"),
        (["@path:20001", "-o", "p.html"], "at most 20,000 vertices"),
        (["@ring:9", "-o", "p.html", "--layer-name", "conv"], "go with --layer"),
        (["@ring:9", "-o", "p.html", "--coeffs", ",".join(["1"] * 66), "--zoom", "1"], "at most 64 on a page, got 65"),
    ],
)
def test_what_cannot_be_is_refused(folder, capsys, arguments, message):
    assert message in refused(capsys, "explore", *arguments)
    assert not list(folder.glob("*.html"))
