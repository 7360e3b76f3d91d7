"""Training: losses, rules that end it, interrupted runs, learned curves."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis._runner import Run
from analysis._training import Checkpoint
from analysis.cora.networks import make_network
from analysis.cora.settings import (
    CAYLEY,
    CAYLEY16,
    DCNN,
    ENTROPY,
    EXTENDED,
    LOSS,
    MARGIN,
    PATIENCE,
    WINDOW,
)
from analysis.cora.training import is_kept, is_over, learned, loss_of, train
from tests.analysis.cora.small_runs import CPU, small


def test_the_curve_of_many_filters_is_the_root_of_their_mean_square(drawn):
    recipe = small(CAYLEY, EXTENDED, order=3)
    network = make_network(CAYLEY, recipe, drawn)
    shown = learned(network, recipe, drawn)["responses"]
    for layer, curve in zip(network.layers, shown["curves"], strict=True):
        g = layer.responses(shown["frequencies"])
        np.testing.assert_allclose(curve, np.sqrt((g**2).mean(axis=(1, 2))), rtol=1e-5)


def test_the_hinge_loss_is_that_of_probabilities():
    scores, labels = torch.tensor([[2.0, 0.0, 0.5]]), torch.tensor([0])
    p = torch.softmax(scores, 1)[0]
    assert loss_of(scores, labels, MARGIN).item() == pytest.approx(1 - float(p[0]) + float(p[2]))
    assert loss_of(scores, labels, ENTROPY).item() == pytest.approx(-float(p[0].log()))
    wrong = torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]), torch.tensor([1, 1])
    p = torch.softmax(wrong[0], 1)
    losses = [1 + float(p[0, 0] - p[0, 1]), 1 + float(p[1, 0] - p[1, 1])]
    assert loss_of(*wrong, MARGIN).item() == pytest.approx(np.mean(losses))


def test_rules_of_stopping():
    history = {"validation": [0.5, 0.6, 0.6, 0.6], "loss": [1.0, 0.8, 0.9, 0.7]}
    assert is_kept(history, PATIENCE)
    assert is_kept(history, LOSS)
    worse = {"validation": [0.5, 0.6, 0.5], "loss": [1.0, 0.8, 0.7]}
    assert not is_kept(worse, PATIENCE)
    assert is_kept(worse, LOSS)
    assert is_kept(worse, WINDOW)
    stuck = {"validation": [0.6, 0.5, 0.5], "loss": [0.5, 0.7, 0.6]}
    assert is_over(stuck, PATIENCE, 2)
    assert is_over(stuck, LOSS, 2)
    assert not is_over(stuck, PATIENCE, 3)
    assert not is_over({"validation": [0.6, 0.5, 0.6], "loss": [0.5, 0.7, 0.6]}, PATIENCE, 2)  # as good as ever
    assert is_over({"validation": [0.0] * 3, "loss": [0.5, 0.5, 0.6]}, WINDOW, 2)
    assert not is_over({"validation": [0.0] * 3, "loss": [0.5, 0.5, 0.5]}, WINDOW, 2)
    assert not is_over({"validation": []}, WINDOW, 2)


def test_a_run_that_was_interrupted_ends_with_the_same_numbers(tmp_path):
    class Eager(Checkpoint):
        """Writes after every step, and interrupts the run."""

        is_due = True
        left = 7

        def save(self, state):
            super().save(state)
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    for model in (CAYLEY16, DCNN):
        recipe, one = small(model, epochs=12, patience=4), Run({"model": model}, 3)
        whole = train(recipe, one, Checkpoint(tmp_path / "a.pt"), CPU)
        for k in (7, 30):
            checkpoint = Eager(tmp_path / f"{model}{k}.pt")
            checkpoint.left = k
            try:
                numbers = train(recipe, one, checkpoint, CPU)
            except KeyboardInterrupt:
                numbers = train(recipe, one, Checkpoint(checkpoint.path), CPU)
            assert {**numbers, "timing": None} == {**whole, "timing": None}
