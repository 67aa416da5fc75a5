// Package openaichat converts conversations in the form of OpenAI's chat API,
// as fine-tuning files and batches have them. An element is
//
//	{"messages":[
//	   {"role":"user","content":"What is 2 + 3?"},
//	   {"role":"assistant","content":null,"tool_calls":[
//	      {"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\":2,\"b\":3}"}}]},
//	   {"role":"tool","tool_call_id":"c1","content":"5"},
//	   {"role":"assistant","content":"It is 5."}],
//	 "tools":[{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}}]}
//
// Also read are: a line of a batch, {"custom_id":"x","body":{…}}, and of
// preference tuning, {"input":{…},"preferred_output":[…]}, whose preferred
// messages are the end of the conversation; functions instead of tools, and
// function_call and the role function instead of tool_calls and the role tool;
// arguments as a text or an object; content as a text, null or typed parts, of
// which the texts count; the roles system and developer; reasoning_content; and
// tools and messages that are a text with a list in it.
//
// The calls of one message are one step, and so are those of messages without a
// result between them. A result belongs to the call with its tool_call_id, else
// to the first call of its name without one, else to the first without one. A
// text beside a call is side text in Meta. An answer that is a refusal is an
// answer.
//
// The ID is custom_id, or else id.
package openaichat
