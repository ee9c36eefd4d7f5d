"""Text that is shown: widths, numbers, keys masked, nothing that acts on a terminal."""
