"""Training that can be interrupted anywhere and ends as if it had not been."""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from analysis._ranks import Ranks
from cayleygsp._files import write_files

_CHECKPOINT_SECONDS = 20.0

History = Mapping[str, list[float]]


class Checkpoint:
    """The file in which an unfinished run says how far it is.

    Parameters
    ----------
    path : pathlib.Path
        Written all or nothing.
    seconds : float
        Least time between two writings; what was computed since the last one is computed again after a kill.
    """

    def __init__(self, path: Path, seconds: float = _CHECKPOINT_SECONDS) -> None:
        self.path, self.seconds = path, seconds
        self._last = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """Return what was saved, None if nothing was."""
        if not self.path.exists():
            return None
        return torch.load(self.path, weights_only=True, map_location="cpu")

    @property
    def is_due(self) -> bool:
        """Whether enough time has gone by since the last writing."""
        return time.monotonic() - self._last >= self.seconds

    def save(self, state: Mapping[str, Any]) -> None:
        """Write tensors, numbers, and dicts and lists of them."""
        content = BytesIO()
        torch.save(dict(state), content)
        write_files(self.path.parent, {self.path.name: content.getvalue()})
        self._last = time.monotonic()

    def remove(self) -> None:
        """Forget it."""
        self.path.unlink(missing_ok=True)


@dataclasses.dataclass
class Fit:
    """How a model is trained and chosen.

    Attributes
    ----------
    model : nn.Module
        Left with the parameters that are kept, see ``keep``, and not in training mode.
    optimizer : torch.optim.Optimizer
        Over the parameters of the model.
    loss : callable
        ``loss(indices)`` of a minibatch, a tensor that has a gradient.
    evaluate : callable
        ``evaluate()`` returns a number on the validation data, the larger the better; the first of equals is kept.
    n_samples, batch, epochs : int
        Training data, minibatch and passes.
    schedule : callable
        Factor of the learning rates as a function of the share of steps that is done.
    observe : callable
        ``observe()`` is called after ``evaluate()`` and returns numbers that are kept of every epoch, by name.
    keep : callable, optional
        ``keep(history)`` says whether the model of the last epoch is the one to keep so far, from the lists of what was
        observed and ``validation``; by default the first of the best is.
    stop : callable
        ``stop(history)`` says whether the training ends before its last epoch.
    keep_losses : bool
        Whether the loss of every step is kept.

    Notes
    -----
    Processes that were started together (:mod:`analysis._ranks`) have a share of each minibatch each; ``loss`` must
    use a network whose gradients are means over them, ``evaluate`` must return the same number in all. The first one
    writes the checkpoints.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    loss: Callable[[Tensor], Tensor]
    evaluate: Callable[[], float]
    n_samples: int
    batch: int
    epochs: int
    schedule: Callable[[float], float] = lambda share: 1.0
    observe: Callable[[], dict[str, float]] = dict
    keep: Callable[[History], bool] | None = None
    stop: Callable[[History], bool] = lambda history: False
    keep_losses: bool = False

    def run(self, seed: int, checkpoint: Checkpoint) -> dict[str, Any]:
        """Train from the start, or from where the checkpoint says, and return the history.

        The order of the data is drawn from the seed and the number of the epoch, and torch's own random numbers are
        part of the checkpoint: a run that was interrupted anywhere ends as if it had not been.

        Returns
        -------
        dict
            ``best_epoch``, ``best_validation``, ``validation`` (one number per epoch), lists of what was observed by
            name, ``losses`` if they are kept, and ``timing``: processor time of the whole and of a step, waking time of
            the whole.
        """
        ranks = Ranks()
        base = [group["lr"] for group in self.optimizer.param_groups]
        steps = math.ceil(self.n_samples / self.batch)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            state = self._restored(checkpoint)
            clock = _Clock(state["cpu_seconds"], state["seconds"])
            for epoch in range(state["epoch"], self.epochs):
                if self.stop(_history(state)):  # asked before an epoch: a run that ended here ends here again
                    break
                order = torch.from_numpy(np.random.default_rng((seed, epoch)).permutation(self.n_samples))
                for step in range(state["step"], steps):
                    share = (epoch * steps + step) / (self.epochs * steps)
                    for group, lr in zip(self.optimizer.param_groups, base, strict=True):
                        group["lr"] = lr * self.schedule(share)
                    if ranks.size > 1:
                        ranks.seed_step(seed, epoch, step)
                    loss = self._step(order[step * self.batch : (step + 1) * self.batch], ranks)
                    if self.keep_losses:
                        state["losses"].append(ranks.total(loss) / ranks.size)
                    if ranks.is_first and checkpoint.is_due:
                        self._save(checkpoint, {**state, "epoch": epoch, "step": step + 1}, clock)
                self._close_epoch(state, epoch)
                if ranks.is_first and checkpoint.is_due:
                    self._save(checkpoint, state, clock)
        self.model.load_state_dict(state["best_model"])
        self.model.eval()
        cpu, waking = clock.read()
        return {
            "best_epoch": state["best_epoch"],
            "best_validation": state["validation"][state["best_epoch"]],
            "validation": state["validation"],
            **state["observed"],
            **({"losses": state["losses"]} if self.keep_losses else {}),
            "timing": {"cpu_seconds": cpu, "seconds": waking, "step_cpu_seconds": cpu / (state["epoch"] * steps)},
        }

    def _step(self, indices: Tensor, ranks: Ranks) -> float:
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(ranks.share(indices)) * ranks.weight(indices)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise FloatingPointError(f"the loss is {value}: try a lower learning rate")
        loss.backward()
        self.optimizer.step()
        return value

    def _close_epoch(self, state: dict[str, Any], epoch: int) -> None:
        self.model.eval()
        with torch.no_grad():
            value = float(self.evaluate())
            observed = self.observe()
        state["validation"] = [*state["validation"], value]
        state["observed"] = {name: [*state["observed"].get(name, []), number] for name, number in observed.items()}
        first = state["best_epoch"] < 0
        if self.keep is not None:
            better = self.keep(_history(state))
        else:
            better = not first and value > state["validation"][state["best_epoch"]]
        if first or better:
            state["best_epoch"] = epoch
            # which does not change with the model
            model = self.model.state_dict().items()
            state["best_model"] = {name: v.clone() if isinstance(v, Tensor) else copy.deepcopy(v) for name, v in model}
        state["epoch"], state["step"] = epoch + 1, 0

    def _restored(self, checkpoint: Checkpoint) -> dict[str, Any]:
        state = checkpoint.load()
        if state is None:
            best = {"best_epoch": -1, "best_model": {}, "validation": [], "observed": {}, "losses": []}
            return {"epoch": 0, "step": 0, "cpu_seconds": 0.0, "seconds": 0.0, **best}
        self.model.load_state_dict(state.pop("model"))
        self.optimizer.load_state_dict(state.pop("optimizer"))
        torch.set_rng_state(state.pop("rng"))
        for device, saved in zip(range(torch.cuda.device_count()), state.pop("cuda_rng"), strict=False):
            torch.cuda.set_rng_state(saved, device)
        return state

    def _save(self, checkpoint: Checkpoint, state: Mapping[str, Any], clock: _Clock) -> None:
        cpu, waking = clock.read()
        now = {
            **state,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "cpu_seconds": cpu,
            "seconds": waking,
        }
        checkpoint.save(now)


def _history(state: Mapping[str, Any]) -> History:
    return {"validation": state["validation"], **state["observed"]}


class _Clock:
    """Processor and waking time of a run, over interruptions."""

    def __init__(self, cpu: float, waking: float) -> None:
        self._cpu, self._waking = cpu - time.process_time(), waking - time.monotonic()

    def read(self) -> tuple[float, float]:
        return self._cpu + time.process_time(), self._waking + time.monotonic()


def cosine(share: float) -> float:
    """Return a factor that goes from 1 to 0 as half a cosine.

    Examples
    --------
    >>> from analysis._training import cosine
    >>> cosine(0.0), round(cosine(0.5), 12), cosine(1.0)
    (1.0, 0.5, 0.0)
    """
    return (1 + math.cos(math.pi * share)) / 2
