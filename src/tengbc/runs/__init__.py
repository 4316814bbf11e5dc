"""What a run leaves in its directory."""
