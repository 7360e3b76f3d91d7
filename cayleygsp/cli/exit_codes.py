"""Exit codes beside 0; an interrupt may come early, so this file loads nothing."""

OUTPUT_LOST = 1
CANNOT_BE_USED = 2
NOT_REACHED = 3
INTERRUPTED = 130
