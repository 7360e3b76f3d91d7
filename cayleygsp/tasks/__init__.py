r"""Tasks for filters: denoising, inpainting, and features for a classifier.

- :func:`denoise` smooths a signal and chooses the strength from the signal itself; :func:`estimate_noise` estimates the
  noise level from the highest frequencies.
- :func:`inpaint` finds the smooth signal that fits the known values, to a proved error.
- :func:`smooth_features` splits signals into bands of frequency, in one pass.
"""

from cayleygsp.tasks.denoising import Denoised as Denoised
from cayleygsp.tasks.denoising import NoiseEstimate as NoiseEstimate
from cayleygsp.tasks.denoising import denoise, estimate_noise
from cayleygsp.tasks.features import Features as Features
from cayleygsp.tasks.features import smooth_features
from cayleygsp.tasks.inpainting import Inpainted as Inpainted
from cayleygsp.tasks.inpainting import inpaint
from cayleygsp.tasks.traces import Traces as Traces

__all__ = ["denoise", "estimate_noise", "inpaint", "smooth_features"]
