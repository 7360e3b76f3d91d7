"""What the pictures of a report have in common."""

#: Width of a picture in inches.
WIDTH = 6.5
