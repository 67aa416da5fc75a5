package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"assay/model"
	"assay/qaoa"
)

// A Recorder passes requests on and writes what comes back as a recording. It
// is safe for concurrent use if its model is; lines are written whole, in the
// order in which replies arrive.
type Recorder struct {
	m  model.Chatter
	mu sync.Mutex
	w  io.Writer
}

// NewRecorder returns a recorder of m that writes to w.
func NewRecorder(m model.Chatter, w io.Writer) *Recorder { return &Recorder{m: m, w: w} }

// Chat implements [model.Chatter]. Failures of the back end are recorded too;
// that a line could not be written is an error.
func (r *Recorder) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	reply, err := r.m.Chat(ctx, req)
	fail, isFail := errors.AsType[*model.Error](err)
	if err != nil && !isFail {
		return reply, err
	}
	line := append(appendLine(nil, req, reply, fail), '\n')
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, werr := r.w.Write(line); werr != nil {
		return reply, fmt.Errorf("replay: recording: %w", werr)
	}
	return reply, err
}

func appendLine(b []byte, req model.Request, reply model.Reply, fail *model.Error) []byte {
	if req.Case != nil {
		b = append(b, `{"id":`...)
		b = qaoa.AppendQuote(b, req.Case.Record.ID)
		b = fmt.Appendf(b, `,"repeat":%d,"turn":%d,"round":%d`, req.Case.Repeat, req.Turn, req.Round())
	} else {
		b = append(b, `{"key":`...)
		b = qaoa.AppendQuote(b, Key(req))
	}
	if fail != nil {
		b = append(b, `,"error":{"class":`...)
		b = qaoa.AppendQuote(b, string(fail.Class))
		b = append(b, `,"message":`...)
		b = qaoa.AppendQuote(b, fail.Msg)
		return append(b, '}', '}')
	}
	b = append(b, `,"reply":{"text":`...)
	b = qaoa.AppendQuote(b, reply.Text)
	for _, f := range []struct{ name, text string }{{"reasoning", reply.Reasoning}, {"finish", reply.Finish}} {
		if f.text != "" {
			b = append(append(append(b, `,"`...), f.name...), `":`...)
			b = qaoa.AppendQuote(b, f.text)
		}
	}
	for i, c := range reply.Calls {
		if i == 0 {
			b = append(b, `,"calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendCall(b, c)
		if i == len(reply.Calls)-1 {
			b = append(b, ']')
		}
	}
	for _, n := range []struct {
		name  string
		count int
	}{{"prompt_tokens", reply.Usage.Prompt}, {"completion_tokens", reply.Usage.Completion}} {
		if n.count >= 0 {
			b = append(append(append(b, `,"`...), n.name...), `":`...)
			b = strconv.AppendInt(b, int64(n.count), 10)
		}
	}
	return append(b, '}', '}')
}
