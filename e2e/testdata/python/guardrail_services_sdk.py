"""Uses guardrails that ask services, with the unchanged OpenAI SDK; guardrailremote_test.go runs it.

The fake provider repeats what it hears. The text has characters of two, three and four bytes, and some that are more than one code point,
before what is found: a place that counts them in another way is a wrong one.
"""

import os
import sys

import openai

client = openai.OpenAI(base_url=os.environ["GATEWAY_URL"] + "/v1", api_key=os.environ["API_KEY"], max_retries=0)
NAME = os.environ["CANARY"]
TEXT = f"👩🏽‍🚀 Zoe\u0308 & José, 日本語。 Please write to {NAME} today, as there is time. Then thank {NAME}, and stop."
MASKED = TEXT.replace(NAME, "[PERSON]")


def ask(guardrail, stream, text=TEXT):
    r = client.chat.completions.create(
        model="gpt", messages=[{"role": "user", "content": text}], stream=stream, extra_body={"guardrail_id": guardrail}
    )
    if not stream:
        return r.choices[0].message.content
    chunks = list(r)
    assert chunks[-1].choices[0].finish_reason == "stop", chunks[-1]
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def masked(guardrail, stream, want=MASKED):
    text = ask(guardrail, stream)
    assert want in text and NAME not in text, text


def passed(guardrail, stream):
    text = ask(guardrail, stream)
    assert TEXT in text, text


def failed(guardrail, stream, code):
    try:
        text = ask(guardrail, stream)
    except openai.APIStatusError as e:
        assert e.code == code and e.status_code == {"guardrail_blocked": 400, "guardrail_unavailable": 503}[code], e
    except openai.APIError as e:  # an event of a stream that has begun
        assert stream and e.code == code, (e, e.code)
    else:
        raise AssertionError(f"it was not stopped: {text}")


def check(name, run):
    try:
        run()
        print("ok", name)
    except Exception as e:
        print("FAILED", name, type(e).__name__, e)
        sys.exitcode = 1


for stream in (False, True):
    how = "streamed" if stream else "whole"
    for guardrail in ("analyzer-before", "analyzer-after", "checker-before", "checker-after"):
        check(f"{guardrail} {how}", lambda: masked(guardrail, stream))
    check(f"analyzer-reversible {how}", lambda: passed("analyzer-reversible", stream))
    check(f"checker-rewrites {how}", lambda: masked("checker-rewrites", stream, "Then thank somebody, and stop."))
    for hook in ("before", "after"):
        check(f"checker-blocks-{hook} {how}", lambda: failed(f"checker-blocks-{hook}", stream, "guardrail_blocked"))
        for engine in ("analyzer", "checker"):
            check(f"{engine}-away-{hook} {how}", lambda: failed(f"{engine}-away-{hook}", stream, "guardrail_unavailable"))
            check(f"{engine}-passes-{hook} {how}", lambda: passed(f"{engine}-passes-{hook}", stream))
sys.exit(getattr(sys, "exitcode", 0))
