"""What is shown, as plain values and styled text, made from the snapshot of a run. No Textual."""
