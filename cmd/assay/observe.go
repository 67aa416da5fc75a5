package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/eval"
	"assay/mcp"
	"assay/model"
	"assay/qaoa"
)

// toolTimeout is how long one call of a tool may take.
const toolTimeout = time.Minute

// toolWorkers is how many calls may be in flight if the run finds out by itself
// how many conversations are.
const toolWorkers = 8

// A realTools makes the calls of a run at an MCP server. The zero realTools is
// none.
type realTools struct {
	executor *mcp.Executor
	name     string
	has      map[string]bool // the tools of the server
	lacks    map[string]bool // tools on offer that it does not have
	offered  int             // different names on offer
}

// openTools connects to what makes the calls of a run, if the user wants them
// made, and sets opt. A server that does not answer or lists no tools stops the
// run here.
func (o *runOptions) openTools(ctx context.Context, opt *eval.Options, workers int) (*realTools, error) {
	endpoint, real := strings.CutPrefix(o.observe, string(eval.ObserveMCP)+":")
	if !real {
		return &realTools{}, nil
	}
	if err := mcp.CheckEndpoint(endpoint); err != nil {
		return nil, usagef("--observe mcp: %v", err)
	}
	limits := mcp.Options{Timeout: toolTimeout}
	s := &realTools{name: mcp.EndpointName(endpoint), has: map[string]bool{}, lacks: map[string]bool{}}
	client, err := mcp.Connect(ctx, endpoint, limits)
	if err != nil {
		return nil, &exitError{exitBackend, fmt.Errorf("--observe mcp: %w", err)}
	}
	err = s.list(ctx, client)
	if err := errors.Join(err, client.Close()); err != nil {
		return nil, &exitError{exitBackend, fmt.Errorf("--observe mcp: %w", err)}
	}
	if s.executor, err = mcp.NewExecutor(ctx, endpoint, cmp.Or(workers, toolWorkers), limits); err != nil {
		return nil, usagef("--observe mcp: %v", err)
	}
	opt.Observer, opt.ObserverName = s, s.name
	return s, nil
}

// list reads the names of the server's tools.
func (s *realTools) list(ctx context.Context, client *mcp.Client) error {
	for tool, err := range client.Tools(ctx) {
		if _, bad := errors.AsType[*mcp.Reject](err); bad {
			continue
		}
		if err != nil {
			return err
		}
		s.has[tool.Name] = true
	}
	if len(s.has) == 0 {
		return fmt.Errorf("%s lists no tools, so no call could be made", s.name)
	}
	return nil
}

// Observe implements [eval.Observer]. That a tool fails, is slow or returns too
// much is an observation; that there is no server any more is none.
func (s *realTools) Observe(ctx context.Context, call qaoa.Call) (qaoa.JSON, error) {
	out, err := s.executor.Observe(ctx, call)
	switch {
	case err == nil:
		return out, failedTool(out)
	case errors.Is(err, mcp.ErrLimit), errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return "", err
	case ctx.Err() != nil:
		return "", err
	}
	return "", &model.Error{Class: model.ClassConnection, Attempts: 1, Msg: err.Error()}
}

// failedTool returns an error if an observation is {"error": …}, which is what
// the executor makes of a tool that failed.
func failedTool(out qaoa.JSON) error {
	if out.Kind() != qaoa.Object {
		return nil // free of a failure, as the executor words one
	}
	v, err := out.Value()
	if err != nil {
		return err
	}
	said, ok := v.Get("error")
	if !ok || said.Kind == qaoa.Null || string(said.JSON()) == "false" {
		return nil
	}
	return errors.New("the tool failed")
}

// watch passes recs on and looks for tools that the server does not have.
func (s *realTools) watch(recs iter.Seq2[qaoa.Record, error]) iter.Seq2[qaoa.Record, error] {
	if s.executor == nil {
		return recs
	}
	seen := map[string]bool{}
	return func(yield func(qaoa.Record, error) bool) {
		for rec, err := range recs {
			for _, t := range rec.Tools {
				seen[t.Name] = true
				if !s.has[t.Name] {
					s.lacks[t.Name] = true
				}
			}
			s.offered = len(seen)
			if !yield(rec, err) {
				return
			}
		}
	}
}

// probe tells what the server has of what the records offer, nil without a
// server. If it has none of it, a run makes no sense.
func (s *realTools) probe() []eval.Probe {
	if s.executor == nil {
		return nil
	}
	p := eval.Probe{Name: "tools", OK: true, Detail: fmt.Sprintf("%s has %d tools, and all %d that the records offer", s.name, len(s.has), s.offered)}
	if n := len(s.lacks); n > 0 {
		p.OK, p.Fatal = false, n == s.offered
		p.Detail = fmt.Sprintf("%s has %d tools, but not %d of the %d that the records offer, such as %q", s.name, len(s.has), n, s.offered, slices.Min(slices.Collect(maps.Keys(s.lacks))))
		p.Remedy = "calls of those will fail; take records that were made for this server"
	}
	return []eval.Probe{p}
}

// close ends the connections.
func (s *realTools) close() error {
	if s.executor == nil {
		return nil
	}
	return s.executor.Close()
}
