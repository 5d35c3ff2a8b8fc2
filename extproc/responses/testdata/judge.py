"""Validates what the gateway writes with the types of OpenAI's SDK.

Each line of the input is {"name", "kind", "body"}. Types must match exactly, a member that the
SDK does not know fails, and so does the absence of one that OpenAI's schema requires. Each
problem is a line of the output.
"""

import json
import sys

from openai.types import Completion
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.shared import ErrorObject
from pydantic import BaseModel, TypeAdapter, ValidationError

KINDS = {
    "response": TypeAdapter(Response),
    "event": TypeAdapter(ResponseStreamEvent),
    "completion": TypeAdapter(ChatCompletion),
    "chunk": TypeAdapter(ChatCompletionChunk),
    "text": TypeAdapter(Completion),
    "text chunk": TypeAdapter(Completion),
    "error": TypeAdapter(ErrorObject),
}

# The members that the gateway adds to OpenAI's, by the SDK's type.
OWN = {
    "ResponseUsage": {"cost"},
    "CompletionUsage": {"cost", "cache_creation_input_tokens", "cache_read_input_tokens"},
    "ChatCompletionMessage": {"reasoning_content", "thinking_blocks"},
    "ChoiceDelta": {"reasoning_content", "thinking_blocks", "annotations"},
}

# The SDK gives a default to members that may be null, which the schema requires nevertheless.
REQUIRED = {
    "Response": (
        "id object created_at error incomplete_details instructions metadata model output"
        " parallel_tool_calls temperature tool_choice tools top_p"
    ).split(),
    "ResponseErrorEvent": "code message param".split(),
    "ErrorObject": "code message param type".split(),
}


def problems(value, path):
    """Yields what is wrong with a valid value."""
    if isinstance(value, list):
        for i, one in enumerate(value):
            yield from problems(one, f"{path}[{i}]")
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from problems(one, f"{path}.{name}")
    elif isinstance(value, BaseModel):
        kind = type(value).__name__
        for name in sorted(set(value.model_extra or {}) - OWN.get(kind, set())):
            yield f"{path}.{name}: {kind} has no such member"
        for name in REQUIRED.get(kind, ()):
            if name not in value.model_fields_set:
                yield f"{path}.{name}: {kind} requires it"
        for name in type(value).model_fields:
            yield from problems(getattr(value, name), f"{path}.{name}")


def meant(errors):
    """Returns the errors of a value. Of a union, each type reports its own: those of another type are left out."""
    others = {e["loc"][:-1] for e in errors if e["loc"][-1:] == ("type",)}
    own = [e for e in errors if not any(e["loc"][: len(o)] == o for o in others)]
    return [".".join(map(str, e["loc"])) + ": " + e["msg"] for e in own] or ["its type, or that of a part, is none of the SDK's"]


def body(case):
    """Returns the JSON to validate. The SDK has one type for a text and its chunks, in which only the last has a finish_reason."""
    if case["kind"] == "text chunk":
        for choice in case["body"]["choices"]:
            if choice["finish_reason"] is None:
                choice["finish_reason"] = "stop"
    return json.dumps(case["body"])


def main():
    judged = 0
    for line in sys.stdin:
        case = json.loads(line)
        judged += 1
        try:
            value = KINDS[case["kind"]].validate_json(body(case), strict=True)
        except ValidationError as err:
            for problem in meant(err.errors(include_url=False, include_input=False)):
                print(case["name"], problem)
            continue
        for problem in problems(value, ""):
            print(case["name"], problem)
    print("judged", judged)


main()
