// Package toucan converts the training corpus Toucan-1.5M.
//
// A file is a Parquet shard of one of the teachers (Kimi-K2, OSS, Qwen3), or a
// dump of one as JSON lines. An element is
//
//	{"uuid": "0a-1", "subset_name": "single-turn-original",
//	 "messages": "[{\"role\": \"user\", \"content\": \"What does lot 1 cost?\"},
//	   {\"role\": \"assistant\", \"content\": \"\", \"function_call\": {\"name\": \"hall-price\", \"arguments\": \"{\\\"lot\\\": 1}\"}},
//	   {\"role\": \"function\", \"name\": \"hall-price\", \"content\": \"12\"},
//	   {\"role\": \"assistant\", \"content\": \"It costs 12.\"}]",
//	 "available_tools": "[{\"type\": \"function\", \"function\": {\"name\": \"hall-price\", \"description\": \"Price.\", \"parameters\": {}}}]"}
//
// where messages and tools are JSON in strings, or in some dumps lists. Tools
// may be called tools, as in the configuration SFT, whose messages have the
// roles tool_call, with a Python dict in the content, and tool_response. No
// other column is read.
//
// Calls that follow each other without a result are parallel; results belong to
// calls by name, in order. A text of the assistant before a call is a side text
// in Meta, and so is reasoning: the member reasoning_content, and what stands
// in think tags. Messages of the assistant with neither text nor call are
// dropped, and so is the system message, which only declares the tools again.
// The subset is in Meta.
//
// The subset irrelevant is rejected (irrelevant_type), and so is any other
// conversation without a call (no_call). Arguments that cannot be read are
// bad_args_json. A call of a tool that is not on offer is kept by the profile
// Paper.
package toucan
