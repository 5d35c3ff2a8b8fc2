"""Drives models of Amazon Bedrock through the gateway with the unchanged SDKs of OpenAI and Anthropic;
bedrock_test.go runs it.

The fake provider rejects roles that do not alternate, results without their calls and calls without their tools.
"""

import os
import sys

import anthropic
import openai
from pydantic import BaseModel

url, key = os.environ["GATEWAY_URL"], os.environ["API_KEY"]
chats = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
claude = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)
ASK = [{"role": "user", "content": "Say something short."}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": SCHEMA}}]
FLAT = [{"type": "function", "name": "get_weather", "parameters": SCHEMA, "strict": False}]
LONG = "mcp.weather/" + "x" * 80  # longer than Bedrock's names, and with other characters
ANTHROPIC_TOOLS = [{"name": LONG.replace(".", "_").replace("/", "_"), "description": "The weather", "input_schema": SCHEMA}]
THOUGHT = "The caller wrote something. It deserves an answer."
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# Where Bedrock has OpenAI's languages the results of two calls are messages of their own, and the fake provider answers the last.
ONE_BY_ONE = {"oss", "sol", "mantle"}
HEARD = "The fake provider heard: Say something short."


def chat_whole(model):
    r = chats.chat.completions.create(model=model, messages=[{"role": "system", "content": "Be brief."}] + ASK)
    assert r.model == model and r.choices[0].message.content == HEARD and r.choices[0].finish_reason == "stop", r
    assert r.usage.total_tokens == r.usage.prompt_tokens + r.usage.completion_tokens > 0, r.usage


def chat_streamed(model):
    text, last = "", None
    for chunk in chats.chat.completions.create(model=model, messages=ASK, stream=True, stream_options={"include_usage": True}):
        last = chunk
        if chunk.choices and chunk.choices[0].delta.content:
            text += chunk.choices[0].delta.content
    assert text == HEARD, text
    assert last.choices == [] and last.usage.completion_tokens > 0 and last.usage.prompt_tokens > 0, last


class City(BaseModel):
    city: str


def chat_structured(model):
    r = chats.chat.completions.parse(model=model, messages=ASK, response_format=City)
    assert r.choices[0].message.parsed == City(city="fake"), r


def chat_image(model):
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PIXEL}}]
    r = chats.chat.completions.create(model=model, messages=[{"role": "user", "content": parts}])
    assert r.choices[0].message.content, r


def answered(model):
    return "The tool answered: sunny" + ("" if model in ONE_BY_ONE else "sunny")


def chat_tools(model):
    for stream in (False, True):
        ask = dict(model=model, messages=ASK, tools=TOOLS, reasoning_effort="low")
        if stream:
            with chats.chat.completions.stream(**ask) as events:
                for _ in events:
                    pass
                r = events.get_final_completion()
        else:
            r = chats.chat.completions.create(**ask)
        made = r.choices[0].message.tool_calls
        assert r.choices[0].finish_reason == "tool_calls" and [c.function.name for c in made] == ["get_weather"] * 2, r
        calls = [{"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}} for c in made]
        results = [{"role": "tool", "tool_call_id": c.id, "content": "sunny"} for c in made]
        history = ASK + [{"role": "assistant", "content": None, "tool_calls": calls}] + results
        for tools in (TOOLS, None):  # without tools their calls are still in the history
            after = chats.chat.completions.create(model=model, messages=history, **({"tools": tools} if tools else {}))
            assert after.choices[0].message.content == answered(model), after


def messages_tools(model):
    for stream in (False, True):
        ask = dict(model=model, max_tokens=4000, messages=ASK, tools=ANTHROPIC_TOOLS, thinking={"type": "enabled", "budget_tokens": 1024})
        if stream:
            with claude.messages.stream(**ask) as events:
                r = events.get_final_message()
        else:
            r = claude.messages.create(**ask)
        assert r.stop_reason == "tool_use" and r.content[0].type == "thinking" and r.content[0].thinking == THOUGHT, r
        uses = [b for b in r.content if b.type == "tool_use"]
        assert [b.name for b in uses] == [ANTHROPIC_TOOLS[0]["name"]] * 2 and uses[0].input == {"city": "fake"}, r
        results = [{"type": "tool_result", "tool_use_id": b.id, "content": "sunny"} for b in reversed(uses)]
        history = ASK + [{"role": "assistant", "content": r.content}, {"role": "user", "content": results}]
        after = claude.messages.create(model=model, max_tokens=100, messages=history, tools=ANTHROPIC_TOOLS)
        assert after.content[-1].text == "The tool answered: sunnysunny", after


def messages_streamed(model):
    with claude.messages.stream(model=model, max_tokens=100, messages=ASK) as stream:
        final = stream.get_final_message()
    assert final.content[0].text == HEARD and final.stop_reason == "end_turn", final
    assert final.usage.input_tokens > 0 and final.usage.output_tokens > 0, final.usage


def messages_betas(model):
    # Bedrock rejects features that it does not know, so the gateway leaves them out.
    r = claude.beta.messages.create(model=model, max_tokens=100, messages=ASK, betas=["unknown-beta", "context-1m-2025-08-07"])
    assert r.content[0].text == HEARD, r


def messages_break_off(model):
    try:
        with claude.messages.stream(model=model, max_tokens=100, messages=ASK) as stream:
            stream.get_final_message()
    except anthropic.APIError as e:
        assert "limiting" in str(e), e
        return
    raise AssertionError("the stream does not fail")


def messages_count(model):
    n = claude.messages.count_tokens(model=model, messages=ASK, tools=ANTHROPIC_TOOLS).input_tokens
    r = claude.messages.create(model=model, max_tokens=100, messages=ASK, tools=ANTHROPIC_TOOLS)
    assert n == r.usage.input_tokens, (n, r.usage)


def responses_tools(model):
    for stream in (False, True):
        ask = dict(model=model, input=ASK, tools=FLAT, reasoning={"effort": "low", "summary": "auto"})
        if stream:
            with chats.responses.stream(**ask) as events:
                for _ in events:
                    pass
                r = events.get_final_response()
        else:
            r = chats.responses.create(**ask)
        uses = [i for i in r.output if i.type == "function_call"]
        assert [i.name for i in uses] == ["get_weather"] * 2, r
        results = [{"type": "function_call_output", "call_id": i.call_id, "output": "sunny"} for i in uses]
        after = chats.responses.create(model=model, input=ASK + [i.to_dict() for i in r.output] + results, tools=FLAT)
        assert after.output_text == answered(model), after


def completion(model):
    r = chats.completions.create(model=model, prompt="Say something short.", max_tokens=100)
    assert r.choices[0].text == HEARD, r


def fails(kind, model):
    try:
        chats.chat.completions.create(model=model, messages=ASK)
    except kind as e:
        return e
    raise AssertionError(f"{model} does not fail with {kind.__name__}")


def context(model):
    assert fails(openai.BadRequestError, model).code == "context_length_exceeded"


def refused(model):
    assert fails(openai.InternalServerError, model).code == "upstream_auth_error"


def limited(model):
    assert fails(openai.APIStatusError, model).code in ("upstream_rate_limited", "all_deployments_failed")


def falls_back(model):
    for stream in (False, True):
        r = chats.chat.completions.create(model=model, messages=ASK, stream=stream)
        text = "".join(c.choices[0].delta.content or "" for c in r if c.choices) if stream else r.choices[0].message.content
        assert text == HEARD, text


CASES = [
    (chat_whole, "claude"), (chat_whole, "nova"), (chat_whole, "profile"), (chat_whole, "keyed"),
    (chat_streamed, "claude"), (chat_streamed, "nova"), (chat_streamed, "profile"),
    (chat_structured, "claude"), (chat_structured, "nova"), (chat_image, "nova"),
    (chat_tools, "claude"), (chat_tools, "nova"), (messages_tools, "converse"), (messages_tools, "claude"), (messages_tools, "invoke"),
    (messages_streamed, "nova"), (messages_streamed, "claude"), (messages_streamed, "dribbles"), (messages_break_off, "breaks-off"), (messages_betas, "claude"), (messages_count, "claude"), (chat_tools, "invoke"), (chat_structured, "invoke"),
    (chat_streamed, "oss"), (chat_tools, "oss"), (messages_streamed, "oss"), (responses_tools, "sol"), (chat_tools, "sol"), (messages_streamed, "sol"),
    (chat_tools, "mantle"), (responses_tools, "mantle"), (messages_tools, "mantle-claude"), (messages_count, "mantle-claude"),
    (responses_tools, "claude"), (completion, "nova"),
    (context, "context"), (refused, "refused"), (limited, "limited"),
    (falls_back, "first-fails"), (falls_back, "openai-fails"),
]

failed = 0
for case, model in CASES:
    try:
        case(model)
        print("ok", case.__name__, model)
    except Exception as e:  # noqa: BLE001 - the others run, too
        failed += 1
        print("FAILED", case.__name__, model, repr(e)[:1500])
sys.exit(failed > 0)
