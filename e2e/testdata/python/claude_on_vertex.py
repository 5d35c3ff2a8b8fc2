"""The same requests by Anthropic's client through the gateway, or by its client for Vertex."""

import os
import sys

import anthropic

if sys.argv[1] == "vertex":
    model = "claude-sonnet-4-5@20250929"
    client = anthropic.AnthropicVertex(
        project_id="my-project", region="europe-west4", access_token="token-of-google", base_url=os.environ["VERTEX_URL"] + "/v1", max_retries=0
    )
else:
    model = "claude"
    client = anthropic.Anthropic(base_url=os.environ["GATEWAY_URL"], api_key=os.environ["API_KEY"], max_retries=0)

ASK = [{"role": "user", "content": "hello"}]
TOOL = {"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}

done = 0
assert client.messages.create(model=model, max_tokens=20, messages=ASK).content[0].text
done += 1
with client.messages.stream(model=model, max_tokens=20, messages=ASK, system="Be brief.") as stream:
    assert stream.get_final_text()
done += 1
r = client.messages.create(model=model, max_tokens=20, messages=ASK, tools=[TOOL], tool_choice={"type": "any"})
call = [b for b in r.content if b.type == "tool_use"][0]
done += 1
after = ASK + [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "weather", "input": call.input}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}]},
]
assert client.messages.create(model=model, max_tokens=20, messages=after, tools=[TOOL]).content
done += 1
flags = ["context-1m-2025-08-07", "files-api-2025-04-14", "interleaved-thinking-2025-05-14"]
assert client.beta.messages.create(model=model, max_tokens=20, messages=ASK, betas=flags).content
done += 1
assert client.messages.count_tokens(model=model, messages=ASK).input_tokens
done += 1
print("ok", done)
