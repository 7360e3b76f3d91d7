"""Two processes train together under the agent of torchrun, and one of them is killed on the first attempt.

torchrun itself starts every process anew, and each loads torch and all the rest: here they are forked.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from pathlib import Path

import torch._dynamo  # noqa: F401  optimisers would load it in every process
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from analysis._ranks import process_group
from analysis._runner import Experiment, Run, compute
from analysis._training import Checkpoint
from analysis.mnist.settings import CHEBNET, QUICK
from analysis.mnist.training import train

RUN = Run({"model": CHEBNET}, 0)
TINY = dataclasses.replace(
    QUICK, data="drawn", n_train=40, n_validation=10, n_test=10, features=(2, 3), hidden=8, order=2, epochs=3, batch=10
)
WITHOUT_DROPOUT = dataclasses.replace(TINY, dropout=0.0)

# Saves of the first attempt: after five steps and one epoch, in the middle of the second.
N_SAVES = 7


class _Killing(Checkpoint):
    """Save after every step; kill the process after some."""

    left = N_SAVES

    def save(self, state):
        super().save(state)
        self.left -= 1
        if self.left == 0 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            os.kill(os.getpid(), signal.SIGKILL)


def train_killed(config, run, checkpoint, device):
    """Train with a checkpoint after every step, and be killed at one of them."""
    return train(config, run, _Killing(checkpoint.path, seconds=0.0), device)


def main(folder):
    """Train with and without being killed, and without dropout, in folders of their own."""
    with process_group("cpu"):
        for name, config, function in (
            ("killed", TINY, train_killed),
            ("whole", TINY, train),
            ("without", WITHOUT_DROPOUT, train),
        ):
            compute(Experiment(name, config, [RUN], function), folder, workers=1, device="cpu", quiet=True)


if __name__ == "__main__":
    together = LaunchConfig(1, 1, 2, rdzv_backend="c10d", rdzv_endpoint="localhost:0", run_id="killed")
    together.max_restarts, together.start_method = 1, "fork"
    elastic_launch(together, main)(Path(sys.argv[1]))
