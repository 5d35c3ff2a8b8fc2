"""Reads requests and responses of generateContent, requests for embeddings and for Imagen's pictures, and errors, one JSON object a line, and prints what
is wrong with each by the types of Google's SDK: strictly, with no member that the types lack. From what it has read of
a request the SDK must also make the same body. Of a response it prints what it has read."""

import base64
import json
import sys
import warnings

from google.genai import Client, errors, models, types
from pydantic import ValidationError

warnings.simplefilter("error")  # the SDK only warns of an unknown word
client = Client(api_key="unused")._api_client
CONFIGURED = ["systemInstruction", "tools", "toolConfig", "safetySettings", "serviceTier", "labels"]


def plain(value):
    """Returns a value of the SDK's as JSON has it."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(by_alias=True, exclude_none=True))
    return getattr(value, "value", value)


def bytes_of(value):
    """Returns JSON whose bytes are in the common alphabet of base64."""
    if isinstance(value, dict):
        return {n: v.replace("-", "+").replace("_", "/") if n in ("data", "thoughtSignature") else bytes_of(v) for n, v in value.items()}
    return [bytes_of(v) for v in value] if isinstance(value, list) else value


def request(text):
    body = json.loads(text)
    unknown = body.keys() - {"contents", "generationConfig", *CONFIGURED}
    if unknown:
        return [f"there are no members {sorted(unknown)}"], ""
    config = {**body.get("generationConfig", {}), **{name: body[name] for name in CONFIGURED if name in body}}
    made = models._GenerateContentParameters_to_mldev(
        client,
        types._GenerateContentParameters(
            model="gemini",
            contents=[types.Content.model_validate_json(json.dumps(c), strict=True) for c in body["contents"]],
            config=types.GenerateContentConfig.model_validate_json(json.dumps(config), strict=True),
        ),
    )
    made.pop("_url")
    made, want = plain(made), {"generationConfig": {}, **bytes_of(body)}
    return ([] if made == want else [f"the SDK makes {json.dumps(made)} of {json.dumps(want)}"]), ""


def response(text):
    read = models._GenerateContentResponse_from_mldev(json.loads(text))
    value = types.GenerateContentResponse.model_validate_json(json.dumps(read), strict=True)
    return [], json.dumps(plain(value))


def embedding(text):
    """One text alone can be embedded by the SDK in one way; of several each is like the first."""
    body = json.loads(text)
    if body.keys() != {"requests"}:
        return [f"there are other members than requests: {sorted(body)}"], ""
    for one in body["requests"]:
        config = {name: one[name] for name in one.keys() - {"model", "content"}}
        made = models._EmbedContentParametersPrivate_to_mldev(
            client,
            types._EmbedContentParametersPrivate(
                model=one["model"],
                contents=[types.Content.model_validate_json(json.dumps(one["content"]), strict=True)],
                config=types.EmbedContentConfig.model_validate_json(json.dumps(config), strict=True),
            ),
        )
        made = plain(made)["requests"]
        if made != [one]:
            return [f"the SDK makes {json.dumps(made)} of {json.dumps(one)}"], ""
    return [], ""


# The parameters of Imagen, by the names of the SDK.
IMAGEN = {
    "sampleCount": "numberOfImages", "sampleImageSize": "imageSize", "aspectRatio": "aspectRatio", "negativePrompt": "negativePrompt", "seed": "seed",
    "personGeneration": "personGeneration", "addWatermark": "addWatermark", "includeRaiReason": "includeRaiReason",
}


def imagen(text):
    """The SDK knows Imagen at Vertex AI alone; requests to the Gemini API are the same."""
    body = json.loads(text)
    config = {}
    for name, value in body["parameters"].items():
        if name == "outputOptions":
            config |= {"outputMimeType": value["mimeType"], "outputCompressionQuality": value.get("compressionQuality")}
        else:
            config[IMAGEN[name]] = value
    made = models._GenerateImagesParameters_to_vertex(
        client,
        types._GenerateImagesParameters(
            model="imagen", prompt=body["instances"][0]["prompt"], config=types.GenerateImagesConfig.model_validate_json(json.dumps(config), strict=True)
        ),
    )
    made.pop("_url")
    made = plain(made)
    return ([] if made == body else [f"the SDK makes {json.dumps(made)} of {json.dumps(body)}"]), ""


def count(text):
    """The request that is counted has the model, which is in the path of others. The SDK counts contents alone."""
    body = json.loads(text)
    of = body["generateContentRequest"]
    if body.keys() != {"generateContentRequest"} or not of["model"].startswith("models/"):
        return ["it is not one generateContentRequest with a model"], ""
    return request(json.dumps({name: value for name, value in of.items() if name != "model"}))


def error(text):
    body = json.loads(text)
    e = errors.APIError(body["error"]["code"], body)
    return ([] if e.status == body["error"]["status"] and e.message else ["no status, or no message"]), ""


KINDS = {"request": request, "embedding": embedding, "imagen": imagen, "count": count, "response": response, "error": error}
for line in sys.stdin:
    case = json.loads(line)
    printed = ""
    try:
        problems, printed = KINDS[case["kind"]](case["value"])
    except ValidationError as e:
        problems = [f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in e.errors()[:3]]
    except (AttributeError, KeyError, TypeError, ValueError, Warning) as e:
        problems = [f"{type(e).__name__}: {e}"]
    print(json.dumps({"name": case["name"], "problems": problems, "printed": printed}))
