"""Reads answers, events and models, one JSON object a line, and prints those that do not fit the types of
Anthropic's SDK: strictly, with no member that the types lack."""

import json
import sys

from pydantic import BaseModel, TypeAdapter, ValidationError
from anthropic.pagination import SyncPage
from anthropic.types import Message, ModelInfo, RawMessageStreamEvent
from anthropic.types.shared import ErrorResponse

TYPES = {
    "message": TypeAdapter(Message),
    "event": TypeAdapter(RawMessageStreamEvent),
    "error": TypeAdapter(ErrorResponse),
    "model": TypeAdapter(ModelInfo),
    "models": TypeAdapter(SyncPage[ModelInfo]),
}


def unknown(value, path):
    """Lists the members that the types lack."""
    if isinstance(value, BaseModel):
        yield from (f"{path}.{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from unknown(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from unknown(item, f"{path}[{i}]")


for line in sys.stdin:
    case = json.loads(line)
    try:
        value = TYPES[case["kind"]].validate_json(case["value"], strict=True)
        problems = list(unknown(value, case["kind"]))
    except ValidationError as e:
        problems = [f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in e.errors()[:3]]
    print(json.dumps({"name": case["name"], "problems": problems}))
