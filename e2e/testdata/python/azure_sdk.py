"""The class AzureOpenAI uses deployments of Azure through the gateway."""

import os
import sys
import traceback

import openai

ASK = [{"role": "user", "content": "hello"}]
client = openai.AzureOpenAI(azure_endpoint=os.environ["GATEWAY_URL"], api_key=os.environ["API_KEY"], api_version="2025-04-01-preview", max_retries=0)
plain = openai.OpenAI(base_url=os.environ["GATEWAY_URL"] + "/v1", api_key=os.environ["API_KEY"], max_retries=0)


def whole(model):
    r = client.chat.completions.create(model=model, messages=ASK, max_completion_tokens=20)
    assert r.model == model and r.choices[0].message.content and r.usage.total_tokens, r


def streamed(model):
    text, filters, usage = "", 0, None
    for chunk in client.chat.completions.create(model=model, messages=ASK, stream=True, stream_options={"include_usage": True}):
        filters += bool((chunk.model_extra or {}).get("prompt_filter_results"))
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
    assert text and filters == 1 and usage.total_tokens, (text, filters, usage)


def careless(model):
    """A program that knows nothing of Azure reads the first choice of each chunk."""
    text = "".join(chunk.choices[0].delta.content or "" for chunk in plain.chat.completions.create(model=model, messages=ASK, stream=True))
    assert text, text


def tools(model):
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}
    r = client.chat.completions.create(model=model, messages=ASK, tools=[tool], tool_choice="required")
    call = r.choices[0].message.tool_calls[0]
    assert call.function.name == "weather", r
    after = ASK + [r.choices[0].message.to_dict(), {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
    assert client.chat.completions.create(model=model, messages=after, tools=[tool]).choices[0].message, r


def embeddings(model):
    assert len(client.embeddings.create(model=model, input=["a", "b"]).data) == 2


def transcription(model):
    assert client.audio.transcriptions.create(model=model, file=("a.mp3", b"abc"), response_format="json").text


def responses(model):
    assert plain.responses.create(model=model, input="hello").output_text


failed = False
for check in [whole, streamed, careless, tools, embeddings, transcription, responses]:
    for model in ["v1", "classic"]:
        try:
            check(model)
            print("ok", check.__name__, model)
        except Exception:
            failed = True
            print("failed", check.__name__, model)
            traceback.print_exc(file=sys.stdout)
sys.exit(failed)
