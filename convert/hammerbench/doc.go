// Package hammerbench converts the single-turn side of HammerBench.
//
// A file is a JSON array. In the folders of the repository each type has its
// own file and an element has no id:
//
//	{"messages":[
//	   {"role":"user","content":"Play some bebop"},
//	   {"role":"function call","content":{"name":"Media.Music.play","arguments":{"genre":"bebop"}}}],
//	 "multiple_tools":[{"name":"Media.Music.play","description":"Plays music",
//	   "parameters":{"type":"object","properties":{"genre":{"type":"string","description":"Genre"}},"required":["genre"]}}]}
//
// In the files of the hub, one for all types, it also has an id,
// <type>_<conversation>_<turn>. The type is that of the id, or else of the
// file's name. What the paper counts are the English types ST-Perfect,
// ST-Imperfect and ST-External. The others are rejected:
//
//   - irrelevant_type: the twins with ir_ before their name, whose tool was
//     taken away but whose call still stands there;
//   - multi_turn_slot_filling: all dialogues, where the call after each user
//     message is the state of the slots so far, and no step of its own;
//   - non_english: a query that breaks the language rule, by default cjk.
//     Tools are not looked at: some English ones have a Chinese word.
//
// The profile Paper offers only the tool that is called, Strict the whole list.
// Empty arguments are right here: in ST-Imperfect the user gives no values at
// all. Since every tool lists all of its parameters as required, Strict
// rejects them nevertheless (missing_required).
//
// A query of ST-External has two parts, "EK:<text at hand>\nquery:<request>",
// and is kept whole. There are no observations and no answers. The ID is
// single-turn_0008_ST-External, with the index of the element in its type; the
// type is the category in Meta.
package hammerbench
