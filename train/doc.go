// Package train writes records as training shards that a trainer takes as they
// are.
//
// [Shard] streams: a record is projected to what the format and the options
// keep, written as one row, read back and compared; the finished shard is read
// back once more from the disk. What a format cannot hold is a declared loss
// and counted ([Loss]); a record that the format cannot take is a [Reject]
// with a code. Nothing is lost in silence.
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
// \u003c: the same JSON, and nothing to find.
package train
