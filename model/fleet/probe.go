package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"assay/model"
)

// Probe implements [model.Prober]: all hosts are asked at the same time. Hosts
// that fail are left alone at first, as long as one is ready; the error is that
// of the first host if none is. Hosts that serve different weights under one
// name are an error: nobody could say whose answers these are.
//
// Server of the Info lists the hosts that are ready, and Context is the
// shortest of them. A fleet whose hosts are no Probers has nothing to say.
func (f *Fleet) Probe(ctx context.Context) (model.Info, error) {
	infos := make([]model.Info, len(f.hosts))
	errs := make([]error, len(f.hosts))
	var wg sync.WaitGroup
	for i, h := range f.hosts {
		if p, ok := model.As[model.Prober](h.Chatter); ok {
			wg.Go(func() { infos[i], errs[i] = p.Probe(ctx) })
		}
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return infos[0], err
	}
	var out model.Info
	var from *host
	var servers []string
	for i, h := range f.hosts {
		if errs[i] != nil {
			continue
		}
		info := infos[i]
		servers = append(servers, info.Server)
		if from == nil {
			out, from = info, h
			continue
		}
		if info.Digest != out.Digest {
			return out, &model.Error{Class: model.ClassUnavailable, Msg: fmt.Sprintf("%s has the model with digest %s, %s with %s: want the same weights on all servers of a run", from.Name, out.Digest, h.Name, info.Digest)}
		}
		if info.Context > 0 && (out.Context == 0 || info.Context < out.Context) {
			out.Context = info.Context
		}
	}
	if from == nil {
		return infos[0], errs[0]
	}
	out.Server = strings.Join(servers, ",")
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, h := range f.hosts {
		if errs[i] != nil {
			fail, _ := errors.AsType[*model.Error](errs[i])
			h.down(outcome{err: errs[i]}, fail, time.Now())
		}
	}
	return out, nil
}

// Notes says in words what the hosts had to say for the description of a run,
// and which of them were down or overloaded; nil if nothing happened.
func (f *Fleet) Notes() []string {
	var notes []string
	seen := map[string]bool{}
	for _, h := range f.hosts {
		n, ok := model.As[interface{ Notes() []string }](h.Chatter)
		if !ok {
			continue
		}
		for _, note := range n.Notes() {
			if !seen[note] { // servers of one kind say the same
				notes = append(notes, note)
			}
			seen[note] = true
		}
	}
	for _, s := range f.Stats() {
		if s.Opened == 1 {
			notes = append(notes, s.Name+" was down once")
		} else if s.Opened > 1 {
			notes = append(notes, fmt.Sprintf("%s was down %d times", s.Name, s.Opened))
		}
	}
	return notes
}

// Hosts returns the hosts as they were given.
func (f *Fleet) Hosts() []Host {
	out := make([]Host, len(f.hosts))
	for i, h := range f.hosts {
		out[i] = h.Host
	}
	return out
}

// Unwrap returns the model on the first host, for [model.As]: what a client can
// tell about its model, that of any host can. It is not for chats.
func (f *Fleet) Unwrap() model.Chatter { return f.hosts[0].Chatter }
