package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"

	"assay/model"
	"assay/qaoa"
	"assay/tokenizer"
	"assay/toolcall"
)

// A Survey is what is known about a run before it starts.
type Survey struct {
	Records int
	Pairs   int // records × repeats; of a shard, those that belong to it
	// DataHash and CandidateHash are SHA-256 sums over the records without
	// their tools, and over their tool lists, both in order.
	DataHash      string
	CandidateHash string
	// Longest is the longest prompt that a record can lead to when the model
	// answers as gold does.
	Longest LongestPrompt
	// IDs are the records in order.
	IDs []string
}

// A LongestPrompt is the longest prompt of a set of records.
type LongestPrompt struct {
	ID       string // of the record
	Bytes    int    // contents of all messages, and tools in native mode
	Estimate int    // tokens, by [tokenizer.Estimate]
}

// Look reads cases once, asks nothing, and returns what a run over them would
// be. An id that occurs twice is an [*IDError], because predictions join
// records by id.
func Look(ctx context.Context, cases iter.Seq2[qaoa.Record, error], opt Options) (Survey, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return Survey{}, err
	}
	var s Survey
	data, candidates := sha256.New(), sha256.New()
	seen := map[string]bool{}
	var twice idList
	var buf []byte
	for rec, err := range cases {
		if err != nil {
			return Survey{}, err
		}
		if err := ctx.Err(); err != nil {
			return Survey{}, err
		}
		if seen[rec.ID] {
			twice.add(rec.ID)
			continue
		}
		seen[rec.ID] = true
		if opt.Shard.Takes(rec.ID) {
			s.Pairs += opt.Repeats
		}
		s.IDs = append(s.IDs, rec.ID)
		if n := promptBytes(rec, opt); n > s.Longest.Bytes || s.Longest.ID == "" {
			s.Longest = LongestPrompt{ID: rec.ID, Bytes: n, Estimate: tokenizer.Estimate(n)}
		}
		buf = append(qaoa.AppendTools(buf[:0], rec.Tools), '\n')
		_, _ = candidates.Write(buf) // a hash never fails
		rec.Tools = nil
		buf = append(qaoa.AppendRecord(buf[:0], rec), '\n')
		_, _ = data.Write(buf)
	}
	if err := twice.err("the data hold records with the same id; keep one of each"); err != nil {
		return Survey{}, err
	}
	s.Records = len(s.IDs)
	s.DataHash = hex.EncodeToString(data.Sum(nil))
	s.CandidateHash = hex.EncodeToString(candidates.Sum(nil))
	return s, nil
}

// promptBytes returns the size of the longest request of a conversation that
// goes as in gold.
func promptBytes(rec qaoa.Record, opt Options) int {
	if len(rec.Turns) == 0 {
		return 0
	}
	if opt.Flow == FlowGuided {
		return guidedBytes(rec, opt)
	}
	d := newDialogue(opt.Prompt.systemFor(rec.Tools, opt.Calls), opt.Calls)
	for _, t := range rec.Turns {
		d.gold(t)
	}
	n := contentBytes(d.messages[:len(d.messages)-1]) // all but the last answer
	if opt.Calls == CallsNative {
		n += len(appendTools(nil, rec.Tools)) + callBytes(rec.Calls())
	}
	return n
}

// guidedBytes is promptBytes of a guided flow, which is led with a model that
// answers as gold does.
func guidedBytes(rec qaoa.Record, opt Options) int {
	opt.Observe, opt.Observer = ObserveGold, nil
	var m goldPlayer
	a := asker{&m, opt}
	a.ask(context.Background(), pair{rec: rec, system: opt.Prompt.systemFor(rec.Tools, opt.Calls)})
	if opt.Calls == CallsNative {
		m.longest += len(appendTools(nil, rec.Tools))
	}
	return m.longest
}

// A goldPlayer fills the slots of a guided flow from the record, and measures
// what it is asked.
type goldPlayer struct{ longest int }

// Chat implements [model.Chatter].
func (g *goldPlayer) Chat(_ context.Context, req model.Request) (model.Reply, error) {
	n := contentBytes(req.Messages)
	for _, m := range req.Messages {
		n += callBytes(m.Calls)
	}
	g.longest = max(g.longest, n)
	turn := req.Case.Record.Turns[req.Turn]
	slots := slotsOf(turn)
	if req.Slot > len(slots) {
		answer := turn.Answer
		if answer == "" {
			answer = "-" // an empty one would end some flows
		}
		return model.Reply{Text: openAnswer + answer + closeAnswer}, nil
	}
	call := slots[req.Slot-1 : req.Slot]
	if req.Tools != nil {
		return model.Reply{Calls: call}, nil
	}
	return model.Reply{Text: toolcall.Render(call)}, nil
}

func callBytes(calls []qaoa.Call) int {
	n := 0
	for _, c := range calls {
		n += len(qaoa.AppendCall(nil, c))
	}
	return n
}

func contentBytes(messages []model.Message) int {
	n := 0
	for _, m := range messages {
		n += len(m.Content)
	}
	return n
}
