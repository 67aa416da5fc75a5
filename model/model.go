package model

import (
	"context"
	"time"

	"assay/qaoa"
)

// A Chatter answers a request. Implementations are safe for concurrent use.
// An error is an [Error] where the back end is to blame.
type Chatter interface {
	Chat(ctx context.Context, req Request) (Reply, error)
}

// A Role is who speaks a message.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// A Message is one message of a conversation.
type Message struct {
	Role    Role
	Content string
	Calls   []qaoa.Call // of an Assistant message, in native mode
	CallID  string      // of a ToolRole message, in native mode
}

// A Request is everything that decides a reply.
type Request struct {
	Messages []Message
	// Tools are offered through the server's own field (native mode). In
	// prompt mode they stand in the system message and Tools is nil.
	Tools    []qaoa.Tool
	Sampling Sampling
	// ToolChoice is what the server is told about Tools: "auto", "required" or
	// "none"; "" leaves it to the server. Servers of OpenAI's protocol only.
	ToolChoice string
	// ParallelCalls is whether one reply may hold several calls, where the
	// server can be told: "on" or "off"; "" leaves it to the server.
	ParallelCalls string

	// Case is the record that is asked about and Turn the 0-based turn, for
	// baselines, which look at the record and not at the text. Clients of
	// servers ignore both.
	Case *Case
	Turn int
	// Slot is which request of the turn this is, 1-based, where the flow says
	// it: a guided flow asks for one gold call after the other, and its
	// messages need not tell. 0 is a free flow, whose messages do.
	Slot int
}

// A Case is what baselines may look at: the record with its gold calls, where
// Tools holds the candidate list.
type Case struct {
	Record qaoa.Record
	Repeat int
	Seed   uint64
}

// Sampling are the parameters of decoding.
type Sampling struct {
	Temperature float64
	TopP        float64 // 0 leaves it to the server
	Seed        int64
	MaxTokens   int // 0 leaves it to the server
	// NumCtx is the context length to ask for, in tokens; 0 leaves it to the
	// server. Only Ollama can be asked.
	NumCtx int
	Think  bool // let a reasoning model think before it answers
}

// A Reply is what a model said.
type Reply struct {
	Text      string      // content, as received
	Reasoning string      // thoughts that the server delivered apart
	Calls     []qaoa.Call // native tool calls; an undecodable one has Raw set
	Finish    string      // "stop", "length", "tool_calls", … as received
	Usage     Usage
	Latency   time.Duration
	Attempts  int // requests sent, retries included; at least 1 unless Cached
	// Cached marks a reply that a response cache gave: no request was sent for
	// it, and Attempts and Latency are 0.
	Cached bool
}

// Usage counts tokens as the server reports them; -1 is "not reported".
type Usage struct {
	Prompt     int
	Completion int
}

// A Class says what kind of failure of a back end an [Error] is.
type Class string

// The classes. Only those that [Class.Retryable] reports are tried again.
const (
	ClassTimeout     Class = "timeout"
	ClassRateLimit   Class = "rate_limit"  // 429
	ClassServer      Class = "server"      // 5xx
	ClassConnection  Class = "connection"  // refused, reset, cut off
	ClassBadReply    Class = "bad_reply"   // not the protocol, or over the size limit
	ClassRequest     Class = "request"     // other 4xx: asking again would not help
	ClassTruncated   Class = "truncated"   // the prompt did not fit the context
	ClassUnavailable Class = "unavailable" // no such model, no such server
	// ClassStopped is a request that was not sent, because a limit of the
	// user's was reached: it ends the run, and is no failure of the back end.
	ClassStopped Class = "stopped"
)

// Retryable reports whether asking again may help.
func (c Class) Retryable() bool {
	switch c {
	case ClassTimeout, ClassRateLimit, ClassServer, ClassConnection, ClassBadReply:
		return true
	}
	return false
}

// An Error is a failure of a back end, which is never an answer.
type Error struct {
	Class      Class
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // what the server asked for, 0 if nothing
	Attempts   int
	Msg        string // what happened and what to do
}

// Error returns class and message.
func (e *Error) Error() string { return string(e.Class) + ": " + e.Msg }
