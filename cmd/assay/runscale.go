package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"assay/eval"
	"assay/model"
	"assay/model/budget"
	"assay/model/cache"
	"assay/model/fleet"
)

// scaleOptions say how a run is spread over servers and machines, and what it
// may use.
type scaleOptions struct {
	concurrency              string
	maxRequests, tokensTotal int
	cache                    string
	cacheMB                  int
	fsync, shard             string
}

func (o *scaleOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.concurrency, "concurrency", "4", "conversations at a time; auto: starts low, grows while the servers keep up, shrinks when they do not")
	flags.IntVar(&o.maxRequests, "max-requests", 0, "stop before more requests than that are sent by this command, retries included; 0 is no limit")
	flags.IntVar(&o.tokensTotal, "max-tokens-total", 0, "stop when that many tokens are used by this command, prompts and answers; 0 is no limit")
	flags.StringVar(&o.cache, "cache", "", "SQLite `FILE` with replies of earlier runs: what was asked before is not asked again")
	flags.IntVar(&o.cacheMB, "cache-mb", 0, "size of that file in MB at most, oldest replies go first; 0 is no limit")
	flags.StringVar(&o.fsync, "fsync", "interval", "flush the journal to the disk: always, interval (64 lines or 2 s), or never")
	flags.StringVar(&o.shard, "shard", "", "take part `i/n` of the records (i from 0), by the hash of their ids; \"assay runs merge\" joins the parts")
}

// A scale is what scaleOptions come to.
type scale struct {
	workers int // conversations at a time, 0 for auto
	budget  *budget.Budget
	store   *cache.Store
}

// prepare checks o, and sets what opt takes of it. It opens the cache, so that
// a file that cannot be used stops the run before it begins.
func (o scaleOptions) prepare(opt *eval.Options) (*scale, error) {
	s := &scale{}
	var err error
	if o.concurrency != "auto" {
		if s.workers, err = strconv.Atoi(o.concurrency); err != nil || s.workers < 1 {
			return nil, usagef("--concurrency %q: want a number from 1, or auto", o.concurrency)
		}
	}
	if opt.Shard, err = eval.ParseShard(o.shard); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	if opt.Sync, err = eval.ParseSyncPolicy(o.fsync); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	if o.maxRequests < 0 || o.tokensTotal < 0 || o.cacheMB < 0 {
		return nil, usagef("run: --max-requests, --max-tokens-total and --cache-mb want no negative number")
	}
	if o.maxRequests > 0 || o.tokensTotal > 0 {
		if s.budget, err = budget.New(budget.Limits{Requests: o.maxRequests, Tokens: o.tokensTotal}); err != nil {
			return nil, &exitError{exitUsage, err}
		}
	}
	if o.cache != "" {
		if s.store, err = cache.Open(o.cache, int64(o.cacheMB)<<20); err != nil {
			return nil, &exitError{exitUsage, err}
		}
	}
	opt.Workers, opt.GiveUp = s.workers, max(20, 2*s.workers)
	return s, nil
}

// attach puts the cache before the back end, and admission into opt, which
// knows the digest by now.
func (s *scale) attach(b *backend, opt *eval.Options) {
	if s.store != nil && b.fleet != nil {
		b.Chatter = cache.New(b.Chatter, s.store, cache.Identity{Model: opt.Model, Digest: opt.Digest})
	}
	hosts := 1
	if b.fleet != nil {
		hosts = len(b.fleet.Hosts())
	}
	if s.workers == 0 {
		opt.Workers = hosts * fleet.DefaultMost
	}
	opt.Admit = func(ctx context.Context, most int) (func(), error) {
		release := func() {}
		if s.budget != nil {
			var err error
			if release, err = s.budget.Admit(ctx, most); err != nil {
				return nil, err
			}
		}
		if b.fleet == nil {
			return release, nil
		}
		leave, err := b.fleet.Admit(ctx, most)
		if err != nil {
			release()
			return nil, err
		}
		return func() { leave(); release() }, nil
	}
}

// close closes the cache.
func (s *scale) close() error {
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

// spent tells what a run with a budget used, or "".
func (s *scale) spent() string {
	if s.budget == nil {
		return ""
	}
	used := s.budget.Spent()
	text := fmt.Sprintf("%d requests sent, %d tokens used", used.Requests, used.Tokens)
	if used.Estimated > 0 {
		text += fmt.Sprintf(" (an estimate for %d requests whose tokens the server did not tell)", used.Estimated)
	}
	return text
}

// stopped returns how a run ends that a limit of the user's stopped, nil for
// other errors.
func stopped(err error, dir string) error {
	stop, ok := errors.AsType[*eval.StopError](err)
	if !ok {
		return nil
	}
	return &exitError{exitInterrupted, fmt.Errorf("stopped: %w; what is finished is kept, and the same command resumes with a new budget: --out %s", stop, dir)}
}

// checkTimeout is how long a server that was down may take to say that it is
// up.
const checkTimeout = 10 * time.Second

// A client is a model on one server.
type client interface {
	model.Chatter
	Ping(ctx context.Context) error
}

// newFleet returns the servers of a comma-separated list of addresses as one
// back end. dial makes the client of one; they send each request once.
func (o *modelOptions) newFleet(addresses string, concurrency int, dial func(address string) (client, error)) (*fleet.Fleet, error) {
	var hosts []fleet.Host
	for i, address := range strings.Split(addresses, ",") {
		c, err := dial(strings.TrimSpace(address))
		if err != nil {
			return nil, err
		}
		h := fleet.Host{Name: fmt.Sprintf("server %d", i+1), Chatter: c, Check: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			return c.Ping(ctx)
		}}
		if a, ok := c.(interface{ Base() string }); ok {
			h.Name = a.Base()
		}
		if o.budget != nil {
			h.Chatter = o.budget.Chatter(c)
		}
		hosts = append(hosts, h)
	}
	return fleet.New(hosts, fleet.Options{Concurrency: concurrency, Timeout: o.timeout, Retries: o.retries})
}
