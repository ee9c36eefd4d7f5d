"""Rules over rollouts become alerts: the engine, their life, their evidence in numbers, profiles."""
