"""What an application does with the Anthropic SDK, pointed at the gateway."""

import os
import sys

import anthropic

MODEL = os.environ.get("MODEL", "fast")
USER = {"role": "user", "content": "What is the weather in Oslo?"}
WEATHER = {
    "name": "weather",
    "description": "the weather of a city",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


def whole(client: anthropic.Anthropic) -> None:
    answer = client.messages.create(model=MODEL, max_tokens=200, system="Be brief.", messages=[USER])
    print("answer:", answer.content[0].text)
    assert answer.stop_reason == "end_turn" and answer.usage.output_tokens > 0


def streamed(client: anthropic.Anthropic) -> None:
    with client.messages.stream(model=MODEL, max_tokens=200, messages=[USER]) as stream:
        text = "".join(stream.text_stream)
        usage = stream.get_final_message().usage
    print("stream:", text)
    assert text and usage.output_tokens > 0


def tool(client: anthropic.Anthropic) -> None:
    answer = client.messages.create(model=MODEL, max_tokens=200, messages=[USER], tools=[WEATHER])
    call = next(block for block in answer.content if block.type == "tool_use")
    assert answer.stop_reason == "tool_use" and "city" in call.input
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain, 7 degrees"}
    messages = [USER, {"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]
    answer = client.messages.create(model=MODEL, max_tokens=200, messages=messages, tools=[WEATHER])
    print("tool:", call.name, "->", answer.content[0].text)


def counted(client: anthropic.Anthropic) -> None:
    count = client.messages.count_tokens(model=MODEL, messages=[USER])
    print("tokens:", count.input_tokens)
    assert count.input_tokens > 0


def refused(client: anthropic.Anthropic) -> None:
    try:
        client.messages.create(model="no-such-model", max_tokens=10, messages=[USER])
    except anthropic.NotFoundError as error:
        print("refused:", error.status_code, error.body["error"]["type"])
    else:
        raise AssertionError("an unknown model was answered")


def main() -> None:
    key = os.environ.get("GATEWAY_KEY")
    if not key:
        sys.exit("chat.py: set GATEWAY_KEY to the key that make run printed")
    url = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
    client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0, timeout=60)
    for step in (whole, streamed, tool, counted, refused):
        step(client)
    print("all went well")


if __name__ == "__main__":
    main()
