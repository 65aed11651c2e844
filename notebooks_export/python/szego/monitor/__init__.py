"""Attention while a model trains: largest logits, their proved bound, the headroom to a threshold, entropies, sinks."""
from .monitor import Monitor

__all__ = ["Monitor"]
