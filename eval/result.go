package eval

import (
	"strconv"
	"time"

	"assay/model"
	"assay/qaoa"
)

// A Result is what a model did with one record in one repeat: a line of
// predictions.jsonl.
type Result struct {
	// Prediction holds one turn per turn of the record, with the calls as the
	// model made them. The queries are left empty: they stand in the record.
	qaoa.Prediction
	// Index is the place of the pair in the order of cases, 0-based: the index
	// of the record times the repeats, plus the repeat.
	Index int
	// Key is the content key of the pair, see [Run].
	Key string
	// Requests are the exchanges with the model in order.
	Requests []Exchange
	// Fail is set if the back end did not answer a request. A failure is no
	// answer: Turns is nil then.
	Fail *Failure
}

// An Exchange is one request and its reply.
type Exchange struct {
	Turn int // 0-based
	// Slot is which request of the turn this is in a guided flow, 1-based; 0
	// in a free one. Unfilled says that no call came for it.
	Slot     int
	Unfilled bool
	// Extra is how many calls after the first, which fills the slot, the reply
	// holds: nobody made them.
	Extra       int
	PromptBytes int         // length of the contents of all messages sent
	Text        string      // reply as received
	Reasoning   string      // thoughts that the server delivered apart
	Calls       []qaoa.Call // native calls as received
	Rung        string      // of the parse ladder; "native" for native calls
	Repairs     []string    // that parsing needed
	Class       string      // calls, abstained, malformed, empty …
	// Repeated marks a reply whose calls, already made in this turn, ended the
	// turn. They are not in Turns.
	Repeated bool
	// ToolCalls are the calls that were made for real, ToolErrors those of
	// them that failed; see [ObserveMCP].
	ToolCalls, ToolErrors int
	// Server is what the server's own parser lost or changed, zero outside of
	// mode [CallsNative].
	Server ServerParse
	Finish string // finish reason as received
	Usage  model.Usage
	Cached bool // the reply came from the response cache

	// The rest differs from run to run and is kept in the journal only.
	Latency  time.Duration
	Attempts int
}

// A Failure is why a back end did not answer.
type Failure struct {
	Class    model.Class // "other" for an error that is no [model.Error]
	Msg      string
	Turn     int // 0-based, of the request that failed
	Attempts int
}

// ClassOther is the class of a failure that the client did not classify.
const ClassOther model.Class = "other"

// AppendResult appends res to dst as a prediction line without the line
// break: the members of a prediction (id, repeat, turns), then requests and
// key. Latency and attempts are left out, so that equal answers make equal
// bytes. It panics if res is a failure, because a failure is no prediction.
func AppendResult(dst []byte, res Result) []byte {
	if res.Fail != nil {
		panic("eval: AppendResult of a failure")
	}
	dst = qaoa.AppendPrediction(dst, res.Prediction)
	dst = append(dst[:len(dst)-1], `,"requests":[`...)
	for i, x := range res.Requests {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendExchange(dst, x)
	}
	dst = append(dst, `],"key":`...)
	dst = qaoa.AppendQuote(dst, res.Key)
	return append(dst, '}')
}

func appendExchange(dst []byte, x Exchange) []byte {
	dst = append(dst, `{"turn":`...)
	dst = strconv.AppendInt(dst, int64(x.Turn), 10)
	dst = appendCount(dst, "slot", x.Slot)
	if x.Unfilled {
		dst = append(dst, `,"unfilled":true`...)
	}
	dst = appendCount(dst, "extra_calls", x.Extra)
	dst = append(dst, `,"prompt_bytes":`...)
	dst = strconv.AppendInt(dst, int64(x.PromptBytes), 10)
	dst = append(dst, `,"text":`...)
	dst = qaoa.AppendQuote(dst, x.Text)
	if x.Reasoning != "" {
		dst = append(dst, `,"reasoning":`...)
		dst = qaoa.AppendQuote(dst, x.Reasoning)
	}
	if len(x.Calls) > 0 {
		dst = append(dst, `,"calls":[`...)
		for i, c := range x.Calls {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = qaoa.AppendCall(dst, c)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `,"rung":`...)
	dst = qaoa.AppendQuote(dst, x.Rung)
	if len(x.Repairs) > 0 {
		dst = append(dst, `,"repairs":[`...)
		for i, s := range x.Repairs {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = qaoa.AppendQuote(dst, s)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `,"class":`...)
	dst = qaoa.AppendQuote(dst, x.Class)
	if x.Repeated {
		dst = append(dst, `,"repeated":true`...)
	}
	dst = appendCount(dst, "tool_calls", x.ToolCalls)
	dst = appendCount(dst, "tool_errors", x.ToolErrors)
	dst = x.Server.append(dst)
	dst = append(dst, `,"finish":`...)
	dst = qaoa.AppendQuote(dst, x.Finish)
	dst = append(dst, `,"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(x.Usage.Prompt), 10)
	dst = append(dst, `,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(x.Usage.Completion), 10)
	if x.Cached {
		dst = append(dst, `,"cached":true`...)
	}
	return append(dst, '}')
}

// appendCount appends a member unless n is 0.
func appendCount(dst []byte, name string, n int) []byte {
	if n == 0 {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return strconv.AppendInt(dst, int64(n), 10)
}
