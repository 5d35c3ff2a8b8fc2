"""Uses prompts of the gateway with the unchanged OpenAI and Anthropic SDKs; prompts_test.go runs it.

A prompt is named in extra_body, in metadata or in a header. The fake provider repeats what it hears,
and the test looks at what it was sent.
"""

import os
import sys

import anthropic
import openai

client = openai.OpenAI(base_url=os.environ["GATEWAY_URL"] + "/v1", api_key=os.environ["API_KEY"], max_retries=0)
claude = anthropic.Anthropic(base_url=os.environ["GATEWAY_URL"], api_key=os.environ["API_KEY"], max_retries=0)
ASK = [{"role": "user", "content": "Where is my parcel?"}]


def variables(model, n):
    return {"prompt_id": "support", "prompt_variables": {"name": f"Ada {model} {n}"}}


def whole(model):
    r = client.chat.completions.with_raw_response.create(model=model, messages=ASK, extra_body=variables(model, 1))
    assert r.headers["x-gateway-prompt"] == "support@2", r.headers
    assert r.parse().choices[0].message.content, r


def streamed(model):
    stream = client.chat.completions.create(model=model, messages=ASK, stream=True, extra_body=variables(model, 2))
    assert "".join(c.choices[0].delta.content or "" for c in stream if c.choices)


def responses(model):
    r = client.responses.create(model=model, input="Where is my parcel?", extra_body=variables(model, 3))
    assert r.output_text, r


def messages(model):
    r = claude.messages.create(model=model, max_tokens=100, system="Be brief.", messages=ASK, extra_body=variables(model, 4))
    assert r.content[0].text, r


def label(model):
    body = variables(model, 5) | {"prompt_label": "production"}
    r = client.chat.completions.with_raw_response.create(model=model, messages=ASK, extra_body=body)
    assert r.headers["x-gateway-prompt"] == "support@1", r.headers


def model_of_prompt(_):
    r = client.chat.completions.create(model="prompt", messages=ASK, extra_body={"prompt_id": "support"})
    assert r.model == "gpt", r


def large(model):
    body = {"prompt_id": "support", "prompt_variables": {"name": f"Ada {model} 6", "filler": "x" * 65536}}
    assert client.chat.completions.create(model=model, messages=ASK, extra_body=body).choices[0].message.content


def unknown(model):
    try:
        client.chat.completions.create(model=model, messages=ASK, extra_body={"prompt_id": "nothing"})
    except openai.NotFoundError as e:
        assert e.code == "prompt_not_found" and e.param == "prompt_id", e
        return
    raise AssertionError("a prompt that does not exist was used")


failed = 0
for check in [whole, streamed, responses, messages, label, model_of_prompt, large, unknown]:
    for model in ["gpt", "claude"]:
        try:
            check(model)
            print("ok", check.__name__, model)
        except Exception as e:
            failed += 1
            print("FAILED", check.__name__, model, repr(e))
sys.exit(failed)
