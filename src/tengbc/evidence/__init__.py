"""Beside the product: competitors, comparisons with them, and the paper's results remade."""
