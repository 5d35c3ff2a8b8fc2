"""Holds openapi.json to what it promises: it is a valid OpenAPI 3.1 document, and
each example in it is valid by the schema beside it. Prints what is not."""

import json
import sys

from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

BASE = "urn:openapi"


def examples(node, path=()):
    """Yields every schema that has examples, with one example at a time."""
    if isinstance(node, dict):
        if "schema" in node and "example" in node:
            yield path, node["schema"], node["example"]
        for value in node.get("examples", []) if "type" in node else []:
            yield path, node, value
        for name, child in node.items():
            if name not in ("example", "examples"):
                yield from examples(child, (*path, name))
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield from examples(child, (*path, str(index)))


def absolute(node):
    """Gives references the document's own address."""
    if isinstance(node, dict):
        return {k: BASE + v if k == "$ref" and isinstance(v, str) else absolute(v) for k, v in node.items()}
    if isinstance(node, list):
        return [absolute(child) for child in node]
    return node


def bare(document):
    """Yields the JSON bodies that have a schema and no example."""
    for path, item in document["paths"].items():
        for verb, operation in item.items():
            bodies = {"request": operation.get("requestBody", {}), "200": operation["responses"].get("200", {})}
            for name, body in bodies.items():
                media = body.get("content", {}).get("application/json")
                if media is not None and "example" not in media and path != "/openapi.json":
                    yield verb, path, name


def main(name):
    with open(name, encoding="utf-8") as file:
        document = json.load(file)
    problems = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in OpenAPIV31SpecValidator(document).iter_errors()]
    registry = Registry().with_resource(BASE, Resource(contents=document, specification=DRAFT202012))
    count = 0
    for path, schema, example in examples(document):
        count += 1
        validator = Draft202012Validator(absolute(schema), registry=registry, format_checker=FormatChecker())
        for error in validator.iter_errors(example):
            problems.append(f"{'/'.join(path)}: {error.json_path}: {error.message}")
    problems += [f"{verb} {path}: no example for {name}" for verb, path, name in bare(document)]
    for problem in problems:
        print(problem)
    print(f"{len(document['paths'])} paths, {count} examples, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
