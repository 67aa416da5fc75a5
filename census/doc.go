// Package census counts records: shapes, calls, tools, lengths, in all and by
// source (the analysis behind UniToolCall, Table 5 and Figure 8). It streams,
// and its memory does not grow with the number of records.
//
// What is counted, and how it compares with the paper:
//
//   - Calls per record, and messages per record: every query, call,
//     observation and answer is a message, so a record has two a turn and two
//     a call, as the caption of Figure 8 has it.
//   - Tokens per record: the paper names no tokenizer. Here they are an
//     estimate, bytes of queries, calls, observations and answers over 3.5;
//     neither tools nor system text count. Characters are counted exactly.
//   - Turn classes count records, hop classes count turns, strategies count
//     multi-hop turns, all by [qaoa.ShapeOf].
//   - Domains and categories count tools on offer that name one: a tool that
//     ten records offer counts ten times.
//
// The serial:parallel ratio is the number of multi-hop turns of either
// strategy, as 1:x. The paper quotes 1:5.69 for its public and 1:1.91 for its
// synthetic records (section 4.3). Those count trajectories, with a detector
// that was not released as it was used; ours counts turns and tests dependence
// by value. So the two are not shown side by side: they answer the same
// question with different definitions.
package census
