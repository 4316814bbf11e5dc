"""Solutions as files: safetensors with a description in JSON, a digest over all of it, no code."""

