"""Reduces the discovery document of Vertex AI (googleapiclient/discovery_cache/documents/aiplatform.v1.json of google-api-python-client, Apache-2.0) to the
methods that the driver calls, and to what their requests have. It reads the document from standard input, and prints the reduced one."""

import json
import sys

METHODS = {
    "generateContent", "streamGenerateContent", "countTokens", "predict", "batchEmbedContents", "embedContent", "rawPredict", "streamRawPredict", "completions",
}
document = json.load(sys.stdin)
methods, schemas = [], {}


def walk(resource):
    for name, method in resource.get("methods", {}).items():
        if name in METHODS and "publishers" in method["flatPath"] or name in METHODS and "endpoints" in method["flatPath"]:
            methods.append({"path": method["flatPath"], "request": method["request"]["$ref"]})
            keep(method["request"]["$ref"])
    for inner in resource.get("resources", {}).values():
        walk(inner)


def keep(name):
    if name not in schemas:
        schemas[name] = {}
        schemas[name] = stripped(document["schemas"][name])


def stripped(schema):
    """Leaves out what says nothing of a value's form."""
    out = {}
    for key, value in schema.items():
        if key == "$ref":
            keep(value)
        if key in ("type", "$ref", "enum", "format", "readOnly"):
            out[key] = value
        elif key in ("items", "additionalProperties"):
            out[key] = stripped(value)
        elif key == "properties":
            out[key] = {name: stripped(one) for name, one in value.items()}
    return out


walk(document)
print(json.dumps({"revision": document["revision"], "methods": sorted(methods, key=lambda m: m["path"]), "schemas": dict(sorted(schemas.items()))}, indent=1))
