// Package apibank converts API-Bank, level 3: its test data, and its training
// data as another source.
//
// test-data/level-3.json is a JSON array. An element is
//
//	{"requirement":"Weather in Oslo?","response":"It is 3 degrees.","apis":[
//	  {"api_name":"ToolSearcher","input":{"keywords":"weather"},"output":{"output":{"name":"GetWeather",
//	    "description":"Weather of a city.","input_parameters":{"city":{"type":"str","description":"City."}}},"exception":null}},
//	  {"api_name":"GetWeather","input":{"city":"Oslo"},"output":{"output":{"temperature":3},"exception":null}}]}
//
// The tools of a record are what the searches found, with all parameters
// required. The searches themselves are dropped; every other call is a step,
// and what it returned its observation: a string as it is, anything else as
// JSON. Profile Paper writes every argument as the text that the publisher's
// own prompts have ("10", "['Mary', 'Peter']") and offers the tools that are
// called; Strict keeps the JSON values and offers all tools that were found.
//
// Two other files of level 3 are converted when they are named.
// level-3-batch-inf-response.json has the same dialogues as text, in which
// every argument is text in both profiles:
//
//	{"input":"…\nUser: Weather in Oslo?\nAPI-Request: [GetWeather(city='Oslo')]->{'output': {'temperature': 3}, 'exception': None}\nGenerate AI Response: \n",
//	 "output":"It is 3 degrees.","sample_id":0,"api_id":1}
//
// and level-3-batch-inf.json has one element per request, whose record has
// that one call; the requests before it are in Meta as history. Requests for a
// search of tools are rejected there (irrelevant_type). Some requests quote
// lists so that they are no Python; see [parseRequest].
//
// Levels 1 and 2 are dialogues in which the user speaks between the calls, and
// are rejected (needs_user_turns). The files of level-2-toolsearcher have
// level-3 in their names and are of level 2: naming one is an error.
package apibank
