"""Competitors behind the same interface: the same `Problem` in, a solution out."""
