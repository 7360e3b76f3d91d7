"""What error bounds rest on, and which of several counts."""

from __future__ import annotations

from collections.abc import Iterable

# From the strongest to the weakest.
_CERTIFICATES = ("proved", "estimated", "sampled", "none")


def weakest(certificates: Iterable[str]) -> str:
    """Return what a bound rests on that is made of several, the weakest of theirs; "proved" if there are none.

    "estimated" fails only if the random start of a Lanczos run holds almost nothing of the largest eigenvector, and
    then by one number, λ_max. "sampled" is weaker: a response may do anything between its samples. "none" is no bound.

    Parameters
    ----------
    certificates : iterable of {"proved", "estimated", "sampled", "none"}
        Those of the parts.

    Examples
    --------
    >>> from cayleygsp.methods.certificates import weakest
    >>> weakest(["proved", "estimated"]), weakest(["sampled", "estimated"]), weakest([])
    ('estimated', 'sampled', 'proved')
    """
    return max(certificates, key=_CERTIFICATES.index, default="proved")
