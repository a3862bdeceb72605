"""Latency of the explorer, as its page measures it."""
