"""What an application does with the OpenAI SDK, pointed at the gateway."""

import json
import os
import sys

import openai
from pydantic import BaseModel

MODEL = os.environ.get("MODEL", "fast")
USER = {"role": "user", "content": "What is the weather in Oslo?"}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "the weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


class Report(BaseModel):
    """The JSON answer asked for."""

    city: str
    degrees: int


def whole(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model=MODEL, messages=[USER])
    print("answer:", answer.choices[0].message.content)
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def streamed(client: openai.OpenAI) -> None:
    text, usage = "", None
    stream = client.chat.completions.create(
        model=MODEL, messages=[USER], stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            text += chunk.choices[0].delta.content
        usage = chunk.usage or usage
    print("stream:", text)
    assert text and usage and usage.completion_tokens > 0


def tool(client: openai.OpenAI) -> None:
    messages = [USER]
    answer = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER])
    message = answer.choices[0].message
    assert answer.choices[0].finish_reason == "tool_calls"
    call = message.tool_calls[0]
    assert "city" in json.loads(call.function.arguments)
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "rain, 7 degrees"}]
    answer = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER])
    print("tool:", call.function.name, "->", answer.choices[0].message.content)
    assert answer.choices[0].message.content


def parsed(client: openai.OpenAI) -> None:
    answer = client.chat.completions.parse(model=MODEL, messages=[USER], response_format=Report)
    print("parsed:", answer.choices[0].message.parsed)
    assert isinstance(answer.choices[0].message.parsed, Report)


def refused(client: openai.OpenAI) -> None:
    try:
        client.chat.completions.create(model="no-such-model", messages=[USER])
    except openai.NotFoundError as error:
        print("refused:", error.status_code, error.code)
    else:
        raise AssertionError("an unknown model was answered")


def main() -> None:
    key = os.environ.get("GATEWAY_KEY")
    if not key:
        sys.exit("chat.py: set GATEWAY_KEY to the key that make run printed")
    url = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
    client = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0, timeout=60)
    for step in (whole, streamed, tool, parsed, refused):
        step(client)
    print("all went well")


if __name__ == "__main__":
    main()
