// Package train chooses records and writes them as training shards that a
// trainer takes as they are.
//
// # From records to shards
//
// [Select] takes records one by one: by source, shape and numbers, in strict
// form, without repetitions and without what a benchmark asks ([Selection]).
// [Choose] does the same, plans a [Mixture] over what was taken, and reads the
// input again to draw it; [Plan] says what is feasible. [Shard] projects each
// record to what the format and the options keep, writes it as a row, reads the
// row back and compares; a finished shard is read back once more from the disk.
// [Verify] compares a folder with its manifest later.
//
// What a format cannot hold is a declared loss and counted ([Loss]); a record
// that a format cannot take is a [Reject] with a code, and one that was not
// chosen is a [Decision]. Nothing is lost in silence. All of it streams, and
// gives the same bytes for any number of workers.
//
// # Rows for LLaMA-Factory
//
// A row is {"id","conversations","system","tools"}. Its data/converter.py
// (read at commit ff6d4d1 of August 2026) drops a row, with no more than a
// warning, unless messages alternate: human or observation at odd places, gpt
// or function_call at even ones, an even number in all. So each turn is
//
//	human (function_call observation)* gpt
//
// A function_call value is the JSON text of one call or of an array of calls,
// whose arguments the trainer serialises again. A string would come out
// encoded twice and train a wrong target, so arguments are always objects.
//
// The calls of one step go into one function_call message, as an array, and
// what they returned into one observation: the only form in which parallel
// calls keep both their grouping and the alternation ([TogetherCalls]). Its
// GLM-4 tool format refuses arrays. The paper's own rows hold one call a message
// and leave open which calls were issued together ([EachCall]); every tool
// format takes these.
//
// The trainer looks for marks of thoughts and calls, such as <think>, in the
// value of a function_call and cuts there; what is left is no JSON, and ends
// the training run. Values that hold any have their angle brackets written as
// \u003c: the same JSON, and nothing to find. A text beside a call has no place
// in a row, and is the loss [LostSideText]; the other formats hold it.
//
// # Rows for the others
//
// OpenAI, TRL and Axolotl take {"id","messages","tools"}, where a message of the
// assistant has tool_calls and a message of the tool each result, by an id of
// nine letters and digits that no template objects to. What differs is how
// objects are held:
//
//	openai    arguments as texts                          tools as a list
//	trl       arguments as objects                        tools as a text
//	axolotl   arguments as texts, parameters as texts     tools as a list
//
// ms-swift takes messages of the roles tool_call and tool_response, a message
// for each call, and tools as a text. [Hermes] is {"id","text"}: a conversation
// in ChatML, with <tool_call> and <tool_response> tags. Texts that hold its
// marks are rejects there ([TemplateMarks]).
//
// In [Parquet] tools and arguments are texts whatever the format, since a column
// of structs would give every call the arguments of all tools, as nulls.
package train
