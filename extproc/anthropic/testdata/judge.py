"""Reads requests, answers, events and models, one JSON object a line, and prints those that do not fit the types of
Anthropic's SDK: strictly, with no member that the types lack."""

import json
import re
import sys

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator
from anthropic.pagination import SyncPage
from anthropic.types import Message, MessageCountTokensParams, ModelInfo, RawMessageStreamEvent
from anthropic.types import beta
from anthropic.types.message_create_params import MessageCreateParams
from anthropic.types.shared import ErrorResponse

TYPES = {
    "message": TypeAdapter(Message),
    "event": TypeAdapter(RawMessageStreamEvent),
    "error": TypeAdapter(ErrorResponse),
    "model": TypeAdapter(ModelInfo),
    "models": TypeAdapter(SyncPage[ModelInfo]),
}

# The parameters of a method, with the features that are not stable yet and without.
PARAMS = {
    "request": MessageCreateParams,
    "beta request": beta.message_create_params.MessageCreateParams,
    "count": MessageCountTokensParams,
    "beta count": beta.MessageCountTokensParams,
}

# Models until version 4.6 take these, and the SDK's types of version 2 have none of them.
SAMPLING = {"temperature": 1, "top_p": 1, "top_k": 500}


def closed(schema):
    """Returns the schema of parameters, whose lists are read and whose objects have no member that the types lack."""
    if isinstance(schema, (list, tuple)):
        return type(schema)(closed(one) for one in schema)
    if not isinstance(schema, dict):
        return schema
    out = {name: closed(value) for name, value in schema.items()}
    kind, config = schema.get("type"), schema.get("config") or {}
    if kind == "generator":  # an Iterable, whose items would not be read
        out["type"] = "list"
    elif kind == "model" and "extras_schema" not in schema["schema"]:  # a block of a response
        out["config"] = {**config, "extra_fields_behavior": "forbid"}
    elif kind in ("model-fields", "typed-dict") and "extras_schema" not in schema and config.get("extra_fields_behavior") != "allow":
        out["extra_behavior"] = "forbid"
    return out


REQUESTS = {kind: SchemaValidator(closed(TypeAdapter(params).core_schema)) for kind, params in PARAMS.items()}


def place(loc):
    """Names a place without the union that it is in."""
    return ".".join(re.sub(r"\[.*", "", str(part)) for part in loc)


def judge_request(kind, text):
    """Lists what is wrong with the parameters of a method. Those that a cloud gets name no model, but a version."""
    raw = json.loads(text)
    if "anthropic_version" in raw:
        raw.pop("anthropic_version")
        raw.pop("anthropic_beta", None)
        raw["model"] = "in the path"
    problems = []
    for name, most in SAMPLING.items():
        value = raw.pop(name, 0)
        if not isinstance(value, (int, float)) or not 0 <= value <= most:
            problems.append(f"{name}: not from 0 to {most}")
    try:
        REQUESTS[kind].validate_json(json.dumps(raw), strict=True)
    except ValidationError as e:
        deepest = sorted(e.errors(), key=lambda p: -len(p["loc"]))[:3]
        problems += [f"{place(p['loc'])}: {p['msg']}" for p in deepest]
    return problems



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
    if case["kind"] in REQUESTS:
        print(json.dumps({"name": case["name"], "problems": judge_request(case["kind"], case["value"])}))
        continue
    try:
        value = TYPES[case["kind"]].validate_json(case["value"], strict=True)
        problems = list(unknown(value, case["kind"]))
    except ValidationError as e:
        problems = [f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in e.errors()[:3]]
    print(json.dumps({"name": case["name"], "problems": problems}))
