"""Some hundred cases of the campaign: no claim is false.

The interval of the spectrum is left to ``make adversary``: the diagonal of weighted graphs is a rounded sum, by which
an eigenvalue of the stored matrix may lie outside by some units of rounding.
"""

import pytest

from tests.adversary.claims import JUDGES, a_spectrum, judge


@pytest.mark.parametrize("kind", [one for one in JUDGES if one is not a_spectrum], ids=lambda one: one.__name__)
def test_no_claim_is_false(kind):
    seeds = range(JUDGES.index(kind), 40 * len(JUDGES), len(JUDGES))
    verdicts = [(seed, verdict) for seed in seeds for verdict in judge(seed)]
    assert len(verdicts) >= 20
    assert [(seed, verdict) for seed, verdict in verdicts if not verdict.holds] == []


def test_a_false_claim_is_seen(monkeypatch):
    monkeypatch.setattr("tests.adversary.claims.SLACK", 1e-30)
    verdicts = [verdict for seed in range(0, 10 * len(JUDGES), len(JUDGES)) for verdict in judge(seed)]
    assert any(not verdict.holds for verdict in verdicts)
