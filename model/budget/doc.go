// Package budget keeps a run within a number of requests and of tokens. What
// would go over is not sent, and the run ends as after an interrupt: what is
// finished is kept, and it can be resumed.
package budget
