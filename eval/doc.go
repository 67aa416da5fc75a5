// Package eval asks a model about records, keeps what it said in a run folder,
// and scores predictions (UniToolCall, section 4).
//
// Only [Run] touches a model. Scoring is pure: it reads files and needs
// neither a model nor a network.
package eval
