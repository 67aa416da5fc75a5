// Package sealtools converts Seal-Tools: its test splits, and its training split
// as another source.
//
// A file holds a split as JSON lines. An element is
//
//	{"id":"test_out_domain-difficult-9","query":"Find lot 7 and sell it for 12.","calling":[
//	  {"api":"getLot","parameters":{"no":"7"},"responses":["API_call_0","API_call_1"]},
//	  {"api":"sellLot","parameters":{"lot":"API_call_1","price":"12"},"responses":["API_call_2"]}]}
//
// and the tools stand in tool.jsonl, a flat map of parameters each:
//
//	{"api_name":"getLot","api_description":"Finds a lot.","field":"Trade/Auctions",
//	 "parameters":{"no":{"type":"str","description":"Number."}},"required":["no"],"responses":{"owner":{"type":"str"}}}
//
// The older form in dataset_in_old_format is an array, [call, query] or
// [[call, call], query], and is converted when its file is named. So is the form
// of dataset_for_finetune, a JSON array whose elements bring their five tools,
// all of which are on offer, and need no tool.jsonl. Tools and calls are Python:
//
//	{"id":"dev-easy-3","conversations":[
//	  {"from":"human","value":"…\napi_list = [{'api_name': 'getLot', …}, …]\ntask_instruction = \"Find lot 7.\"\nOutput:\n"},
//	  {"from":"gpt","value":"[{'api': 'getLot', 'parameters': {'no': '7'}}]"}]}
//
// The placeholders in responses stand for what a call returns, and are its
// observation: one as it is, several as a JSON array. A later call that uses a
// result has the placeholder among its parameters. Such a call is issued after
// the one that it depends on, so it begins a new step; calls that depend on
// nothing of their step are parallel. A placeholder that no earlier call
// returns stays in the arguments, is listed in Meta as unresolved, and is
// rejected by the profile Strict (unresolved_placeholder).
//
// Arguments keep their placeholders as they are. There are no answers.
//
// Difficulty is part of the id, and in Meta. The field of a tool ("A/B") is of
// the publisher's own making and none of the paper's domains and categories
// (UniToolCall, appendix A.2), so it does not become them; it has no place in a
// record, and neither has the schema of responses.
package sealtools
