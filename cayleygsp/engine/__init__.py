"""Compiled loops: the three-term recurrence on graphs and blocks of signals, in the precision of the signals."""
