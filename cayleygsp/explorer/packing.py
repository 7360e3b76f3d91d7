"""Arrays as a page carries them, in the narrowest type that loses nothing, and JSON that cannot end a script."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from cayleygsp._typing import Array, ArrayLike


def packed(values: ArrayLike) -> dict[str, Any]:
    """Return an array as a type, a length and base64 text; one that is constant as its value.

    Parameters
    ----------
    values : array_like, shape (m,)
        Whole numbers that are not negative, or real ones.

    Returns
    -------
    dict
        ``type`` is one of "constant", "uint16", "uint32", "float32", "float64": the narrowest that loses nothing.

    Examples
    --------
    >>> from cayleygsp.explorer.packing import packed
    >>> packed([1, 2, 3])
    {'type': 'uint16', 'length': 3, 'data': 'AQACAAMA'}
    >>> packed([0.5, 0.5])
    {'type': 'constant', 'length': 2, 'data': 0.5}
    """
    array = np.asarray(values)
    if array.size and (array == array[0]).all():
        return {"type": "constant", "length": array.size, "data": array[0].item()}
    narrow = _narrowest(array)
    data = base64.b64encode(narrow.astype(narrow.dtype.newbyteorder("<")).tobytes()).decode("ascii")
    return {"type": narrow.dtype.name, "length": array.size, "data": data}


def _narrowest(array: Array) -> Array:
    if array.dtype.kind in "ui":
        return array.astype(np.uint16 if array.max(initial=0) < 2**16 else np.uint32)
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    return single if (single == array).all() else array.astype(np.float64)


def script_json(content: Any) -> str:
    r"""Return JSON that may stand within a script element: no text in it can end the element or begin another.

    Parameters
    ----------
    content : object
        What :mod:`json` takes; all numbers finite.

    Examples
    --------
    >>> from cayleygsp.explorer.packing import script_json
    >>> print(script_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
