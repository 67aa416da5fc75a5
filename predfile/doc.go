// Package predfile reads what models answered from the files of other tools, so
// that any of them can be scored. It knows nothing about scores.
//
// # Forms
//
// The form of a file is told by its content, from the first element that has
// one, unless [Options] force it:
//
//   - assay: lines {"id","repeat"?,"turns":[{"steps":[{"calls":[…]}]}]}, and the
//     interchange layout, {"conversations":[…],"properties":{"id",…}}, where a
//     call may be null or a text that did not parse. The two may be mixed.
//   - plain: {"id","calls":[…]} or {"id","tool_calls":[…]}. A call has a name
//     and arguments, or the shape of OpenAI, or is a text.
//   - bfcl: result files of the Berkeley Function Calling Leaderboard,
//     {"id","result"}. The result is a text, or a list of objects whose one
//     member is called like the tool and holds the arguments as JSON text; of a
//     multi-turn task it is a list of turns that are lists of such steps. A text
//     that begins with "Error during inference:" is no answer.
//   - batch: output files of the batch interface of OpenAI,
//     {"custom_id","response":{"status_code","body":{…}},"error"}, whose body is
//     a chat completion or has the "output" of the Responses interface.
//   - chat: logs of chat completions, {"id","choices":[…]} or with these in a
//     member "response", "completion" or "body"; or whole conversations,
//     {"id","messages":[…]}. An id that a server made (chatcmpl-…) names no
//     record; custom_id, record_id, sample_id and metadata.id are looked at
//     first.
//   - evalscope: predictions {"index","model_output",…} and reviews
//     {"index","sample_score",…} of EvalScope. The id is that of the metadata
//     that it copies from the data set; without any it is the index. Its BFCL
//     adapters keep calls as the JSON text of BFCL's nested lists.
//   - inspect: JSON logs of Inspect, {"eval":{…},"samples":[…]}, read sample by
//     sample, and single samples, as they lie in an unpacked .eval file or in
//     lines. The messages count; without an answer in them, the output does.
//   - text: {"id","text"}, or output, response, prediction, completion or
//     generated_text instead of text; the calls are found by package toolcall.
//
// A list may also be one JSON array, a table, or an object whose members are
// called like the ids. A BFCL score file, the header of an Inspect log and a
// summary of its samples are known to hold no predictions and left out; see
// [FileNote].
//
// EvalScope and Inspect mark messages that were part of the prompt; what comes
// up to the last marked answer of an assistant is left out, since it is an
// example and no answer. In whole conversations every run of user messages
// begins a turn.
//
// # Repeats
//
// The repeat of a prediction is its member "repeat", counted from 0, or
// "epoch", counted from 1; else the N of an id that is that of a gold record but
// for _runN at its end; else that of
// a file whose name without extensions ends in _runN. These N are counted from
// 1, but from 0 if one of the files that are read together ends in _run0. The
// choices of one completion are repeats. EvalScope writes the same id again for
// another index: that is the next repeat.
//
// # Identity
//
// Ids are joined to those of gold records by [IDs].
//
// # What is not here
//
// Predictions with an unknown id, or twice the same id, are yielded: to list
// them is the business of whoever scores. Nothing of what is read is executed.
package predfile
