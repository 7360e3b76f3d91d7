"""Spectral graph signal processing with Cayley filters."""
