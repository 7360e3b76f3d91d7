"""The figures of the paper."""

from __future__ import annotations

from analysis.mnist.settings import CAYLEYNET, CHEBNET, LENET

# Test accuracy in %.
ACCURACY = {LENET: 99.33, CHEBNET: 99.14, CAYLEYNET: 99.18}

# Seconds for 100 test images, on a graphics card.
TEST_SECONDS = {CHEBNET: 0.0268, CAYLEYNET: 0.1776}
