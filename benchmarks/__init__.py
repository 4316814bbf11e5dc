"""Performance claims, one script each; ratios are measured side by side in one run."""
