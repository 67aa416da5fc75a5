// Package hermes converts the training corpus hermes_reasoning_tool_use, which
// the paper calls Tool-Calling and whose file in its release is named
// Tool-Calling-Dataset-UIGEN-X.
//
// A file is one Parquet shard or a dump as JSON. An element is
//
//	{"conversations": [
//	   {"from": "system", "value": "Think first. <tools>[{\"name\": \"price\", …}]</tools>"},
//	   {"from": "human", "value": "What does lot 1 cost?"},
//	   {"from": "gpt", "value": "<think>Look it up.</think>\n<tool_call>\n{\"name\": \"price\", \"arguments\": {\"lot\": 1}}\n</tool_call>"},
//	   {"from": "tool", "value": "<tool_response>\n{\"name\": \"price\", \"content\": 12}\n</tool_response>"},
//	   {"from": "gpt", "value": "<think>Good.</think>It costs 12."}],
//	 "tools": "[{\"type\": \"function\", \"function\": {\"name\": \"price\", …}}]",
//	 "scenario_category": "single", "task": "…", "category": "…", "source": "…"}
//
// conversations may be called messages and be a text, and tools may be a list.
// Where tools are empty, they are taken from between the tags <tools> of the
// system text: one list, or one object a line.
//
// Reasoning is cut before calls are looked for, so a call that is only mentioned
// there is none; it is kept in Meta. Every block is a call, blocks of one
// message are parallel, and payloads may be Python literals. Tags without a
// partner are mended where it is clear how, and counted in Meta. Responses
// belong to calls by name, in order; an observation is the text of a response.
//
// The scenario is Meta's category, in one spelling (single, multistep,
// multiturn). The scenario relevance is rejected (irrelevant_type), and so is
// any other conversation without a call (no_call).
package hermes
