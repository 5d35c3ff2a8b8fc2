"""Drives the gateway with the unchanged OpenAI SDK; sdk_test.go runs it.

Only base_url and api_key are given. Each check is one thing that applications do.
"""

import json
import os
import sys

import openai
from pydantic import BaseModel

client = openai.OpenAI(
    base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], max_retries=0
)
ASK = [{"role": "user", "content": "Say something short."}]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather in a city",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def whole(model):
    r = client.chat.completions.create(model=model, messages=ASK)
    assert r.model == model, r.model
    assert r.choices[0].message.content and r.choices[0].finish_reason == "stop", r
    assert r.usage.total_tokens == r.usage.prompt_tokens + r.usage.completion_tokens > 0, r.usage


def streamed(model):
    text, chunks = "", 0
    for chunk in client.chat.completions.create(model=model, messages=ASK, stream=True):
        assert chunk.model == model and chunk.usage is None, chunk
        chunks += 1
        if chunk.choices and chunk.choices[0].delta.content:
            text += chunk.choices[0].delta.content
    assert chunks > 2 and text, (chunks, text)


def stream_usage(model):
    last = None
    for chunk in client.chat.completions.create(
        model=model, messages=ASK, stream=True, stream_options={"include_usage": True}
    ):
        last = chunk
    assert last.choices == [] and last.usage.total_tokens > 0, last


def tools(model):
    r = client.chat.completions.create(model=model, messages=ASK, tools=TOOLS)
    call = r.choices[0].message.tool_calls[0]
    assert r.choices[0].finish_reason == "tool_calls" and call.function.name == "get_weather", r
    json.loads(call.function.arguments)
    after = client.chat.completions.create(
        model=model,
        tools=TOOLS,
        messages=ASK
        + [r.choices[0].message]
        + [{"role": "tool", "tool_call_id": c.id, "content": "sunny"} for c in r.choices[0].message.tool_calls],
    )
    assert after.choices[0].message.content, after


def tools_streamed(model):
    name, arguments = "", ""
    for chunk in client.chat.completions.create(model=model, messages=ASK, tools=TOOLS, stream=True):
        for choice in chunk.choices:
            for call in choice.delta.tool_calls or []:
                name += call.function.name or ""
                arguments += call.function.arguments or ""
    assert name == "get_weather" and isinstance(json.loads(arguments), dict), (name, arguments)


class Event(BaseModel):
    name: str


def json_schema(model):
    r = client.chat.completions.parse(model=model, messages=ASK, response_format=Event)
    assert isinstance(r.choices[0].message.parsed, Event), r


def json_object(model):
    r = client.chat.completions.create(model=model, messages=ASK, response_format={"type": "json_object"})
    assert isinstance(json.loads(r.choices[0].message.content), dict), r


def several(model):
    r = client.chat.completions.create(model=model, messages=ASK, n=3)
    assert [c.index for c in r.choices] == [0, 1, 2], r


def image(model):
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PIXEL}},
    ]
    r = client.chat.completions.create(model=model, messages=[{"role": "user", "content": parts}])
    assert r.choices[0].message.content, r


def unknown_field(model):
    r = client.chat.completions.create(model=model, messages=ASK, extra_body={"some_new_field": {"x": [1, 2]}})
    assert r.choices[0].message.content, r


def models(_):
    names = sorted(m.id for m in client.models.list())
    assert names == ["claude", "failing", "gpt"], names
    assert client.models.retrieve("gpt").id == "gpt"


def raises(kind, code, f):
    try:
        f()
    except kind as e:
        assert e.code == code, (e.code, e.body)
        assert e.request_id.startswith("req_"), e.request_id
    else:
        raise AssertionError("no %s" % kind.__name__)


def errors(_):
    bad = openai.OpenAI(base_url=os.environ["BASE_URL"], api_key="sk-nobody-0123456789abcdef", max_retries=0)
    raises(openai.AuthenticationError, "invalid_api_key", lambda: bad.chat.completions.create(model="gpt", messages=ASK))
    raises(openai.NotFoundError, "model_not_found", lambda: client.chat.completions.create(model="nope", messages=ASK))
    raises(openai.BadRequestError, "invalid_value", lambda: client.chat.completions.create(model="gpt", messages=ASK, max_tokens=-1))
    raises(openai.InternalServerError, "all_deployments_failed", lambda: client.chat.completions.create(model="failing", messages=ASK))


CHECKS = {
    "gpt": [whole, streamed, stream_usage, tools, tools_streamed, json_schema, json_object, several, image, unknown_field, models, errors],
    "claude": [whole, streamed, stream_usage, tools, tools_streamed, json_schema, image],
}
failed = 0
# Of models that are served in other languages, what does not depend on the language of their provider.
SHARED = [whole, streamed, stream_usage, tools, tools_streamed, json_schema, json_object, image]
if others := os.environ.get("MODELS", "").split():
    CHECKS = {model: SHARED for model in others}

for model, checks in CHECKS.items():
    for check in checks:
        try:
            check(model)
        except Exception as e:
            failed += 1
            print("FAIL %s %s: %s: %s" % (check.__name__, model, type(e).__name__, e))
        else:
            print("ok %s %s" % (check.__name__, model))
sys.exit(1 if failed else 0)
