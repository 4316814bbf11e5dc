"""The report of a run: one HTML file that works offline, and the comparison of several."""
