"""The google-genai SDK, unmodified, with the gateway's key: whole, streamed, tools, embeddings, counts, errors.
It prints a line for each check, and fails at the first one that is not well."""

import os

import httpx
from google import genai
from google.genai import errors, types

URL, KEY = os.environ["GATEWAY_URL"], os.environ["API_KEY"]


def ok(what: str) -> None:
    print("ok", what, flush=True)


def client(base: str, **more) -> genai.Client:
    return genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL + base, **more))


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = types.Tool(function_declarations=[types.FunctionDeclaration(name="get_weather", description="The weather.", parameters_json_schema=SCHEMA)])


def chat(c: genai.Client, model: str) -> None:
    r = c.models.generate_content(model=model, contents="Say hello.", config=types.GenerateContentConfig(
        system_instruction="Be brief.", temperature=0.5, max_output_tokens=50, stop_sequences=["END"],
        safety_settings=[types.SafetySetting(category="HARM_CATEGORY_HATE_SPEECH", threshold="BLOCK_NONE")]))
    assert r.text and r.candidates[0].finish_reason == "STOP", r
    assert r.model_version == model, r.model_version
    u = r.usage_metadata
    assert u.prompt_token_count > 0 and u.candidates_token_count > 0 and u.total_token_count >= u.prompt_token_count + u.candidates_token_count, u
    ok(f"{model}: whole")

    chunks = list(c.models.generate_content_stream(model=model, contents="Say hello."))
    text = "".join(k.text or "" for k in chunks)
    assert text and len(chunks) > 1, chunks
    assert chunks[-1].candidates[0].finish_reason == "STOP" and chunks[-1].usage_metadata.total_token_count > 0, chunks[-1]
    assert all(k.candidates[0].finish_reason is None for k in chunks[:-1]), chunks
    ok(f"{model}: streamed")


def tools(c: genai.Client, model: str) -> None:
    """A round of calls, whole and streamed, with the history as the SDK keeps it."""
    for streamed in (False, True):
        talk = c.chats.create(model=model, config=types.GenerateContentConfig(
            tools=[WEATHER], automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)))
        send = talk.send_message_stream if streamed else talk.send_message
        answer = send("What is the weather in Paris and in Rome?")
        parts = [p for k in (answer if streamed else [answer]) for p in (k.candidates[0].content.parts or [])]
        calls = [p.function_call for p in parts if p.function_call]
        assert calls and all(f.name == "get_weather" and f.args for f in calls), parts
        ids = {f.id for f in calls}
        assert len(ids) == len(calls) and all(i and len(i) <= 64 for i in ids), ids
        # Many applications leave the ids out, and the gateway finds the calls by their names.
        own = model.startswith("gemini")
        results = [types.Part(function_response=types.FunctionResponse(id=f.id if own else None, name=f.name, response={"result": "sunny"})) for f in calls]
        last = send(results)
        text = "".join((k.text or "") for k in (last if streamed else [last]))
        assert text, last
        history = talk.get_history(curated=True)  # a content for each event of a stream
        whole = talk.get_history()
        assert len(whole) >= 4 and (own or history == whole), whole
        ok(f"{model}: tools, {'streamed' if streamed else 'whole'}")


def automatic(c: genai.Client, model: str) -> None:
    talk = c.chats.create(model=model, config=types.GenerateContentConfig(tools=[get_weather]))
    r = talk.send_message("What is the weather in Paris?")
    assert r.text, r
    ok(f"{model}: functions called by the SDK")


def counts(c: genai.Client, model: str) -> None:
    few = c.models.count_tokens(model=model, contents="hello").total_tokens
    many = c.models.count_tokens(model=model, contents="hello " * 200).total_tokens
    assert 0 < few < 20 and many >= 200, (few, many)
    ok(f"{model}: count_tokens")


def embeddings(c: genai.Client, model: str) -> None:
    r = c.models.embed_content(model=model, contents=["one", "two"], config=types.EmbedContentConfig(output_dimensionality=8, task_type="RETRIEVAL_QUERY"))
    assert len(r.embeddings) == 2 and all(len(e.values) > 0 for e in r.embeddings), r
    ok(f"{model}: embeddings")


def failures(c: genai.Client) -> None:
    for model, contents, code, status in (("no-such-model", "x", 404, "NOT_FOUND"), ("limited", "x", 503, "UNAVAILABLE")):
        try:
            c.models.generate_content(model=model, contents=contents)
            raise AssertionError(model)
        except errors.APIError as e:
            assert e.code == code and e.status == status, (e.code, e.status, e.message)
    stranger = genai.Client(api_key="sk-wrong-key-of-nobody", http_options=types.HttpOptions(base_url=URL))
    try:
        stranger.models.generate_content(model="gpt", contents="x")
        raise AssertionError("a wrong key")
    except errors.ClientError as e:
        assert e.code == 401 and e.status == "UNAUTHENTICATED", e
    try:
        list(c.models.generate_content_stream(model="cut", contents="x"))
        raise AssertionError("a stream that its provider cuts")
    except errors.APIError as e:
        assert e.message, e
    ok("errors in Google's shape")


def forms(c: genai.Client) -> None:
    names = {m.name for m in c.models.list()}
    assert "models/gpt" in names and c.models.get(model="gpt").name == "models/gpt", names
    ok("models")

    body = {"contents": [{"parts": [{"text": "Say hello."}]}]}
    for path, headers in (
        ("/v1beta/models/gpt:generateContent", {"x-goog-api-key": KEY}),
        (f"/v1beta/models/gpt:generateContent?key={KEY}", {}),
        ("/v1/projects/p/locations/l/publishers/google/models/gpt:generateContent", {"authorization": f"Bearer {KEY}"}),
        ("/vertex_ai/v1/projects/p/locations/l/publishers/google/models/gpt:generateContent", {"authorization": f"Bearer {KEY}"}),
    ):
        r = httpx.post(URL + path, json=body, headers=headers, timeout=30)
        assert r.status_code == 200 and r.json()["candidates"][0]["content"]["parts"][0]["text"], (path, r.text)
    ok("paths and keys")

    r = httpx.post(URL + "/gemini/v1beta/models/gpt:streamGenerateContent", json=body, headers={"x-goog-api-key": KEY}, timeout=30)
    events = r.json()
    assert r.headers["content-type"].startswith("application/json") and len(events) > 1 and events[-1]["candidates"][0]["finishReason"] == "STOP", r.text
    ok("a stream as an array")

    r = httpx.post(URL + "/gemini/v1beta/models/gpt:doSomething", json=body, headers={"x-goog-api-key": KEY}, timeout=30)
    assert r.status_code == 404 and r.json()["error"]["status"] == "NOT_FOUND" and "generateContent" in r.text, r.text
    ok("a path that does not exist")


def main() -> None:
    c = client("/gemini")
    for model in ("gpt", "claude", "gemini"):
        chat(c, model)
    plain = client("", api_version="v1beta")
    chat(plain, "gpt")
    for model in ("gpt-tools", "claude-tools", "gemini-tools"):
        tools(c, model)
    automatic(c, "gpt-tools")
    counts(c, "gpt")
    embeddings(c, "embed")
    vertex = genai.Client(vertexai=True, api_key=KEY, http_options=types.HttpOptions(base_url=URL + "/vertex_ai"))
    chat(vertex, "gpt")
    embeddings(vertex, "embed")
    failures(c)
    forms(c)


main()
