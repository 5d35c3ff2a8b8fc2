"""Reads requests, responses and events, one JSON object a line, and prints those that do not fit the types of
Mistral's and Cohere's SDKs: with no member that the types lack, and of no kind that they do not know."""

import json
import sys
import typing

import pydantic
from cohere.types.chat_message_v2 import ChatMessageV2
from cohere.types.citation_options import CitationOptions
from cohere.types.response_format_v2 import ResponseFormatV2
from cohere.types.thinking import Thinking
from cohere.types.tool_v2 import ToolV2
from cohere.v2.types.v2chat_request_documents_item import V2ChatRequestDocumentsItem
from cohere.v2.types.v2chat_response import V2ChatResponse
from cohere.v2.types.v2chat_stream_response import V2ChatStreamResponse
from mistralai.client.models import ChatCompletionRequest, ChatCompletionResponse, ChatCompletionStreamRequest, CompletionChunk


class CohereRequest(pydantic.BaseModel):
    """The parameters of ClientV2.chat, which has no type for them."""

    model_config = pydantic.ConfigDict(extra="forbid")

    model: str
    stream: bool
    messages: typing.List[ChatMessageV2]
    tools: typing.List[ToolV2] = []
    strict_tools: bool = False
    documents: typing.List[V2ChatRequestDocumentsItem] = []
    citation_options: typing.Optional[CitationOptions] = None
    response_format: typing.Optional[ResponseFormatV2] = None
    safety_mode: typing.Optional[typing.Literal["CONTEXTUAL", "STRICT", "OFF"]] = None
    max_tokens: typing.Optional[int] = None
    stop_sequences: typing.Optional[typing.List[str]] = None
    temperature: typing.Optional[float] = None
    seed: typing.Optional[int] = pydantic.Field(None, ge=0)
    frequency_penalty: typing.Optional[float] = pydantic.Field(None, ge=0, le=1)
    presence_penalty: typing.Optional[float] = pydantic.Field(None, ge=0, le=1)
    k: typing.Optional[int] = pydantic.Field(None, ge=0, le=500)
    p: typing.Optional[float] = pydantic.Field(None, ge=0.01, le=0.99)
    logprobs: typing.Optional[bool] = None
    tool_choice: typing.Optional[typing.Literal["REQUIRED", "NONE"]] = None
    thinking: typing.Optional[Thinking] = None
    priority: typing.Optional[int] = None


class CohereCall(CohereRequest):
    """What a caller of ClientV2.chat may leave out."""

    stream: bool = False


class CohereError(pydantic.BaseModel):
    """The body of an ApiError, with the gateway's own members."""

    model_config = pydantic.ConfigDict(extra="forbid")

    id: str
    message: str = pydantic.Field(min_length=1)
    code: str
    param: str = ""


TYPES = {
    "mistral request": pydantic.TypeAdapter(ChatCompletionRequest),
    "mistral stream": pydantic.TypeAdapter(ChatCompletionStreamRequest),
    "mistral response": pydantic.TypeAdapter(ChatCompletionResponse),
    "mistral event": pydantic.TypeAdapter(CompletionChunk),
    "cohere request": pydantic.TypeAdapter(CohereRequest),
    "cohere stream": pydantic.TypeAdapter(CohereRequest),
    "cohere call": pydantic.TypeAdapter(CohereCall),
    "cohere error": pydantic.TypeAdapter(CohereError),
    "cohere response": pydantic.TypeAdapter(V2ChatResponse),
    "cohere event": pydantic.TypeAdapter(V2ChatStreamResponse),
}


def unknown(raw, value, path):
    """Lists the members that the types lack, and what is of an unknown kind."""
    if isinstance(value, pydantic.BaseModel) and isinstance(raw, dict):
        if type(value).__name__.startswith("Unknown"):
            yield f"{path}: of an unknown kind"
            return
        fields = {(f.alias or name): name for name, f in type(value).model_fields.items()}
        for name in raw:
            if name not in fields:
                yield f"{path}.{name}: {type(value).__name__} has no such member"
            else:
                yield from unknown(raw[name], getattr(value, fields[name]), f"{path}.{name}")
    elif isinstance(value, list) and isinstance(raw, list):
        for i, item in enumerate(value):
            yield from unknown(raw[i], item, f"{path}[{i}]")


for line in sys.stdin:
    case = json.loads(line)
    try:
        raw = json.loads(case["value"])
        problems = list(unknown(raw, TYPES[case["kind"]].validate_json(case["value"]), case["kind"]))
    except pydantic.ValidationError as e:
        problems = [f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in e.errors()[:3]]
    except ValueError as e:  # no JSON, or no role
        problems = [str(e)]
    print(json.dumps({"name": case["name"], "problems": problems}))
