// Package match decides whether predicted calls equal gold calls, and scores
// sets of them: SP, FP, SPA and FPA (UniToolCall, sections 3.3, 4.1 and B.2).
package match
