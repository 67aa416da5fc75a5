package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/model"
	"assay/qaoa"
)

// An Observe says what a predicted call returns.
type Observe string

// The observations. ObserveGold gives a call that matches a gold call of the
// turn flexibly (preset paper) what that one returned, and others nothing.
// ObserveEmpty gives every call nothing. ObserveMCP makes the calls for real,
// by [Options.Observer].
const (
	ObserveGold  Observe = "gold"
	ObserveEmpty Observe = "empty"
	ObserveMCP   Observe = "mcp"
)

// ParseObserve returns the observation of that name; "" is [ObserveGold].
func ParseObserve(s string) (Observe, error) {
	switch o := Observe(s); o {
	case "":
		return ObserveGold, nil
	case ObserveGold, ObserveEmpty, ObserveMCP:
		return o, nil
	}
	return "", fmt.Errorf("--observe %q: want gold, empty or mcp:ENDPOINT", s)
}

// An Observer makes a call and returns what came of it. An error says that the
// tool failed, and the model is shown what the tool returned beside it, or else
// its text; but a [model.Error] says that there is nobody to make calls any
// more, and fails the conversation. Implementations are safe for concurrent use.
type Observer interface {
	Observe(ctx context.Context, call qaoa.Call) (qaoa.JSON, error)
}

// maxObservation and maxToolError bound what a tool may put into a prompt, in
// bytes: a tool is as hostile as a model.
const (
	maxObservation = 256 << 10
	maxToolError   = 2000
)

// returned returns what calls return in the mode of the run, one text for each,
// where gold is what the record says of them; nil is nothing for any of them.
// Failures of tools are texts, counted in x; the error is that of ctx, or that
// there is nobody to make calls.
func (a *asker) returned(ctx context.Context, tools []qaoa.Tool, calls []qaoa.Call, gold []string, x *Exchange) ([]string, error) {
	switch a.opt.Observe {
	case ObserveEmpty:
		return nil, nil
	case ObserveGold:
		return gold, nil
	}
	obs := make([]string, len(calls))
	for i, c := range calls {
		x.ToolCalls++
		out, err := a.execute(ctx, tools, c)
		if cut := ctx.Err(); cut != nil {
			return nil, cut // given up, not failed
		}
		if gone, ok := errors.AsType[*model.Error](err); ok {
			return nil, gone
		}
		if err != nil {
			x.ToolErrors++
			if out == "" {
				out = qaoa.Quote("error: " + clip(err.Error(), maxToolError))
			}
		}
		obs[i] = clip(out.Text(), maxObservation)
	}
	return obs, nil
}

// execute makes one call. Only tools on offer are called: a server may have
// others that the user did not mean to hand to a model.
func (a *asker) execute(ctx context.Context, tools []qaoa.Tool, c qaoa.Call) (qaoa.JSON, error) {
	if c.Raw != "" {
		return "", errors.New("the call could not be read; want a JSON object with name and arguments")
	}
	if !slices.ContainsFunc(tools, func(t qaoa.Tool) bool { return t.Name == c.Name }) {
		return "", fmt.Errorf("no tool %.200q is on offer", c.Name)
	}
	return a.opt.Observer.Observe(ctx, c)
}

// clip cuts a text to at most n bytes of valid UTF-8, and marks the cut.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
