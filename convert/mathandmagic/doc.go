// Package mathandmagic converts the training corpus MathAndMagic
// function-calling, also published by StarfleetAI.
//
// A file is one Parquet shard or a dump as JSON. An element is
//
//	{"conversations": [
//	   {"from": "system", "value": "## Configuration\n\nFunctions: enabled\n\n## Available Functions\n\n{\"name\": \"price\", …}\n---\n\nYou are a helpful assistant."},
//	   {"from": "human", "value": "What does lot 1 cost?"},
//	   {"from": "gpt", "value": "<|fn_start|>{\"name\": \"price\", \"arguments\": \"{\\\"lot\\\": 1}\"}<|fn_end|>"},
//	   {"from": "function_response", "value": "{\"price\": 12}"},
//	   {"from": "gpt", "value": "It costs 12."}],
//	 "functions_enabled": true, "function_called": true}
//
// Tools are the JSON objects of the system text, a line each. Arguments are a
// text that holds JSON, or an object in older revisions; the form that the
// corpus was made of, <functioncall> with arguments in single quotes, is read
// too. Text before a call, in its message or in one before it, is a side text in
// Meta. A conversation without a call is no_call.
package mathandmagic
