"""What runs without a screen: one module a command, each with `run(argv) -> exit status`."""
