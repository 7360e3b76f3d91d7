"""The layers, one per file, and what all of them share."""
