"""Types for JSON values."""

from __future__ import annotations

from typing import Any, TypeAlias

# A parsed JSON object. The values are checked where they are read, so Any is meant.
JsonObject: TypeAlias = dict[str, Any]
Scalar: TypeAlias = str | int | float | bool | None
