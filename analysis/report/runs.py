"""One filter applied by one method, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """One filter applied by one method; errors are relative to gain times norm of the signal, times in seconds."""

    method: str
    setting: str
    tol: float
    n_iter: int | None
    n_matvecs: int
    prepare_seconds: float
    apply_seconds: float
    measured_error: float
    certified_bound: float
    converged: bool
    used: str
    reason: str

    @property
    def name(self) -> str:
        """Method and setting."""
        return f"{self.method}, {self.setting}" if self.setting else self.method
