"""Renders templates with the real Jinja2, for tests of cluster/prompts/template.

Usage: reference.py        answers each line of JSON on stdin with one on stdout
       reference.py DIR    writes what the cases in DIR come to, to stdout

A case has a template, values, and perhaps includes: texts by the names that the template
includes. The answer has the text, or says that there is an error. DIR has files of cases,
which share values, and directories of templates, each of which is rendered with every one
of its directory's values.
"""

import json
import pathlib
import re
import sys
from importlib.metadata import version

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
    except Exception:  # whatever Jinja ends with, the gateway ends with an error too
        return {"error": True}
    # Addresses in memory differ from run to run.
    return {"text": re.sub(r" at 0x[0-9a-f]+", " at 0x", text)}


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def cases(directory):
    for path in sorted(directory.glob("*.json")):
        if path.name in ("expected.json", "refused.json"):
            continue
        file = load(path)
        for name, case in file["cases"].items():
            case.setdefault("values", file["values"])
            yield f"{path.stem}/{name}", case
    for path in sorted(directory.glob("*/*.jinja")):
        template = path.read_bytes().decode("utf-8")
        for name, values in load(path.parent / "values.json").items():
            yield f"{path.parent.name}/{path.stem}/{name}", {"template": template, "values": values}


def main():
    if version("jinja2") != VERSION:
        sys.exit(f"Jinja2 {VERSION} is needed, not {version('jinja2')}; run: make api-tools")
    if len(sys.argv) == 1:
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), flush=True)
        return
    out = {name: answer(case) for name, case in cases(pathlib.Path(sys.argv[1]))}
    json.dump(out, sys.stdout, ensure_ascii=False, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
