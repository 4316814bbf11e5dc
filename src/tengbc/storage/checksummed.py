"""A safetensors file with a description in JSON and a digest: every changed byte is noticed."""

import hashlib
import json
import math
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from tengbc.errors import CheckpointError, file_errors

KEY = "tengbc"
"""The one entry of the file's metadata: several would come in any order."""
BLANK = "0" * 64
# The description is a JSON string inside a JSON header, so its quotes are escaped.
_DIGEST = re.compile(rb'\\"sha256\\":\\"([0-9a-f]{64})\\"')


def pack(form: str, content: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of a file: `tensors`, and `content` as JSON, under the name and version `form`."""
    description = {"sha256": BLANK, "form": form, **content}
    text = json.dumps(description, separators=(",", ":"), allow_nan=False)
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    blank = safetensors.numpy.save(arrays, {KEY: text})
    digest = hashlib.sha256(blank).hexdigest()
    return _DIGEST.sub(lambda found: found[0].replace(BLANK.encode(), digest.encode()), blank, 1)


def unpack(path: Path, form: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(content, tensors) of a file that `pack` made, or a sentence that says what is wrong."""
    with file_errors(f"{path} cannot be read", "check the path"):
        data = path.read_bytes()
    return unpack_bytes(data, form, str(path))


def unpack_bytes(
    data: bytes, form: str, path: str = "What was packed"
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The same of the bytes themselves; `path` is what errors call them."""
    header = data[: 8 + (struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else 0)]
    found = _DIGEST.search(header)
    if found is None:
        raise CheckpointError(
            f"{path} is not a file of tengbc's, or its beginning is damaged; choose another file."
        )
    blank = data[: found.start(1)] + BLANK.encode() + data[found.end(1) :]
    if hashlib.sha256(blank).hexdigest().encode() != found[1]:
        raise CheckpointError(
            f"{path} is damaged: its digest does not match, so it was cut short or changed; "
            f"use another copy."
        )
    try:
        content = json.loads(json.loads(header[8:])["__metadata__"][KEY])
        its_form = content["form"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CheckpointError(
            f"{path} has no description that can be read; use another copy."
        ) from None
    if its_form != form:
        raise CheckpointError(
            f"{path} holds a {its_form!r}, but a {form!r} is wanted; choose another file, or the "
            f"version of tengbc that wrote it."
        )
    try:
        return content, safetensors.numpy.load(data)
    except Exception as error:  # its digest is right, but it is not safetensors
        raise CheckpointError(
            f"{path} is not a safetensors file ({error}); use another copy."
        ) from None


def plain(value: Any, digits: int | None = None) -> Any:
    """A value in terms of strict JSON: what JSON has no word for becomes text.

    With `digits`, numbers are rounded to that many digits, and NaN and infinity become None;
    without it, NaN and infinity become text.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(name): plain(entry, digits) for name, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(entry, digits) for entry in value]
    if isinstance(value, float) and digits is not None:
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)
