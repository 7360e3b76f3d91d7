"""Functions of frequency: what a filter does to each graph frequency, and the series that apply them."""
