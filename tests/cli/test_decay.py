"""The command ``decay``."""

from __future__ import annotations

import numpy as np

from tests.cli.running import run_json


def test_decay_is_below_what_is_proved(folder, capsys):
    numbers = run_json(capsys, "decay", "@ring:64", "--vertex", "3", "--zoom", "1", "--order", "2", "-o", "d.png")
    mass, floor = np.array(numbers["mass"]), numbers["floor"]
    assert (mass <= np.array(numbers["bounds"]["series"]["mass"]) + floor).all()
    assert numbers["vertex"] == 3
    assert 0 < numbers["fit"]["gamma"] < 1
