"""Files: written whole or not at all, checked by a digest, holding numbers and names, no code."""
