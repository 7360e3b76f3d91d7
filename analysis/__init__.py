"""One runnable script per figure, table or benchmark."""
