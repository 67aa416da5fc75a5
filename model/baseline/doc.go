// Package baseline plays models that need no server. They say what a score
// means: "first" and "random" are floors, "lexical" is what matching words
// alone achieves, and "gold" replays the gold calls, so it must score 1 and
// shows that the whole chain loses nothing.
//
// They look at the record ([model.Request.Case]) and not at the prompt, but
// answer in the protocol of prompts, as text: <tool_call> blocks, and an
// <answer> in the end. So the reading of replies is exercised too. If a
// request offers tools in native mode, they answer with native calls.
package baseline
