"""The command line: which command, and what opens a screen."""
