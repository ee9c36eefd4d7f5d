"""A live terminal dashboard for reinforcement-learning runs of language models with Miles."""

__version__ = "0.1.0"
