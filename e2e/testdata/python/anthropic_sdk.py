"""Drives the gateway with the unchanged Anthropic SDK, and with the OpenAI SDK's responses and its
client for Azure; languages_test.go runs it.

Only base_url and api_key are given. Each check is one thing that applications do. Each model is
served by a provider of another language.
"""

import json
import os
import sys

import anthropic
import openai

client = anthropic.Anthropic(base_url=os.environ["GATEWAY_URL"], api_key=os.environ["API_KEY"], max_retries=0)
responder = openai.OpenAI(base_url=os.environ["GATEWAY_URL"] + "/v1", api_key=os.environ["API_KEY"], max_retries=0)
ASK = [{"role": "user", "content": "Say something short."}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"name": "get_weather", "description": "The weather in a city", "input_schema": SCHEMA}]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkM9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def whole(model):
    r = client.messages.create(model=model, max_tokens=100, messages=ASK)
    assert r.model == model and r.role == "assistant" and r.type == "message", r
    assert r.content[0].text and r.stop_reason == "end_turn", r
    assert r.usage.input_tokens > 0 and r.usage.output_tokens > 0, r.usage
    assert r._request_id and r._request_id.startswith("req_"), r._request_id


def system(model):
    r = client.messages.create(
        model=model, max_tokens=100, messages=ASK, system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    )
    assert r.content[0].text, r


def streamed(model):
    kinds, text = [], ""
    with client.messages.stream(model=model, max_tokens=100, messages=ASK) as stream:
        for event in stream:
            kinds.append(event.type)
            if event.type == "text":
                text += event.text
        final = stream.get_final_message()
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop", kinds
    assert text and final.content[0].text == text and final.model == model, final
    assert final.stop_reason == "end_turn" and final.usage.output_tokens > 0 and final.usage.input_tokens > 0, final


def tools(model):
    r = client.messages.create(model=model, max_tokens=100, messages=ASK, tools=TOOLS)
    call = [b for b in r.content if b.type == "tool_use"][0]
    assert r.stop_reason == "tool_use" and call.name == "get_weather" and isinstance(call.input, dict), r
    results = [{"type": "tool_result", "tool_use_id": b.id, "content": "sunny"} for b in r.content if b.type == "tool_use"]
    after = client.messages.create(
        model=model,
        max_tokens=100,
        tools=TOOLS,
        messages=ASK + [{"role": "assistant", "content": r.content}, {"role": "user", "content": results}],
    )
    assert after.content[0].text, after


def tools_streamed(model):
    with client.messages.stream(model=model, max_tokens=100, messages=ASK, tools=TOOLS) as stream:
        final = stream.get_final_message()
    call = [b for b in final.content if b.type == "tool_use"][0]
    assert final.stop_reason == "tool_use" and call.name == "get_weather" and "city" in call.input, final


def image(model):
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image", "source": source}]
    r = client.messages.create(model=model, max_tokens=100, messages=[{"role": "user", "content": parts}])
    assert r.content[0].text, r


def errors(model):
    for change, expected in (
        ({"model": "nobody"}, anthropic.NotFoundError),
        ({"messages": []}, anthropic.BadRequestError),
        ({"extra_body": {"temperature": "hot"}}, anthropic.BadRequestError),
    ):
        try:
            client.messages.create(**{"model": model, "max_tokens": 10, "messages": ASK, **change})
            raise AssertionError(change)
        except expected as e:
            assert e.body["type"] == "error" and e.body["error"]["message"], e.body
    try:
        client.with_options(api_key="sk-nobody-0123456789").messages.create(model=model, max_tokens=10, messages=ASK)
        raise AssertionError("no key is needed")
    except anthropic.AuthenticationError as e:
        assert e.body["error"]["type"] == "authentication_error", e.body


def responses_whole(model):
    r = responder.responses.create(model=model, input="Say something short.", instructions="Be brief.")
    assert r.model == model and r.status == "completed" and r.output_text, r
    assert r.usage.total_tokens == r.usage.input_tokens + r.usage.output_tokens > 0, r.usage


def responses_streamed(model):
    text, number, final = "", 0, None
    for event in responder.responses.create(model=model, input="Say something short.", stream=True):
        assert event.sequence_number == number, (event, number)
        number += 1
        if event.type == "response.output_text.delta":
            text += event.delta
        if event.type == "response.completed":
            final = event.response
    assert final and final.output_text == text and final.usage.output_tokens > 0, final


def responses_tools(model):
    tool = {"type": "function", "name": "get_weather", "parameters": SCHEMA, "strict": False}
    r = responder.responses.create(model=model, input="The weather?", tools=[tool])
    call = [i for i in r.output if i.type == "function_call"][0]
    assert call.name == "get_weather" and isinstance(json.loads(call.arguments), dict), r
    results = [
        {"type": "function_call_output", "call_id": i.call_id, "output": "sunny"} for i in r.output if i.type == "function_call"
    ]
    history = [{"role": "user", "content": "The weather?"}] + [i.to_dict() for i in r.output] + results
    after = responder.responses.create(model=model, input=history, tools=[tool])
    assert after.output_text, after


def azure(model):
    client = openai.AzureOpenAI(azure_endpoint=os.environ["GATEWAY_URL"], api_key=os.environ["API_KEY"], api_version="2024-10-21", max_retries=0)
    r = client.chat.completions.create(model=model, messages=ASK)
    assert r.model == model and r.choices[0].message.content, r
    text = ""
    for chunk in client.chat.completions.create(model=model, messages=ASK, stream=True):
        for choice in chunk.choices:
            text += choice.delta.content or ""
    assert text, text


def counts(_):
    """No provider of the model has the endpoint, so the gateway counts."""
    raw = client.messages.with_raw_response.count_tokens(model="gpt", messages=ASK)
    less = raw.parse().input_tokens
    assert less > 0 and raw.headers["x-gateway-token-count"] == "estimated", raw.headers
    assert client.messages.count_tokens(model="gpt", messages=ASK, system="Be brief.", tools=TOOLS).input_tokens > less
    r = responder.responses.input_tokens.count(model="gpt", input="Say something short.")
    assert r.object == "response.input_tokens" and r.input_tokens == less, r


def completions(model):
    """They become chats. openai_compatible providers have the endpoint, so OpenAI's gpt-4o takes the place of gpt."""
    model = "gpt-4o" if model == "gpt" else model
    r = responder.completions.create(model=model, prompt="Say something short.", max_tokens=50)
    assert r.object == "text_completion" and r.model == model and r.choices[0].text and r.choices[0].finish_reason == "stop", r
    assert r.usage.total_tokens == r.usage.prompt_tokens + r.usage.completion_tokens > 0, r.usage
    text, last = "", None
    for chunk in responder.completions.create(model=model, prompt=["Say something short."], stream=True, stream_options={"include_usage": True}):
        text += "".join(c.text for c in chunk.choices)
        last = chunk
    assert text and last.usage.completion_tokens > 0 and not last.choices, last
    try:
        responder.completions.create(model=model, prompt="Say something short.", echo=True)
        raise AssertionError("a chat has no echo")
    except openai.BadRequestError as e:
        assert e.param == "echo" and e.code == "unsupported_parameter", e.body


def models(model):
    """The list is read in pages of one."""
    listed = {m.id: m for m in client.models.list(limit=1)}
    assert set(listed) == {"gpt", "gpt-4o", "claude"} and listed[model].type == "model" and listed[model].lifecycle == "active", listed
    assert [m.id for m in client.models.list(before_id="gpt")] == ["claude"]
    one = client.models.retrieve(model)
    assert one == listed[model] and one.display_name == model and one.created_at.year == 1970, one
    try:
        client.models.retrieve("nobody")
        raise AssertionError("a model that does not exist")
    except anthropic.NotFoundError as e:
        assert e.body["error"]["type"] == "not_found_error" and e.body["request_id"] == e.request_id, e.body
    assert {m.id for m in responder.models.list()} == set(listed), "OpenAI's list"


CHECKS = [whole, system, streamed, tools, tools_streamed, image, errors, responses_whole, responses_streamed, responses_tools, azure, counts, completions, models]

# Of models that are served in other languages, what does not depend on the language of their provider.
SHARED = [whole, system, streamed, tools, tools_streamed, image, errors, responses_whole, responses_streamed, responses_tools, azure, completions]

failed = False
others = os.environ.get("MODELS", "").split()
for model in others or ("gpt", "claude"):
    for check in SHARED if others else CHECKS:
        try:
            check(model)
            print(f"ok {check.__name__} {model}")
        except Exception as e:  # noqa: BLE001 - each check is reported
            failed = True
            print(f"FAILED {check.__name__} {model}: {type(e).__name__}: {e}")
sys.exit(1 if failed else 0)
