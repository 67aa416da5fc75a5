#!/usr/bin/env python3
"""Writes what Jinja makes of the templates in cases.json into want.json.

Run it with the python3-jinja2 of Debian 12 (Jinja 3.1.2) in this folder. The
environment is set up as transformers does for chat templates.
"""
import json
import jinja2
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_say"), [], [], body).set_lineno(line)

    def _say(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
env.filters["tojson"] = tojson
env.globals["raise_exception"] = raise_exception

with open("vars.json", encoding="utf-8") as f:
    variables = json.load(f)
with open("cases.json", encoding="utf-8") as f:
    cases = json.load(f)
want = []
for source in cases:
    try:
        want.append({"text": env.from_string(source).render(**variables)})
    except Exception as e:  # whatever Python raises, we must fail too
        want.append({"error": type(e).__name__})
with open("want.json", "w", encoding="utf-8") as f:
    json.dump({"oracle": "Jinja " + jinja2.__version__, "want": want}, f, ensure_ascii=False, indent=0)
    f.write("\n")
