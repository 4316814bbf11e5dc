"""How each solver uses a given time, from coarse to fine."""
