// Package preflight tells before a training run what a trainer will do with
// the rows that it is given: which it drops, which it cuts and where, which
// tokens it trains on, and what it reads otherwise than it was written.
//
// Nothing of a trainer runs here: its rules are written down and applied. They
// come from its sources and its documentation:
//
//   - LLaMA-Factory (src/llamafactory/data: converter.py, formatter.py,
//     processor/supervised.py, processor/processor_utils.py, read in August
//     2026): messages alternate between human or observation and gpt or
//     function_call, else the row is skipped with a warning; tools and calls
//     are JSON texts, and one that is none ends the run; arguments are
//     serialised, so a text comes out encoded twice; each pair of prompt and
//     reply is cut in proportion to what is left of cutoff_len (2048 by
//     default), also before packing. Compressed files are refused.
//   - TRL (as documented, trl/trainer/sft_config.py and
//     docs/source/dataset_formats.md): messages go to the chat template as
//     they are, arguments too; max_length is 1024 by default and keeps the
//     start; all tokens are trained on unless assistant_only_loss is set, which
//     needs generation marks in the template.
//   - ms-swift (as documented, docs/source_en/Instruction): roles tool_call and
//     tool_response beside the usual ones, tools as a JSON text; rows over
//     max_length are deleted; by default that is what the model takes.
//   - Axolotl (as documented, docs/dataset-formats/conversation.qmd and
//     src/axolotl/prompt_strategies/chat_template.py): arguments and parameters
//     that are texts are read as JSON; rows over sequence_len (512 by default)
//     are dropped; the loss is on the turns of the assistant.
//
// All of them load rows as Arrow columns, where an object has the members of
// all objects at its place and a place has one type: see [ArrowNulls] and
// [ArrowType].
//
// The chat template is the one that is named, rendered by package chat. A
// trainer with templates of its own, as LLaMA-Factory and ms-swift have, may
// differ in blanks.
package preflight
