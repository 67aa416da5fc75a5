// Package contam finds training records that say what a benchmark asks
// (contamination), at four levels:
//
//   - [Query]: the words of the queries of a conversation are those of an item,
//     or one of its queries of at least 5 words is one of an item;
//   - [NGram]: 13 words in a row of a query are in a query of an item. A query
//     of an item with 8 to 12 words counts as a whole; shorter ones are too
//     common to tell anything;
//   - [Tool]: a tool on offer has the text of one that an item offers: its name,
//     description and parameters;
//   - [Calls]: the set of calls is that of an item, if there is an argument at
//     all.
//
// Case, blanks, punctuation, the order of members and the writing of numbers
// make no difference; see package dedup. The paper removes training records by
// their tools only (UniToolCall, appendix A.3).
package contam
