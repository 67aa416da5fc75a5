"""Checks rows of training data by the rules that each trainer publishes.

usage: check.py FORMAT=FILE.jsonl...

Standard library only, and no code in common with the exporter. For each file one
JSON object is printed: what was counted (rows, turns, calls, tools), and the
first rule that a row breaks, with its place, as "fault". The program ends with 1
if there was any.
"""
import json
import re
import sys

counts = {}


class Broken(Exception):
    pass


def want(ok, rule):
    if not ok:
        raise Broken(rule)


def strict(text):
    """JSON as the trainers read it; NaN and Infinity are no JSON."""
    def no(name):
        raise Broken("a constant that is no JSON: " + name)
    return json.loads(text, parse_constant=no)


def check_call(call):
    want(isinstance(call, dict) and isinstance(call.get("name"), str) and call["name"], "a call has a name")
    want(isinstance(call.get("arguments"), dict), "arguments are an object, not %s" % type(call.get("arguments")).__name__)
    # A trainer writes them again: what it trains must read as the same.
    want(json.loads(json.dumps(call["arguments"], ensure_ascii=False)) == call["arguments"], "arguments survive json.dumps")
    counts["calls"] += 1


def check_function(tool):
    want(tool.get("type") == "function" and isinstance(tool.get("function"), dict), "a tool is a function")
    check_tool(tool["function"])


def check_tool(tool):
    want(isinstance(tool.get("name"), str) and isinstance(tool.get("description"), str), "a tool has a name and a description")
    params = tool.get("parameters")
    want(isinstance(params, dict) and isinstance(params.get("properties"), dict), "parameters are a schema with properties")
    counts["tools"] += 1


def check_answer(text):
    want(isinstance(text, str), "an answer is a text")
    counts["turns"] += 1


def llamafactory(row):
    messages = row["conversations"]
    want(messages and len(messages) % 2 == 0, "an even number of messages")
    for i, m in enumerate(messages):
        allowed = ("human", "observation") if i % 2 == 0 else ("gpt", "function_call")
        want(m["from"] in allowed, "message %d is from one of %s" % (i, allowed))
        want(isinstance(m["value"], str), "values are texts")
        if m["from"] == "human":
            counts["turns"] += 1
        if m["from"] == "observation":
            want(messages[i - 1]["from"] == "function_call", "an observation follows a call")
        if m["from"] == "function_call":
            want(not re.search(r"<think>|<tool_call>", m["value"]), "no mark that the trainer cuts at")
            value = strict(m["value"])
            for call in value if isinstance(value, list) else [value]:
                check_call(call)
    want(isinstance(row["system"], str), "a system text")
    tools = strict(row["tools"])
    want(isinstance(tools, list), "tools are the text of a list")
    for tool in tools:
        check_tool(tool)


def chat(row, text_arguments, text_parameters, text_tools):
    messages = row["messages"]
    if messages and messages[0]["role"] == "system":
        messages = messages[1:]
    want(messages and messages[0]["role"] == "user", "the user begins")
    waiting, seen, before = [], set(), None
    for m in messages:
        role = m["role"]
        if role == "tool":
            want(waiting and m["tool_call_id"] == waiting.pop(0), "results follow their calls, by id and in order")
            want(isinstance(m["content"], str), "results are texts")
        else:
            want(not waiting, "every call has its result before somebody else speaks")
        if role == "user":
            want(before in (None, "assistant") and isinstance(m["content"], str), "the user follows an answer")
            counts["turns"] += 1
        elif role == "assistant":
            want(before in ("user", "tool"), "the assistant follows the user or a tool")
            for call in m.get("tool_calls") or []:
                want(re.fullmatch(r"[A-Za-z0-9]{9}", call["id"]) and call["id"] not in seen, "ids are unique and nine letters or digits")
                want(call["type"] == "function", "calls are of functions")
                seen.add(call["id"])
                waiting.append(call["id"])
                arguments = call["function"]["arguments"]
                want(isinstance(arguments, str if text_arguments else dict), "arguments are %s" % ("texts" if text_arguments else "objects"))
                check_call({"name": call["function"]["name"], "arguments": strict(arguments) if text_arguments else arguments})
            want(m.get("tool_calls") or isinstance(m["content"], str), "an assistant says something or calls")
        else:
            want(role == "tool", "roles are user, assistant and tool")
        before = role
    tools = row.get("tools", [] if text_arguments else None)
    want(isinstance(tools, str) == text_tools, "tools are %s" % ("a text" if text_tools else "a list"))
    tools = strict(tools) if text_tools else tools
    for tool in tools:
        if text_parameters:
            want(isinstance(tool["function"]["parameters"], str), "parameters are texts")
            tool = {"type": tool["type"], "function": dict(tool["function"], parameters=strict(tool["function"]["parameters"]))}
        check_function(tool)


def openai(row):
    want("tools" not in row or row["tools"], "no empty list of tools")
    chat(row, True, False, False)


def trl(row):
    chat(row, False, False, True)


def axolotl(row):
    chat(row, True, True, False)


def swift(row):
    messages = row["messages"]
    if messages and messages[0]["role"] == "system":
        messages = messages[1:]
    want(messages and messages[0]["role"] == "user", "the user begins")
    calls = results = 0
    for i, m in enumerate(messages):
        role = m["role"]
        want(isinstance(m["content"], str), "contents are texts")
        if role == "tool_call":
            if messages[i - 1]["role"] != "tool_call":
                calls = results = 0
            calls += 1
            check_call(strict(m["content"]))
        elif role == "tool_response":
            results += 1
            want(results <= calls, "no result without a call")
        else:
            want(calls == results, "as many results as calls")
            calls = results = 0
            want(role in ("user", "assistant"), "roles are those of ms-swift")
            if role == "user":
                counts["turns"] += 1
    for tool in strict(row["tools"]):
        check_function(tool)


def hermes(row):
    messages = re.findall(r"<\|im_start\|>(\w+)\n(.*?)<\|im_end\|>\n", row["text"], re.S)
    want("".join("<|im_start|>%s\n%s<|im_end|>\n" % m for m in messages) == row["text"], "the text is messages and nothing else")
    waiting = 0
    for i, (role, text) in enumerate(messages):
        if role == "system":
            want(i == 0, "the system message comes first")
            block = re.search(r".*^<tools>\n(.*?)^</tools>$", text, re.S | re.M)
            for line in block.group(1).splitlines() if block else []:
                check_function(strict(line))
        elif role == "tool":
            want(text.startswith("<tool_response>\n") and text.endswith("\n</tool_response>"), "results are in tags")
            want(text.count("</tool_response>") >= waiting > 0, "a result for each call")
            waiting = 0
        else:
            want(waiting == 0, "results before anything else")
            want(role in ("user", "assistant"), "roles are those of ChatML")
            counts["turns"] += role == "user"
            if role == "assistant":
                for call in re.findall(r"<tool_call>\n(.*?)\n</tool_call>", text, re.S):
                    check_call(strict(call))
                    waiting += 1


FORMATS = {"llamafactory": llamafactory, "openai": openai, "trl": trl, "axolotl": axolotl, "ms-swift": swift, "hermes": hermes}


def check_file(check, name):
    with open(name, encoding="utf-8", newline="\n") as rows:
        for number, line in enumerate(rows, 1):
            try:
                want(line.endswith("\n"), "a line ends with a line break")
                row = strict(line)
                want(isinstance(row["id"], str) and row["id"], "a row has an id")
                check(row)
            except (Broken, KeyError, IndexError, TypeError, ValueError) as fault:
                return "line %d: %s: %s" % (number, type(fault).__name__, fault)
            counts["rows"] += 1
    return ""


def main():
    status = 0
    for item in sys.argv[1:]:
        name, _, path = item.partition("=")
        counts.update(rows=0, turns=0, calls=0, tools=0)
        fault = check_file(FORMATS[name], path)
        print(json.dumps(dict(counts, fault=fault)))
        status = status or int(bool(fault))
    sys.exit(status)


main()
