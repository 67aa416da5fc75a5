// Package complexfuncbench converts ComplexFuncBench. An element is
//
//	{"id":"Hotels-0","conversations":[
//	   {"role":"user","content":"Find a room in Oslo"},
//	   {"role":"assistant","function_call":[{"name":"Find_City","arguments":{"query":"Oslo"}}]},
//	   {"role":"observation","content":[{"status":true,"data":[{"id":"n1"}]}]},
//	   {"role":"assistant","content":"There is one."}],
//	 "functions":[{"name":"Find_City","description":"Finds a city",
//	   "parameters":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}}]}
//
// Each pair of a function_call and an observation is a step: its calls are
// parallel, and content has a result for each. The observation of a call is
// the JSON text of a list with its result alone, so that the brackets of the
// published conversion stay.
//
// The profile Paper leaves the answer empty, as the published conversion does,
// and offers the tools that are called, in the order of calls; Strict keeps
// both whole. The domain, which is the ID without its number, is the category
// in Meta.
package complexfuncbench
