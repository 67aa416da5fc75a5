// Package chat renders conversations as the text that a model is trained on and
// asked with, and tells which bytes of it are what.
//
// There are two ways to a [Template]. [Builtin] has hand-written renderers of
// families whose layout is fixed (Qwen2.5, Qwen3, Hermes, Llama 3.1, Mistral,
// ChatML), which are fast. [ParseJinja] and [Load] take the model's own
// chat_template, in Jinja, and render it as transformers does; the hand-written
// renderer of Qwen3 gives the same bytes as the template that the model ships.
//
// A [Rendered] has the text and [Span]s: where each field of each message went,
// and which part of an assistant message the model has to write itself
// ([FieldTurn]), which is what a loss should look at. [Prefixes] tells where a
// template rewrites what it has said before, and [Probe] which fields it keeps,
// escapes, repeats or drops.
//
// Nothing here counts tokens; package tokenizer does.
package chat
