"""Solutions as files: safetensors with a description in JSON, a digest over all of it, no code."""

from tengbc.storage.kinds import register as register
from tengbc.storage.solutions import load as load
from tengbc.storage.solutions import save as save
