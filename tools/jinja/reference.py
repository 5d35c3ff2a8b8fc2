"""Renders templates with the real Jinja2, for tests of cluster/prompts/template.

Usage: reference.py                answers each line of JSON on stdin with one on stdout
       reference.py FILE.json...   writes what the cases of each file come to, to stdout

A case has a template, values, and perhaps includes: texts by the names that the template
includes. The answer has the text, or the error.
"""

import json
import sys

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

VERSION = "3.1.6"


def raise_exception(message):
    raise jinja2.TemplateError(message)


def environment(includes):
    env = ImmutableSandboxedEnvironment(
        undefined=jinja2.ChainableUndefined,
        extensions=["jinja2.ext.loopcontrols"],
        loader=jinja2.DictLoader(includes),
    )
    env.globals["raise_exception"] = raise_exception
    return env


SHARED = environment({})


def answer(case):
    includes = case.get("includes")
    env = environment(includes) if includes else SHARED
    try:
        text = env.from_string(case["template"]).render(case.get("values") or {})
        text.encode("utf-8")
        return {"text": text}
    except RecursionError:
        return {"error": "RecursionError"}
    except Exception as e:  # whatever Jinja ends with, the gateway ends with an error too
        return {"error": type(e).__name__}


def main():
    from importlib.metadata import version

    if version("jinja2") != VERSION:
        sys.exit(f"Jinja2 {VERSION} is needed, not {version('jinja2')}; run: make sdks")
    if len(sys.argv) == 1:
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), flush=True)
        return
    out = {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            for name, case in json.load(f).items():
                out[name] = answer(case)
    json.dump(out, sys.stdout, ensure_ascii=False, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
