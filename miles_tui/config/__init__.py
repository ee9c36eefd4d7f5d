"""What a person wrote: settings, profiles, and how the screen was left."""
