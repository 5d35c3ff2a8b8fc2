"""Libraries of the providers, unmodified, at the paths that they call, with the gateway's key. It prints a line for each
check, and fails at the first one that is not well."""

import http.client
import json
import os
import urllib.parse

import anthropic
import boto3
import botocore.config
import botocore.exceptions
import cohere
import httpx
import openai
from mistralai.client import Mistral

URL, KEY = os.environ["GATEWAY_URL"], os.environ["API_KEY"]
WEATHER = {"name": "get_weather", "description": "The weather.", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
HELLO = [{"role": "user", "content": "Say hello."}]


def ok(what: str) -> None:
    print("ok", what, flush=True)


def messages(c, model: str, name: str) -> None:
    """Messages, whole and streamed, with a round of tools."""
    r = c.messages.create(model=model, max_tokens=50, messages=HELLO)
    assert r.type == "message" and r.model == model and r.content[0].text and r.usage.output_tokens > 0 and r.stop_reason == "end_turn", r
    ok(f"{name}, {model}: whole")

    with c.messages.stream(model=model, max_tokens=50, messages=HELLO) as stream:
        text = "".join(stream.text_stream)
        last = stream.get_final_message()
    assert text and last.content[0].text == text and last.usage.output_tokens > 0 and last.model == model, last
    ok(f"{name}, {model}: streamed")


def tools(c, model: str, name: str) -> None:
    talk = list(HELLO)
    with c.messages.stream(model=model, max_tokens=500, messages=talk, tools=[WEATHER]) as stream:
        r = stream.get_final_message()
    calls = [b for b in r.content if b.type == "tool_use"]
    assert calls and r.stop_reason == "tool_use" and all(b.name == "get_weather" for b in calls), r
    talk += [{"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in r.content]}]
    talk += [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": b.id, "content": "sunny"} for b in calls]}]
    r = c.messages.create(model=model, max_tokens=500, messages=talk, tools=[WEATHER])
    assert any(b.type == "text" and b.text for b in r.content), r
    ok(f"{name}, {model}: tools")


def refused(what, kind: type, says: str, name: str) -> None:
    try:
        what()
        raise AssertionError(name)
    except kind as e:
        assert says in str(e), e
    ok(name)


def vertex() -> None:
    c = anthropic.AnthropicVertex(base_url=URL + "/vertex_ai/v1", region="global", project_id="any", access_token=KEY, max_retries=0)
    for model in ("claude", "gpt"):
        messages(c, model, "AnthropicVertex")
    tools(c, "claude-tools", "AnthropicVertex")
    n = c.messages.count_tokens(model="claude", messages=HELLO).input_tokens
    assert 0 < n < 50, n
    ok("AnthropicVertex: count_tokens")
    beta = c.beta.messages.create(model="claude", max_tokens=50, messages=HELLO, betas=["context-1m-2025-08-07"])
    assert beta.content[0].text, beta
    ok("AnthropicVertex: beta")
    refused(lambda: c.messages.create(model="nobody", max_tokens=5, messages=HELLO), anthropic.NotFoundError, "no model of that name", "AnthropicVertex: a model that does not exist")
    stranger = anthropic.AnthropicVertex(base_url=URL + "/vertex_ai/v1", region="global", project_id="any", access_token="sk-nobody", max_retries=0)
    refused(lambda: stranger.messages.create(model="claude", max_tokens=5, messages=HELLO), anthropic.AuthenticationError, "", "AnthropicVertex: a wrong key")


def bedrock() -> None:
    signed = {"aws_access_key": "AKIAEXAMPLE", "aws_secret_key": "secret", "default_headers": {"x-api-key": KEY}}
    for name, how in (("AnthropicBedrock", {"api_key": KEY}), ("AnthropicBedrock, signed", signed)):
        c = anthropic.AnthropicBedrock(base_url=URL + "/bedrock", aws_region="us-east-1", max_retries=0, **how)
        for model in ("claude", "gpt"):
            messages(c, model, name)
    c = anthropic.AnthropicBedrock(base_url=URL + "/bedrock", aws_region="us-east-1", api_key=KEY, max_retries=0)
    tools(c, "claude-tools", "AnthropicBedrock")
    beta = c.beta.messages.create(model="claude", max_tokens=50, messages=HELLO, betas=["context-1m-2025-08-07"])
    assert beta.content[0].text, beta
    ok("AnthropicBedrock: beta")
    refused(lambda: c.messages.create(model="nobody", max_tokens=5, messages=HELLO), anthropic.NotFoundError, "no model of that name", "AnthropicBedrock: a model that does not exist")
    refused(lambda: list(c.messages.create(model="cut", max_tokens=500, messages=HELLO, stream=True)), anthropic.APIError, "", "AnthropicBedrock: a stream that fails")
    unknown = anthropic.AnthropicBedrock(base_url=URL + "/bedrock", aws_region="us-east-1", aws_access_key="AKIAEXAMPLE", aws_secret_key="secret", max_retries=0)
    refused(lambda: unknown.messages.create(model="claude", max_tokens=5, messages=HELLO), anthropic.AuthenticationError, "AWS_BEARER_TOKEN_BEDROCK", "AnthropicBedrock: a signature without a key")

    b = aws()
    body = json.dumps({"anthropic_version": "bedrock-2023-05-31", "anthropic_beta": ["context-1m-2025-08-07"], "max_tokens": 50, "messages": HELLO})
    for model in ("claude", "gpt"):
        whole = json.loads(b.invoke_model(modelId=model, body=body)["body"].read())
        assert whole["content"][0]["text"] and whole["model"] == model, whole
        events = [json.loads(e["chunk"]["bytes"]) for e in b.invoke_model_with_response_stream(modelId=model, body=body)["body"]]
        assert events[0]["type"] == "message_start" and events[-1]["type"] == "message_stop", events
        ok(f"boto3, {model}: invoke_model")
    refused(lambda: b.invoke_model(modelId="nobody", body=body), botocore.exceptions.ClientError, "no model of that name", "boto3: a model that does not exist")


SAY = [{"role": "user", "content": [{"text": "Say hello."}]}]


def aws() -> object:
    """boto3 as it is; it sends a bearer token over TLS only, so here the key stands in a header next to a signature."""
    b = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=URL + "/bedrock", aws_access_key_id="AKIAEXAMPLE", aws_secret_access_key="secret",
                     config=botocore.config.Config(retries={"total_max_attempts": 1}))
    b.meta.events.register("before-sign.bedrock-runtime", lambda request, **_: request.headers.add_header("x-api-key", KEY))
    return b


def joined(events: list) -> dict:
    """What the events of a stream make, as clients put them together."""
    blocks, out = {}, {}
    for e in events:
        (kind, v), = e.items()
        if kind == "contentBlockStart":
            blocks[v["contentBlockIndex"]] = {"toolUse": {**v["start"]["toolUse"], "input": ""}}
        elif kind == "contentBlockDelta":
            block, delta = blocks.setdefault(v["contentBlockIndex"], {}), v["delta"]
            if "text" in delta:
                block["text"] = block.get("text", "") + delta["text"]
            elif "toolUse" in delta:
                block["toolUse"]["input"] += delta["toolUse"]["input"]
            elif "reasoningContent" in delta:
                for name, piece in delta["reasoningContent"].items():
                    thought = block.setdefault("reasoningContent", {}).setdefault("reasoningText", {})
                    thought[name] = thought.get(name, "") + piece
        elif kind == "messageStop":
            out["stopReason"] = v["stopReason"]
        elif kind == "metadata":
            out.update(v)
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    out["content"] = [blocks[i] for i in sorted(blocks)]
    assert [next(iter(e)) for e in events][0] == "messageStart" and [next(iter(e)) for e in events][-2:] == ["messageStop", "metadata"], events
    return out


def converse() -> None:
    b = aws()
    for model in ("claude", "gpt", "nova"):
        r = b.converse(modelId=model, messages=SAY, system=[{"text": "Be brief."}], inferenceConfig={"maxTokens": 50, "temperature": 0.5})
        assert r["output"]["message"]["content"][0]["text"] and r["stopReason"] == "end_turn" and r["metrics"]["latencyMs"] >= 0, r
        assert r["usage"]["inputTokens"] > 0 and r["usage"]["totalTokens"] == r["usage"]["inputTokens"] + r["usage"]["outputTokens"], r
        assert r["ResponseMetadata"]["HTTPHeaders"]["x-gateway-response-cost"], r
        s = joined(list(b.converse_stream(modelId=model, messages=SAY, inferenceConfig={"maxTokens": 50})["stream"]))
        assert s["content"][0]["text"] and s["stopReason"] == "end_turn" and s["usage"]["outputTokens"] > 0 and s["metrics"]["latencyMs"] >= 0, s
        ok(f"boto3, {model}: converse")


SKY = {"tools": [{"toolSpec": {"name": "get_weather", "description": "The weather.", "inputSchema": {"json": WEATHER["input_schema"]}}}]}


def talked() -> None:
    """Rounds of tools, with the reasoning before them, whole and streamed; what comes back is sent as it came."""
    b = aws()
    for model in ("claude-tools", "claude-thinks", "sonnet"):
        for streamed in (False, True):
            talk, config = list(SAY), {"maxTokens": 3000}
            fields = {"thinking": {"type": "enabled", "budget_tokens": 1024}} if model == "claude-thinks" else {}
            asked = {"modelId": model, "messages": talk, "toolConfig": SKY, "inferenceConfig": config, "additionalModelRequestFields": fields}
            if streamed:
                r = joined(list(b.converse_stream(**asked)["stream"]))
                content = r["content"]
            else:
                r = b.converse(**asked)
                content = r["output"]["message"]["content"]
            calls = [c["toolUse"] for c in content if "toolUse" in c]
            assert len(calls) == 2 and r["stopReason"] == "tool_use" and all(c["name"] == "get_weather" and isinstance(c["input"], dict) and len(c["toolUseId"]) <= 64 for c in calls), r
            thought = [c["reasoningContent"]["reasoningText"] for c in content if "reasoningContent" in c]
            assert bool(thought) == (model == "claude-thinks") and all(t["text"] and t["signature"] for t in thought), content
            talk += [{"role": "assistant", "content": content}]
            talk += [{"role": "user", "content": [{"toolResult": {"toolUseId": c["toolUseId"], "content": [{"json": {"sky": "clear"}}], "status": "success"}} for c in calls]}]
            last = b.converse(**{**asked, "messages": talk})
            assert last["output"]["message"]["content"][-1]["text"] and last["stopReason"] == "end_turn", last
        ok(f"boto3, {model}: tools")


def counted() -> None:
    b = aws()
    body = json.dumps({"anthropic_version": "bedrock-2023-05-31", "max_tokens": 50, "messages": HELLO}).encode()
    for model in ("sonnet", "claude", "gpt"):
        chat = b.count_tokens(modelId=model, input={"converse": {"messages": SAY, "system": [{"text": "Be brief."}]}})
        invoked = b.count_tokens(modelId=model, input={"invokeModel": {"body": body}})
        assert 0 < chat["inputTokens"] < 50 and 0 < invoked["inputTokens"] < 50, (chat, invoked)
        by = [r["ResponseMetadata"]["HTTPHeaders"]["x-gateway-token-count"] for r in (chat, invoked)]
        assert by == {"sonnet": ["provider"] * 2, "claude": ["estimated", "provider"], "gpt": ["estimated"] * 2}[model], by
    ok("boto3: count_tokens")


def failed() -> None:
    """Errors are those classes of boto3's that applications catch, and so are those within streams."""
    b = aws()
    ask = {"messages": SAY, "inferenceConfig": {"maxTokens": 500}}
    refused(lambda: b.converse(modelId="nobody", **ask), b.exceptions.ResourceNotFoundException, "no model of that name", "boto3: converse with a model that does not exist")
    picture = [{"role": "user", "content": [{"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/a.png"}}}}]}]
    refused(lambda: b.converse(modelId="nova", messages=picture), b.exceptions.ValidationException, "messages[0].content[0].image.source.s3Location", "boto3: an object in S3")
    guarded = {"guardrailIdentifier": "abc", "guardrailVersion": "1"}
    refused(lambda: b.converse(modelId="gpt", guardrailConfig=guarded, **ask), b.exceptions.ValidationException, "guardrailConfig is not supported", "boto3: a guardrail of Bedrock's elsewhere")
    seen = []
    refused(lambda: seen.extend(b.converse_stream(modelId="breaks-off", **ask)["stream"]), botocore.exceptions.EventStreamError, "Exception", "boto3: a stream that fails")
    stream = iter(b.converse_stream(modelId="breaks-off", **ask)["stream"])
    first, second = next(stream), next(stream)
    assert first == {"messageStart": {"role": "assistant"}} and "delta" in second["contentBlockDelta"], (first, second)
    refused(lambda: b.converse(modelId="throttled", **ask), b.exceptions.ServiceUnavailableException, "Every deployment", "boto3: a provider that throttles")


def prefixes() -> None:
    c = anthropic.Anthropic(base_url=URL + "/anthropic", api_key=KEY, max_retries=0)
    messages(c, "claude", "Anthropic")
    assert c.models.list().data, "no models"
    ok("Anthropic: models")

    o = openai.OpenAI(base_url=URL + "/openai_passthrough/v1", api_key=KEY, max_retries=0)
    chats(o, "gpt", "OpenAI")
    assert o.responses.create(model="gpt", input="Say hello.").output_text
    ok("OpenAI: responses")
    assert "gpt" in {m.id for m in o.models.list()}
    ok("OpenAI: models")

    for name, a in (
        ("AzureOpenAI", openai.AzureOpenAI(azure_endpoint=URL + "/azure", api_version="2024-10-21", api_key=KEY, max_retries=0)),
        ("AzureOpenAI with a token", openai.AzureOpenAI(azure_endpoint=URL + "/azure", api_version="2024-10-21", azure_ad_token=KEY, max_retries=0)),
        ("OpenAI at Azure's API v1", openai.OpenAI(base_url=URL + "/azure/openai/v1", api_key=KEY, max_retries=0)),
    ):
        chats(a, "gpt", name)
        chats(a, "claude", name)
        r = a.embeddings.create(model="embed", input=["one", "two"])
        assert len(r.data) == 2 and r.usage.prompt_tokens > 0, r
        ok(f"{name}: embeddings")


def turns() -> None:
    """Cohere's client, with Cohere's models and with others."""
    c = cohere.ClientV2(base_url=URL + "/cohere", api_key=KEY)
    r = c.rerank(model="rank", query="a fox", documents=["the fox", "the sea"], top_n=1)
    assert len(r.results) == 1 and r.results[0].relevance_score >= 0, r
    ok("cohere: rerank")
    for model in ("command", "gpt", "claude"):
        r = c.chat(model=model, messages=HELLO, max_tokens=50, documents=["A fox."], safety_mode="CONTEXTUAL")
        assert r.id and r.message.content[-1].text and r.usage.billed_units.output_tokens > 0 and r.finish_reason in ("COMPLETE", "MAX_TOKENS"), r
        ok(f"cohere, {model}: whole")
        events = list(c.chat_stream(model=model, messages=HELLO, max_tokens=50))
        assert events[0].type == "message-start" and events[-1].type == "message-end", events
        assert "".join(e.delta.message.content.text or "" for e in events if e.type == "content-delta") and events[-1].delta.usage.tokens.output_tokens > 0, events
        ok(f"cohere, {model}: streamed")
    tool = {"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": WEATHER["input_schema"]}}
    for model in ("command-tools", "claude-tools"):
        talk = list(HELLO)
        r = c.chat(model=model, messages=talk, tools=[tool])
        assert len(r.message.tool_calls) == 2 and r.finish_reason == "TOOL_CALL", r
        talk += [r.message] + [{"role": "tool", "tool_call_id": k.id, "content": [{"type": "document", "document": {"data": {"weather": "sunny"}}}]} for k in r.message.tool_calls]
        r = c.chat(model=model, messages=talk, tools=[tool])
        assert r.message.content[-1].text and r.finish_reason == "COMPLETE", r
        names, arguments = [], []
        for e in c.chat_stream(model=model, messages=HELLO, tools=[tool]):
            if e.type == "tool-call-start":
                names.append(e.delta.message.tool_calls.function.name)
                arguments.append(e.delta.message.tool_calls.function.arguments or "")
            elif e.type == "tool-call-delta":
                arguments[e.index] += e.delta.message.tool_calls.function.arguments
        assert names == ["get_weather"] * 2 and all(json.loads(a) for a in arguments), (names, arguments)
        ok(f"cohere, {model}: tools")
    refused(lambda: c.chat(model="nobody", messages=HELLO), cohere.NotFoundError, "no model of that name", "cohere: a model that does not exist")
    refused(lambda: c.chat(model="gpt", messages=HELLO, safety_mode="STRICT"), cohere.BadRequestError, "safety_mode", "cohere: a filter that others lack")
    refused(lambda: cohere.ClientV2(base_url=URL + "/cohere", api_key="sk-nobody").chat(model="gpt", messages=HELLO), cohere.UnauthorizedError, "message", "cohere: a wrong key")
    refused(lambda: cohere.Client(base_url=URL + "/cohere", api_key=KEY).chat(model="gpt", message="Say hello."), cohere.NotFoundError, "/cohere/v2/chat", "cohere: the first version")
    last = list(c.chat_stream(model="broken", messages=HELLO))[-1]
    assert last.type == "message-end" and last.delta.finish_reason == "ERROR" and "broke off" in last.delta.error, last
    ok("cohere: a stream that fails")
    page = cohere.Client(base_url=URL + "/cohere", api_key=KEY).models.list(page_size=2)
    assert len(page.models) == 2 and page.next_page_token and page.models[0].endpoints, page
    ok("cohere: models")


def mistral() -> None:
    """Mistral's client, with Mistral's models and with others."""
    c = Mistral(api_key=KEY, server_url=URL)
    tool = {"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": WEATHER["input_schema"]}}
    for model in ("mistral", "gpt", "claude"):
        seed = {} if model == "claude" else {"random_seed": 7}
        r = c.chat.complete(model=model, messages=HELLO, max_tokens=50, **seed)
        assert r.choices[0].message.content and r.usage.completion_tokens > 0 and r.model == model, r
        events = [e.data for e in c.chat.stream(model=model, messages=HELLO, **seed)]
        assert "".join(e.choices[0].delta.content or "" for e in events if e.choices), events
        assert [e.choices[0].finish_reason for e in events if e.choices][-1] == "stop", events
        r = c.chat.complete(model=model, messages=HELLO, tools=[tool], tool_choice="any", max_tokens=200)
        assert r.choices[0].message.tool_calls[0].function.name == "get_weather" and r.choices[0].finish_reason == "tool_calls", r
        ok(f"mistral, {model}: chats")

def chats(c: openai.OpenAI, model: str, name: str) -> None:
    r = c.chat.completions.create(model=model, messages=HELLO)
    assert r.choices[0].message.content and r.usage.total_tokens > 0 and r.model == model, r
    chunks = list(c.chat.completions.create(model=model, messages=HELLO, stream=True))
    assert "".join(k.choices[0].delta.content or "" for k in chunks if k.choices) and chunks[-1].choices[0].finish_reason == "stop", chunks
    ok(f"{name}, {model}: chats")


GOOGLE = {"contents": [{"parts": [{"text": "Say hello."}]}]}
CLAUDE = {"anthropic_version": "vertex-2023-10-16", "max_tokens": 5, "messages": HELLO}
PROJECT = "/v1/projects/p/locations/l/publishers"


def limits() -> None:
    """A key reaches the models that it may use by any path, and no others; what a path says of a model is its name and nothing else."""
    made = httpx.post(URL + "/key/generate", json={"models": ["gpt"]}, headers={"authorization": f"Bearer {KEY}"})
    assert made.status_code == 200, made.text
    key = {"authorization": f"Bearer {made.json()['key']}"}
    paths = (
        ("/gemini/v1beta/models/{}:generateContent", GOOGLE), ("/v1beta/models/{}:countTokens", GOOGLE), ("/v1beta/models/{}:streamGenerateContent", GOOGLE),
        (f"/vertex_ai{PROJECT}/google/models/{{}}:generateContent", GOOGLE), (f"/vertex_ai{PROJECT}/anthropic/models/{{}}:rawPredict", CLAUDE),
        (f"/vertex_ai{PROJECT}/anthropic/models/{{}}:streamRawPredict", CLAUDE), ("/bedrock/model/{}/invoke", CLAUDE), ("/bedrock/model/{}/invoke-with-response-stream", CLAUDE),
        ("/bedrock/model/{}/converse", {"messages": SAY}), ("/bedrock/model/{}/converse-stream", {"messages": SAY}),
        ("/bedrock/model/{}/count-tokens", {"input": {"converse": {"messages": SAY}}}),
        ("/azure/openai/deployments/{}/chat/completions", {"messages": HELLO}),
    )
    for path, body in paths:
        r = httpx.post(URL + path.format("gpt"), json=body, headers=key, timeout=30)
        assert r.status_code == 200, (path, r.text)
        # A model in the body does not replace the one that the path names.
        for other in (body, {**body, "model": "gpt"}):
            r = httpx.post(URL + path.format("claude"), json=other, headers=key, timeout=30)
            assert r.status_code == 403 and "may not use that model" in r.text, (path, r.status_code, r.text)
    ok("a key reaches its models only")

    for name in ("..%2Fgpt", "gpt%2F..%2Fclaude", "..%2F..%2F..%2Fkey%2Flist", "gpt%3Fa=b", "gpt%00", "%2e%2e%2fgpt", "gpt%2F"):
        for path, body in paths:
            r = httpx.post(URL + path.format(name), json=body, headers={"authorization": f"Bearer {KEY}"}, timeout=30)
            assert r.status_code in (400, 404), (path, name, r.status_code, r.text)
    for path in ("/gemini/../key/list", "/gemini/%2e%2e/key/list", "/gemini/..%2Fkey%2Flist", "/vertex_ai//v1/x", "/anthropic/v1/../../key/generate"):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(URL).netloc, timeout=30)  # it sends a path as it is
        connection.request("POST", path, body="{}", headers={**key, "content-type": "application/json"})
        r = connection.getresponse()
        text = r.read().decode()
        assert r.status in (400, 403, 404) and "keys" not in text, (path, r.status, text)
    ok("nothing but models is in a path")

    bounded = httpx.post(URL + "/key/generate", json={"allowed_routes": ["/v1/chat/completions"]}, headers={"authorization": f"Bearer {KEY}"}).json()["key"]
    for path, body in paths[:-1]:
        r = httpx.post(URL + path.format("gpt"), json=body, headers={"authorization": f"Bearer {bounded}"}, timeout=30)
        assert r.status_code == 403, (path, r.status_code, r.text)
    ok("routes of a key hold")


vertex()
bedrock()
converse()
talked()
counted()
failed()
prefixes()
turns()
mistral()
limits()
