"""boto3 as it is, with the gateway's key in AWS_BEARER_TOKEN_BEDROCK and no other credentials. It sends such a key over TLS only."""

import json
import os

import boto3
import botocore.config
import botocore.exceptions

assert os.environ["GATEWAY_URL"].startswith("https://") and "AWS_ACCESS_KEY_ID" not in os.environ
b = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=os.environ["GATEWAY_URL"] + "/bedrock", config=botocore.config.Config(retries={"total_max_attempts": 1}))
sent = []
b.meta.events.register("before-send.bedrock-runtime", lambda request, **_: sent.append(request.headers["Authorization"]))


def ok(name: str) -> None:
    assert sent and all((text.decode() if isinstance(text, bytes) else text).startswith("Bearer ") for text in sent), "the key was not sent as a bearer token"
    sent.clear()
    print("ok", name, flush=True)


body = json.dumps({"anthropic_version": "bedrock-2023-05-31", "max_tokens": 50, "messages": [{"role": "user", "content": "Say hello."}]})
say = [{"role": "user", "content": [{"text": "Say hello."}]}]
for model in ("claude", "gpt"):
    whole = json.loads(b.invoke_model(modelId=model, body=body)["body"].read())
    assert whole["content"][0]["text"] and whole["model"] == model, whole
    ok(f"{model}: invoke_model")
    events = [json.loads(e["chunk"]["bytes"]) for e in b.invoke_model_with_response_stream(modelId=model, body=body)["body"]]
    assert events[0]["type"] == "message_start" and events[-1]["type"] == "message_stop", events
    ok(f"{model}: invoke_model_with_response_stream")
    r = b.converse(modelId=model, messages=say, inferenceConfig={"maxTokens": 50})
    assert r["output"]["message"]["content"][0]["text"] and r["usage"]["outputTokens"] > 0, r
    ok(f"{model}: converse")
    stream = list(b.converse_stream(modelId=model, messages=say, inferenceConfig={"maxTokens": 50})["stream"])
    assert "messageStart" in stream[0] and "metadata" in stream[-1], stream
    ok(f"{model}: converse_stream")

for call in (lambda: b.invoke_model(modelId="nobody", body=body), lambda: b.converse(modelId="nobody", messages=say)):
    try:
        call()
    except botocore.exceptions.ClientError as e:
        assert "no model of that name" in str(e), e
    else:
        raise AssertionError("a model that does not exist answers")
ok("a model that does not exist")

os.environ["AWS_BEARER_TOKEN_BEDROCK"] = "sk-of-nobody-0123456789"
stranger = boto3.Session().client("bedrock-runtime", region_name="us-east-1", endpoint_url=os.environ["GATEWAY_URL"] + "/bedrock", config=botocore.config.Config(retries={"total_max_attempts": 1}))
try:
    stranger.invoke_model(modelId="claude", body=body)
except botocore.exceptions.ClientError as e:
    assert e.response["ResponseMetadata"]["HTTPStatusCode"] == 401, e
else:
    raise AssertionError("a key that does not exist is accepted")
print("ok a key that does not exist", flush=True)
