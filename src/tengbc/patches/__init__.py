"""Patches: cells of a tree, cut by the domain as it happens to lie, with features of their own."""
