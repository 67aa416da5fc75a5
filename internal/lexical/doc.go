// Package lexical finds similar texts without a model: sparse vectors of words
// and character n-grams with BM25 weights, compared by cosine, searched
// exactly through an inverted index.
//
// It is made for tool names and descriptions. "getUserEmail", "get_user_email"
// and "Gets the e-mails of a user" share most of their words; the n-grams
// catch what stemming and splitting miss (misspellings, compounds, languages
// other than English).
//
// Everything is deterministic. Weights are whole numbers, so a sum does not
// depend on its order and a tie is a tie on every machine.
package lexical
