// Package account adds up what became of every raw element: it reads the
// ledgers and summaries that conversions and filters write, and prints them in
// the layout of the paper's tables of public data (UniToolCall, Tables 4 and
// 5), with the paper's numbers beside ours.
//
// It counts lines that others wrote, and neither converts nor filters itself.
package account
