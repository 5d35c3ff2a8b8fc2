"""Judges by AWS's SDK what Amazon Bedrock is sent and what it sends.

Reads cases, a line of JSON each, and writes a line with the problems of each. A case is of a kind:

  OPERATION request    the body is valid for the operation's input
  OPERATION response   the body is valid for its output, and the SDK reads it
  OPERATION stream     the base64 of frames is a stream that the SDK reads; printed has its events
  signature            value is a request with its headers; the SDK computes the same signature
"""

import base64
import datetime
import json
import re
import sys
from urllib.parse import quote

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import botocore.eventstream
import botocore.loaders
import botocore.model
import botocore.parsers
import botocore.validate

LOADER = botocore.loaders.Loader()
MODELS = {}


def service(name):
    if name not in MODELS:
        MODELS[name] = botocore.model.ServiceModel(LOADER.load_service_model(name, "service-2"))
    return MODELS[name]


def operation(name):
    return service("bedrock-agent-runtime" if name == "Rerank" else "bedrock-runtime").operation_model(name)


def native(value, shape, path, problems):
    """Returns JSON as the SDK's callers write it, and adds what the SDK's own validator does not check."""
    where = path or "body"
    kind = shape.type_name
    if kind == "blob":
        try:
            return base64.b64decode(value, validate=True)
        except Exception:  # noqa: BLE001 - any value that is not base64
            problems.append(f"{where} is not base64")
            return b"x"
    if kind == "structure" and not shape.is_document_type:
        if not isinstance(value, dict):
            return value
        if getattr(shape, "is_tagged_union", False) and len(value) != 1:
            problems.append(f"{where} has {len(value)} members of a union")
        return {k: native(v, shape.members[k], f"{path}.{k}", problems) if k in shape.members else v for k, v in value.items()}
    if kind == "list" and isinstance(value, list):
        if "max" in shape.metadata and len(value) > shape.metadata["max"]:
            problems.append(f"{where} has more than {shape.metadata['max']} items")
        return [native(v, shape.member, f"{path}[{i}]", problems) for i, v in enumerate(value)]
    if kind == "map" and isinstance(value, dict):
        return {k: native(v, shape.value, f"{path}.{k}", problems) for k, v in value.items()}
    if kind == "string" and isinstance(value, str):
        if shape.enum and value not in shape.enum:
            problems.append(f"{where} is {value!r}, not one of {shape.enum}")
        if "pattern" in shape.metadata and not re.fullmatch(shape.metadata["pattern"], value):
            problems.append(f"{where} does not match {shape.metadata['pattern']}")
        if "max" in shape.metadata and len(value) > shape.metadata["max"]:
            problems.append(f"{where} is longer than {shape.metadata['max']}")
    if kind in ("integer", "long", "float", "double") and isinstance(value, (int, float)) and value > shape.metadata.get("max", value):
        problems.append(f"{where} is above {shape.metadata['max']}")
    if kind == "float" and isinstance(value, int):
        return float(value)
    return value


def judge_body(text, shape, extra=()):
    problems = []
    body = json.loads(text)
    located = {k for k, v in shape.members.items() if v.serialization.get("location")}
    for k in extra:
        body.pop(k, None)
    if not isinstance(body, dict):
        return ["the body is no object"]
    problems += [f"{k} does not stand in the body" for k in located & set(body)]
    params = native(body, shape, "", problems)
    params.update({k: "x" for k in located if k in shape.required_members})
    report = botocore.validate.ParamValidator().validate(params, shape)
    if report.has_errors():
        problems.append(report.generate_report())
    return problems


def judge_stream(name, frames):
    problems, printed = [], []
    shape = operation(name).get_event_stream_output()
    parser = botocore.parsers.EventStreamJSONParser()
    buffer = botocore.eventstream.EventStreamBuffer()
    buffer.add_data(base64.b64decode(frames))
    for message in buffer:
        raw = message.to_response_dict()
        kind = raw["headers"].get(":event-type") or raw["headers"].get(":exception-type")
        if kind not in shape.members:
            problems.append(f"{kind} is not an event of {name}")
            continue
        problems += judge_body(raw["body"], shape.members[kind], extra=("p",))
        parsed = parser.parse(raw, shape)
        printed.append([kind, json.loads(json.dumps(parsed, default=lambda b: base64.b64encode(b).decode()))])
    if buffer._data:  # noqa: SLF001 - the SDK has no other way to say it
        problems.append("the stream ends within a frame")
    return problems, printed


def judge_signature(text):
    """value has method, host, path as it was sent, query, headers, body, region and the credential."""
    r = json.loads(text)
    headers = {k.lower(): v for k, v in r["headers"].items()}
    given = headers.get("authorization", "")
    found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([a-z0-9-]+)/([a-z-]+)/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})", given)
    if not found:
        return [f"authorization is {given!r}"]
    key, day, region, service_name, names, signature = found.groups()
    names = names.split(";")
    problems = []
    if service_name != r.get("service", "bedrock"):
        problems.append(f"it is signed for the service {service_name}")
    if key != r["key"] or region != r["region"]:
        problems.append(f"it is signed for {key} in {region}, not {r['key']} in {r['region']}")
    for name in ("host", "x-amz-date", "content-type"):
        if name not in names:
            problems.append(f"{name} is not signed")
    for name in headers:
        if name.startswith("x-amz-") and name not in names:
            problems.append(f"{name} is sent and not signed")
    if set(names) & {"content-length", "connection", "user-agent", "x-request-id", "x-forwarded-proto", "accept-encoding"}:
        problems.append(f"a proxy may change what is signed: {names}")
    if r["token"] != headers.get("x-amz-security-token", ""):
        problems.append(f"the session token is {headers.get('x-amz-security-token')!r}")
    if not headers.get("x-amz-date", "").startswith(day):
        problems.append(f"the date is {headers.get('x-amz-date')!r}")
    late = abs((datetime.datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ") - datetime.datetime.strptime(r["at"], "%Y%m%dT%H%M%SZ")).total_seconds())
    if late > 300:
        problems.append(f"it was signed {late} s from its arrival")
    request = botocore.awsrequest.AWSRequest(
        method=r["method"], url="https://" + r["host"] + r["path"] + ("?" + r["query"] if r["query"] else ""),
        headers={n: headers[n] for n in names if n in headers}, data=base64.b64decode(r["body"]),
    )
    request.context["timestamp"] = headers["x-amz-date"]
    auth = botocore.auth.SigV4Auth(botocore.credentials.Credentials(r["key"], r["secret"], r["token"] or None), service_name, region)
    canonical = auth.canonical_request(request)
    if auth.signature(auth.string_to_sign(request, canonical), request) != signature:
        problems.append("the signature is not that of the SDK for " + canonical)
    if r.get("model") and "/model/" in r["path"] and "/model/" + quote(r["model"], safe="-._~") + "/" not in r["path"]:
        problems.append(f"the model {r['model']} is not one segment of {r['path']}, escaped once")
    return problems


for line in sys.stdin:
    case = json.loads(line)
    kind, value, printed = case["kind"], case["value"], None
    try:
        name, _, what = kind.partition(" ")
        if kind == "signature":
            problems = judge_signature(value)
        elif what == "request":
            problems = judge_body(value, operation(name).input_shape)
        elif what == "response":
            problems = judge_body(value, operation(name).output_shape)
            answer = {"status_code": 200, "headers": {}, "body": value.encode()}
            printed = botocore.parsers.create_parser("rest-json").parse(answer, operation(name).output_shape)
        elif what == "stream":
            problems, printed = judge_stream(name, value)
        else:
            problems = [f"no kind {kind}"]
    except Exception as e:  # noqa: BLE001 - whatever the SDK rejects
        problems = [repr(e)]
    print(json.dumps({"name": case["name"], "problems": problems, "printed": printed}, default=lambda b: base64.b64encode(b).decode() if isinstance(b, bytes) else str(b)), flush=True)
