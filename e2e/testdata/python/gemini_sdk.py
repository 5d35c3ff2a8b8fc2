"""Drives models of Gemini through the gateway with the unchanged SDKs of OpenAI and Anthropic;
gemini_test.go runs it.

The fake provider signs the calls of a model of the third generation, and rejects them without their signatures.
"""

import json
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
ANTHROPIC_TOOLS = [{"name": "get_weather", "description": "The weather", "input_schema": SCHEMA}]
THOUGHT = "The caller wrote something. It deserves an answer."
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkM9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def chat_whole(model):
    r = chats.chat.completions.create(model=model, messages=[{"role": "system", "content": "Be brief."}] + ASK)
    assert r.model == model and r.choices[0].message.content == "The fake provider heard: Say something short.", r
    assert r.choices[0].finish_reason == "stop", r
    assert r.usage.total_tokens == r.usage.prompt_tokens + r.usage.completion_tokens > 0, r.usage


def chat_streamed(model):
    text, last = "", None
    for chunk in chats.chat.completions.create(model=model, messages=ASK, stream=True, stream_options={"include_usage": True}):
        last = chunk
        if chunk.choices and chunk.choices[0].delta.content:
            text += chunk.choices[0].delta.content
    assert text == "The fake provider heard: Say something short.", text
    assert last.choices == [] and last.usage.completion_tokens > 0 and last.usage.prompt_tokens > 0, last


def chat_reasoning(model):
    m = chats.chat.completions.create(model=model, messages=ASK, reasoning_effort="low")
    assert m.choices[0].message.reasoning_content == THOUGHT, m
    assert m.usage.completion_tokens_details.reasoning_tokens > 0, m.usage


def chat_choices(model):
    r = chats.chat.completions.create(model=model, messages=ASK, n=2)
    assert [c.index for c in r.choices] == [0, 1], r


class City(BaseModel):
    city: str


def chat_structured(model):
    r = chats.chat.completions.parse(model=model, messages=ASK, response_format=City)
    assert r.choices[0].message.parsed == City(city="fake"), r


def chat_image(model):
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PIXEL}}]
    r = chats.chat.completions.create(model=model, messages=[{"role": "user", "content": parts}])
    assert r.choices[0].message.content, r


def call_by_chat(model, stream):
    """Returns the history of a chat with calls, as a client keeps it that knows no member but OpenAI's."""
    if stream:
        with chats.chat.completions.stream(model=model, messages=ASK, tools=TOOLS, reasoning_effort="low") as events:
            for _ in events:
                pass
            r = events.get_final_completion()
    else:
        r = chats.chat.completions.create(model=model, messages=ASK, tools=TOOLS, reasoning_effort="low")
    made = r.choices[0].message.tool_calls
    assert r.choices[0].finish_reason == "tool_calls" and [c.function.name for c in made] == ["get_weather"] * 2, r
    assert len({c.id for c in made}) == 2, made
    calls = [{"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}} for c in made]
    results = [{"role": "tool", "tool_call_id": c.id, "content": "sunny"} for c in made]
    return ASK + [{"role": "assistant", "content": None, "tool_calls": calls}] + results


def chat_tools(model):
    for stream in (False, True):
        after = chats.chat.completions.create(model=model, messages=call_by_chat(model, stream), tools=TOOLS)
        assert after.choices[0].message.content == "The tool answered: sunnysunny", after


def call_by_messages(model, stream):
    ask = dict(model=model, max_tokens=4000, messages=ASK, tools=ANTHROPIC_TOOLS, thinking={"type": "enabled", "budget_tokens": 1024})
    if stream:
        with claude.messages.stream(**ask) as events:
            r = events.get_final_message()
    else:
        r = claude.messages.create(**ask)
    assert r.stop_reason == "tool_use" and r.content[0].type == "thinking" and r.content[0].thinking == THOUGHT, r
    uses = [b for b in r.content if b.type == "tool_use"]
    assert [b.name for b in uses] == ["get_weather"] * 2 and uses[0].input == {"city": "fake"}, r
    results = [{"type": "tool_result", "tool_use_id": b.id, "content": "sunny"} for b in reversed(uses)]
    return ASK + [{"role": "assistant", "content": r.content}, {"role": "user", "content": results}]


def messages_tools(model):
    for stream in (False, True):
        after = claude.messages.create(model=model, max_tokens=100, messages=call_by_messages(model, stream), tools=ANTHROPIC_TOOLS)
        assert after.content[-1].text == "The tool answered: sunnysunny", after


def messages_streamed(model):
    with claude.messages.stream(model=model, max_tokens=100, messages=ASK) as stream:
        final = stream.get_final_message()
    assert final.content[0].text == "The fake provider heard: Say something short." and final.stop_reason == "end_turn", final
    assert final.usage.input_tokens > 0 and final.usage.output_tokens > 0, final.usage


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
        assert after.output_text == "The tool answered: sunnysunny", after


def searches(model):
    """The search that the model has made before its call goes back with it."""
    ask = dict(model=model, max_tokens=4000, tools=ANTHROPIC_TOOLS + [{"type": "web_search_20250305", "name": "web_search"}])
    for stream in (False, True):
        options = dict(model=model, tools=TOOLS, web_search_options={})
        if stream:
            with chats.chat.completions.stream(messages=ASK, **options) as events:
                for _ in events:
                    pass
                made = events.get_final_completion().choices[0].message.tool_calls
        else:
            made = chats.chat.completions.create(messages=ASK, **options).choices[0].message.tool_calls
        calls = [{"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}} for c in made]
        results = [{"role": "tool", "tool_call_id": c.id, "content": "sunny"} for c in made]
        after = chats.chat.completions.create(messages=ASK + [{"role": "assistant", "tool_calls": calls}] + results, **options)
        assert after.choices[0].message.content == "The tool answered: sunnysunny", after
        r = claude.messages.create(messages=ASK, **ask)
        results = [{"type": "tool_result", "tool_use_id": b.id, "content": "sunny"} for b in r.content if b.type == "tool_use"]
        after = claude.messages.create(messages=ASK + [{"role": "assistant", "content": r.content}, {"role": "user", "content": results}], **ask)
        assert after.content[-1].text == "The tool answered: sunnysunny", after


def embeddings(model):
    r = chats.embeddings.create(model=model, input=["one two", "one three"], dimensions=4)
    assert [len(d.embedding) for d in r.data] == [4, 4] and [d.index for d in r.data] == [0, 1] and r.model == model, r
    assert r.usage.prompt_tokens == r.usage.total_tokens > 0, r.usage
    again = chats.embeddings.create(model=model, input="one two", dimensions=4, encoding_format="float").data[0].embedding
    assert all(abs(a - b) < 1e-6 for a, b in zip(again, r.data[0].embedding, strict=True)), (again, r)
    mixed = chats.embeddings.create(model="embedding-of-both", input=[1, 2, 3])
    assert mixed.usage.prompt_tokens == 3, mixed
    try:
        chats.embeddings.create(model=model, input=[1, 2, 3])
    except openai.BadRequestError as e:
        assert e.param == "input[0]", e.body
    else:
        raise AssertionError("tokens of another vocabulary are embedded")


def errors(model):
    for name, kind in ((model + "-context", openai.BadRequestError), (model + "-limited", openai.InternalServerError), (model + "-key", openai.InternalServerError)):
        for ask in (lambda: chats.chat.completions.create(model=name, messages=ASK), lambda: list(chats.chat.completions.create(model=name, messages=ASK, stream=True))):
            try:
                ask()
            except kind as e:
                assert "AIza" not in str(e), e
                assert kind is not openai.BadRequestError or e.code == "context_length_exceeded", e.body
            else:
                raise AssertionError("%s answers" % name)


def fallbacks(model):
    """OpenAI fails, then Gemini serves its history; Gemini fails, then Anthropic serves the history of Gemini."""
    history = ASK + [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [{"id": "call_openai", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_openai", "content": "rainy"},
    ]
    for stream in (False, True):
        for name, messages, said in (("openai-then-" + model, history, "rainy"), (model + "-then-claude", call_by_chat(model, stream), "sunny")):
            r = chats.chat.completions.with_raw_response.create(model=name, messages=messages, tools=TOOLS, reasoning_effort="low", stream=stream)
            assert r.headers["x-gateway-attempted-fallbacks"] == "1", r.headers
            if stream:
                text = "".join(c.choices[0].delta.content or "" for c in r.parse() if c.choices)
            else:
                text = r.parse().choices[0].message.content
            assert said in text, text
        messages = call_by_messages(model, stream)
        r = claude.messages.create(model=model + "-then-claude", max_tokens=4000, messages=messages, tools=ANTHROPIC_TOOLS)
        assert "sunny" in r.content[-1].text, r


BOTH = [chat_whole, chat_streamed, chat_reasoning, chat_choices, chat_structured, chat_image, chat_tools, messages_streamed, messages_tools, responses_tools]
CHECKS = {"gemini-3": BOTH + [searches, embeddings, errors, fallbacks], "gemini-2": BOTH}
failed = 0
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
