"""Training: a run that was interrupted anywhere ends as if it had not been."""

from __future__ import annotations

import pytest
import torch

from analysis._training import Checkpoint
from tests.analysis.small_experiment import Config, Interrupted, make_fit


@pytest.mark.parametrize("stop_after", [0, 1, 6, 7, 8, 13, 20])
def test_interrupted_training_ends_as_if_it_had_not_been(tmp_path, stop_after):
    config = Config()  # three epochs of seven steps
    whole_fit, whole_steps = make_fit(config, 5)
    whole = whole_fit.run(5, Checkpoint(tmp_path / "whole.pt", seconds=1e9))
    checkpoint = Checkpoint(tmp_path / "cut.pt", seconds=0.0)
    cut_fit, cut_steps = make_fit(config, 5, stop_after)
    with pytest.raises(Interrupted):
        cut_fit.run(5, checkpoint)
    again_fit, again_steps = make_fit(config, 5)
    again = again_fit.run(5, checkpoint)
    assert cut_steps + again_steps == whole_steps
    for key in ("best_epoch", "best_validation", "validation"):
        assert again[key] == whole[key]
    for name, value in whole_fit.model.state_dict().items():
        torch.testing.assert_close(again_fit.model.state_dict()[name], value, rtol=0, atol=0)


def test_run_killed_after_its_last_epoch_ends_with_the_same_model(tmp_path):
    """Dropout and batch normalisation compute otherwise in training: a resumed run must not be left in that mode."""
    outputs = []
    checkpoint = Checkpoint(tmp_path / "c.pt", seconds=0.0)
    for _ in range(2):  # the second finds the checkpoint of the finished first
        fit, steps = make_fit(Config(), 4)
        fit.run(4, checkpoint)
        outputs.append((fit.model(torch.linspace(-1, 1, 5)[:, None].expand(5, 4)).detach(), len(steps)))
    assert outputs[0][1] > 0 == outputs[1][1]
    assert torch.equal(outputs[0][0], outputs[1][0])


def test_training_leaves_the_first_best_model_and_torch_random_numbers_alone(tmp_path):
    before = torch.get_rng_state()
    fit, _ = make_fit(Config(epochs=5), 3)
    values, models = [1.0, 3.0, 2.0, 3.0, 0.0], []

    def evaluate():
        models.append({name: value.clone() for name, value in fit.model.state_dict().items()})
        return values[len(models) - 1]

    fit.evaluate = evaluate
    history = fit.run(3, Checkpoint(tmp_path / "c.pt", seconds=1e9))
    assert torch.equal(torch.get_rng_state(), before)
    assert (history["best_epoch"], history["best_validation"], history["validation"]) == (1, 3.0, values)
    assert all(torch.equal(value, models[1][name]) for name, value in fit.model.state_dict().items())
    assert not torch.equal(models[1]["0.weight"], models[3]["0.weight"])


def test_training_stops_at_a_loss_that_is_not_finite(tmp_path):
    fit, _ = make_fit(Config(), 0)
    fit.loss = lambda indices: torch.tensor(float("nan"), requires_grad=True)
    with pytest.raises(FloatingPointError, match="learning rate"):
        fit.run(0, Checkpoint(tmp_path / "c.pt"))
