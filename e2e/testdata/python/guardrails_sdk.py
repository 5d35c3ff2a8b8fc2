"""Uses guardrails of the gateway with the unchanged OpenAI, Anthropic and AWS SDKs; guardrails_test.go runs it.

The fake provider repeats what it hears, and the test looks at what it was sent.
"""

import os
import sys

import anthropic
import boto3
import botocore.config
import botocore.exceptions
import openai

client = openai.OpenAI(base_url=os.environ["GATEWAY_URL"] + "/v1", api_key=os.environ["API_KEY"], max_retries=0)
claude = anthropic.Anthropic(base_url=os.environ["GATEWAY_URL"], api_key=os.environ["API_KEY"], max_retries=0)
SECRET = os.environ["CANARY"]
ASK = [{"role": "user", "content": f"Please write to {SECRET} today and thank them."}]


def whole(model, guardrail):
    r = client.chat.completions.with_raw_response.create(model=model, messages=ASK, extra_body={"guardrail_id": guardrail})
    assert r.headers["x-gateway-applied-guardrails"] == guardrail, r.headers
    return r.parse().choices[0].message.content


def streamed(model, guardrail):
    stream = client.chat.completions.create(model=model, messages=ASK, stream=True, extra_body={"guardrails": [guardrail]})
    chunks = list(stream)
    assert chunks[-1].choices[0].finish_reason == "stop", chunks[-1]
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def responses(model, guardrail):
    r = client.responses.create(model=model, input=ASK[0]["content"], extra_headers={"x-gateway-guardrail-id": guardrail})
    return r.output_text


def responses_streamed(model, guardrail):
    text = ""
    with client.responses.stream(model=model, input=ASK[0]["content"], extra_body={"guardrail_id": guardrail}) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                text += event.delta
            elif event.type == "error":  # the helper does not raise it
                raise openai.APIError(event.message, request=None, body=None)
        assert stream.get_final_response().output_text == text, (stream.get_final_response().output_text, text)
    return text


def messages(model, guardrail):
    r = claude.messages.create(model=model, max_tokens=100, messages=ASK, extra_body={"guardrail_id": guardrail})
    return r.content[0].text


def messages_streamed(model, guardrail):
    with claude.messages.stream(model=model, max_tokens=100, messages=ASK, extra_body={"guardrail_id": guardrail}) as stream:
        text = "".join(stream.text_stream)
        assert stream.get_final_message().content[0].text == text, text
    return text


def aws(guardrail):
    """boto3, which sends no members that it does not know: the guardrail is in a header."""
    b = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=os.environ["GATEWAY_URL"] + "/bedrock", aws_access_key_id="AKIAEXAMPLE",
                     aws_secret_access_key="secret", config=botocore.config.Config(retries={"total_max_attempts": 1}))
    for name, value in (("x-api-key", os.environ["API_KEY"]), ("x-gateway-guardrail-id", guardrail)):
        b.meta.events.register("before-sign.bedrock-runtime", lambda request, name=name, value=value, **_: request.headers.add_header(name, value))
    return b


SAY = [{"role": "user", "content": [{"text": ASK[0]["content"]}]}]


def converse(model, guardrail):
    return aws(guardrail).converse(modelId=model, messages=SAY)["output"]["message"]["content"][0]["text"]


def converse_streamed(model, guardrail):
    events = list(aws(guardrail).converse_stream(modelId=model, messages=SAY)["stream"])
    assert "metadata" in events[-1] and "messageStop" in events[-2] and "contentBlockStop" in events[-3], events
    return "".join(e["contentBlockDelta"]["delta"]["text"] for e in events if "contentBlockDelta" in e)


def check(name, run):
    try:
        run()
        print("ok", name)
    except Exception as e:
        print("FAILED", name, type(e).__name__, e)
        sys.exitcode = 1


def masked(call, model, guardrail):
    text = call(model, guardrail)
    assert "[EMAIL_ADDRESS]" in text and SECRET not in text and "[EMAIL_ADDRESS_" not in text, text


def restored(call, model):
    text = call(model, "reversible")
    assert SECRET in text and "EMAIL_ADDRESS" not in text, text


def blocked(call, model, guardrail):
    try:
        text = call(model, guardrail)
    except openai.APIError as e:
        assert "guardrail" in str(e) and SECRET not in str(e), e
        return
    except (anthropic.APIError, botocore.exceptions.ClientError) as e:
        assert "guardrail" in str(e) and SECRET not in str(e), e
        return
    raise AssertionError(f"the answer was not blocked: {text}")


CALLS = [whole, streamed, responses, responses_streamed, messages, messages_streamed, converse, converse_streamed]
for model in ("gpt", "claude", "steady"):
    for call in CALLS:
        check(f"{model} {call.__name__} before", lambda: masked(call, model, "before"))
        check(f"{model} {call.__name__} after", lambda: masked(call, model, "after"))
        check(f"{model} {call.__name__} reversible", lambda: restored(call, model))
        check(f"{model} {call.__name__} blocked before", lambda: blocked(call, model, "block-before"))
        check(f"{model} {call.__name__} blocked after", lambda: blocked(call, model, "block-after"))
sys.exit(getattr(sys, "exitcode", 0))
