package baseline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"assay/internal/lexical"
	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// The names of the baselines.
const (
	Lexical = "lexical" // tools and arguments by the words of the query
	Random  = "random"  // any tool, with words of the query as arguments
	First   = "first"   // the first tool, with arguments as Lexical finds them
	Gold    = "gold"    // the gold calls, step by step
)

// Names returns the names of the baselines, in alphabetical order.
func Names() []string { return []string{First, Gold, Lexical, Random} }

// A Baseline answers without a model. It has no state, so it is safe for
// concurrent use, and equal requests get equal replies.
type Baseline struct {
	name string
	// calls returns the calls of the request with that number in its turn;
	// none end the turn.
	calls func(c *model.Case, turn, round int) []qaoa.Call
}

// New returns the baseline of that name.
func New(name string) (*Baseline, error) {
	b := &Baseline{name: name}
	switch name {
	case Lexical:
		b.calls = once(byWords)
	case Random:
		b.calls = once(byChance)
	case First:
		b.calls = once(theFirst)
	case Gold:
		b.calls = goldStep
	default:
		return nil, fmt.Errorf("baseline %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return b, nil
}

// once makes of a function that answers a turn one that calls in the first
// round and ends the turn in the second.
func once(ask func(c *model.Case, turn int) []qaoa.Call) func(*model.Case, int, int) []qaoa.Call {
	return func(c *model.Case, turn, round int) []qaoa.Call {
		if round > 0 || len(c.Record.Tools) == 0 {
			return nil
		}
		return ask(c, turn)
	}
}

// Chat implements [model.Chatter]. The request needs a Case and a Turn that the
// record has.
func (b *Baseline) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	if req.Case == nil || req.Turn < 0 || req.Turn >= len(req.Case.Record.Turns) {
		return model.Reply{}, &model.Error{Class: model.ClassRequest, Attempts: 1, Msg: fmt.Sprintf("baseline/%s: want a request with a record and a turn of it, have turn %d; baselines answer records and not free text", b.name, req.Turn)}
	}
	reply := model.Reply{Finish: "stop", Usage: model.Usage{Prompt: -1, Completion: -1}, Attempts: 1}
	calls := b.callsFor(req)
	switch {
	case len(calls) == 0 && b.name == Gold:
		reply.Text = answerText(req.Case.Record.Turns[req.Turn].Answer)
	case len(calls) == 0:
		reply.Text = answerText("")
	case req.Tools != nil:
		reply.Calls, reply.Finish = calls, "tool_calls"
	default:
		reply.Text = toolcall.Render(calls)
	}
	return reply, nil
}

// callsFor returns the calls of the request. In a guided flow they are at most
// one: the call whose number among all calls of the turn is that of the slot.
func (b *Baseline) callsFor(req model.Request) []qaoa.Call {
	if req.Slot == 0 {
		return b.calls(req.Case, req.Turn, req.Round())
	}
	left := req.Slot - 1
	for round := 0; ; round++ {
		calls := b.calls(req.Case, req.Turn, round)
		if left < len(calls) {
			return calls[left : left+1]
		}
		if len(calls) == 0 {
			return nil
		}
		left -= len(calls)
	}
}

// answerText returns an answer in its tags. An answer that would be read as a
// call, because it quotes one, is left out: the turn must end.
func answerText(answer string) string {
	text := "<answer>" + answer + "</answer>"
	if len(toolcall.Parse(text, toolcall.Options{}).Calls) > 0 {
		return "<answer></answer>"
	}
	return text
}

// goldStep returns the gold calls of one step.
func goldStep(c *model.Case, turn, round int) []qaoa.Call {
	if steps := c.Record.Turns[turn].Steps; round < len(steps) {
		return steps[round].Calls
	}
	return nil
}

// maxQuery is how much of a query is looked at, in bytes. What makes sense as
// an argument stands in the first pages.
const maxQuery = 1 << 16

// queryOf returns the query of a turn, up to its limit.
func queryOf(c *model.Case, turn int) string {
	q := c.Record.Turns[turn].Query
	if len(q) > maxQuery {
		q = q[:maxQuery]
	}
	return strings.ToValidUTF8(q, "")
}

// theFirst calls the first tool.
func theFirst(c *model.Case, turn int) []qaoa.Call {
	t := c.Record.Tools[0]
	return []qaoa.Call{{Name: t.Name, Arguments: fill(t, newFacts(queryOf(c, turn)))}}
}

// byChance calls a tool drawn uniformly. The draw depends on seed, record,
// repeat and turn alone, so neither order nor parallel requests change it.
func byChance(c *model.Case, turn int) []qaoa.Call {
	key := xxh3.HashString128(strings.Join([]string{
		strconv.FormatUint(c.Seed, 10), c.Record.ID, strconv.Itoa(c.Repeat), strconv.Itoa(turn),
	}, "\x00"))
	rng := rand.New(rand.NewPCG(key.Hi, key.Lo))
	t := c.Record.Tools[rng.IntN(len(c.Record.Tools))]
	return []qaoa.Call{{Name: t.Name, Arguments: fillByChance(t, queryOf(c, turn), rng)}}
}

// byWords calls for each part of the query the tool whose text is most similar
// to that part, if it is about as similar as the best one of the whole query
// is. Parts that choose the same tool with the same arguments make one call.
func byWords(c *model.Case, turn int) []qaoa.Call {
	tools := c.Record.Tools
	docs := make([]string, len(tools))
	for i, t := range tools {
		docs[i] = describe(t)
	}
	index := lexical.NewIndex(docs)
	query := queryOf(c, turn)
	best := index.Search(query, 1)
	if len(best) == 0 {
		return []qaoa.Call{{Name: tools[0].Name, Arguments: fill(tools[0], newFacts(query))}}
	}
	var calls []qaoa.Call
	for _, part := range parts(query) {
		hits := index.Search(part, 1)
		if len(hits) == 0 || hits[0].Score < partShare*best[0].Score {
			continue
		}
		t := tools[hits[0].Doc]
		calls = addNew(calls, qaoa.Call{Name: t.Name, Arguments: fill(t, newFacts(part))})
	}
	if len(calls) < 2 {
		t := tools[best[0].Doc]
		return []qaoa.Call{{Name: t.Name, Arguments: fill(t, newFacts(query))}}
	}
	return calls
}

// partShare is how similar a part must be to its tool for a call of its own, as
// a share of the similarity of the whole query to its best tool. Parts that
// only give details ("I prefer a window seat.") are mostly below.
const partShare = 0.7

// addNew appends c unless calls hold it.
func addNew(calls []qaoa.Call, c qaoa.Call) []qaoa.Call {
	if slices.Contains(calls, c) {
		return calls
	}
	return append(calls, c)
}

// describe returns what a query may have in common with a tool: its name, what
// it is for, and the names of its parameters.
func describe(t qaoa.Tool) string {
	var b strings.Builder
	b.WriteString(t.Name + " " + t.Description)
	if schema, err := t.Parameters.Value(); err == nil {
		props, _ := schema.Get("properties")
		for _, p := range props.Members {
			b.WriteString(" " + p.Name)
		}
	}
	return b.String()
}
