"""Names of vertices as an array."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cayleygsp._memory import format_bytes
from cayleygsp._text import quoted
from cayleygsp._typing import Array
from cayleygsp.io.limits import InputError, text_limit


def label_array(names: Sequence[str], file: Path, n_content: int) -> Array:
    """Return names as an array, in which each takes as much room as the longest.

    Parameters
    ----------
    names : sequence of str
        The names.
    file : pathlib.Path
        Where they come from, for messages.
    n_content : int
        Bytes of the content of that file.
    """
    longest = max(names, key=len, default="")
    n_bytes, limit = 4 * len(longest) * len(names), text_limit(n_content)
    if n_bytes > limit:
        raise InputError(
            f"{quoted(file)} has {len(names):,} names of up to {len(longest):,} characters, which need "
            f"{format_bytes(n_bytes)}, and the limit is {format_bytes(limit)}; the longest is {quoted(longest, 40)}"
        )
    return np.array(names, dtype=np.str_)
