"""Graphs as the layers take them: edges checked and made into Laplacians, as tensors."""
