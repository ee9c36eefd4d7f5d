"""One run: its front door (`monitor`), its state, and what is known of it at one moment (`snapshot`)."""
