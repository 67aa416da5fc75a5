#!/usr/bin/env python3
"""Writes what Jinja makes of conversations.json with the template that Qwen3
ships into qwen3.json.

    /usr/bin/python3 oracle.py TOKENIZER_CONFIG.JSON

Run it with the python3-jinja2 of Debian 12 (Jinja 3.1.2) in this folder, on the
tokenizer_config.json that bench/tokens/get.sh fetches. The environment is set up
as transformers does for chat templates.
"""
import json
import sys
import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
env.filters["tojson"] = tojson
with open(sys.argv[1], encoding="utf-8") as f:
    template = env.from_string(json.load(f)["chat_template"])
with open("conversations.json", encoding="utf-8") as f:
    conversations = json.load(f)
want = {}
for name, variables in conversations.items():
    want[name] = {
        "text": template.render(**variables),
        "prompt": template.render(**variables, add_generation_prompt=True),
        "no_thinking": template.render(**variables, add_generation_prompt=True, enable_thinking=False),
    }
with open("qwen3.json", "w", encoding="utf-8") as f:
    json.dump({"oracle": "Jinja " + jinja2.__version__, "want": want}, f, ensure_ascii=False, indent=1)
    f.write("\n")
