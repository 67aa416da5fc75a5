// Package tokenizer counts and makes tokens as a model does: it reads the
// model's tokenizer.json and yields the ids that Hugging Face's tokenizers
// yield, without Python and without a network.
//
// It knows byte-level BPE, which the Qwen2, Qwen2.5, Qwen3 and Llama-3 families
// use, with the pre-tokenizer patterns in [Patterns]. A text becomes ids in
// these steps:
//
//  1. added tokens are split off, the leftmost and longest first, with their
//     flags (lstrip, rstrip, single_word, normalized);
//  2. what is between them is brought into Unicode's form NFC, if the file says
//     so;
//  3. it is cut into words by a hand-written scanner for the file's pattern:
//     the patterns look ahead, which Go's regexp cannot, and a scanner is
//     faster;
//  4. each word is looked up in the vocabulary or merged pair by pair, the
//     lowest rank first and the leftmost of equals.
//
// A model, normaliser, pattern or flag that is not known is an error: to guess
// would give ids that are nearly right, which nobody notices.
//
// Files are decoded straight into structs of this package. The module
// sugarme/tokenizer could parse them as well, but takes several times the time
// and memory for a file of 11 MB, and drops flags that decide ids.
//
// [Estimate] is for those who have no file; it is no count and must be labelled
// as an estimate wherever it is shown.
package tokenizer
