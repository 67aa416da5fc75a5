// Package sharegpt converts conversations in the ShareGPT layout: the paper's
// own release, what other tools write in LLaMA-Factory's style, and this
// program's interchange form. An element is
//
//	{"conversations":[
//	   {"from":"human","value":"What is 2 + 3?"},
//	   {"from":"function_call","value":"{\"name\":\"add\",\"arguments\":{\"a\":2,\"b\":3}}"},
//	   {"from":"observation","value":"5"},
//	   {"from":"gpt","value":"It is 5."}],
//	 "system":"…",
//	 "tools":"[{\"name\":\"add\",\"description\":\"Adds\",\"inputSchema\":{\"properties\":{\"a\":{\"type\":\"int\"}}}}]",
//	 "properties":{"id":"x-1","hop":"single-hop","turn_1_steps":[1]}}
//
// It takes more than this program's reader of interchange form does: tools as a
// text or a list, in any form that NormalizeTool reads; the value of a
// function_call as an object, a list of parallel calls, or the text of either,
// with arguments as an object or as the text of one; several gpt messages one
// after the other, of which the last is the answer and the others are side text
// in Meta; reasoning in <think>, which goes to Meta too; roles and keys by the
// names that other corpora give them; messages or conversation instead of
// conversations; and members that are not known, which do not matter. A gpt
// message that is only the placeholder <answer></answer> of the paper's training
// step is an empty answer.
//
// Labels of shape are not used, since they are computed from the calls, except
// turn_N_steps, the number of calls of each step. Without it calls with an
// observation between them are serial, since the layout does not tell, and
// calls without one are parallel. One that does not fit its turn is not used
// either, and is counted in Meta.
//
// The ID is properties.id, or else id. Where properties.source tells where a
// record first came from, Meta keeps it as source.
package sharegpt
