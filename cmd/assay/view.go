package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime/debug"

	"github.com/spf13/pflag"

	"assay/view"
)

func viewCommand() command {
	return command{
		name: "view", args: "RUN_FOLDER…",
		does: "serves the page of \"report\" on this machine, for runs of any size",
		help: `
The page is the same, and its items are fetched when they are looked at; filters and
searches are answered from an index of a few dozen bytes for each item. It is served
on the loopback interface only, unless --addr says otherwise, and nothing can be
changed through it. The run folders are read once, at the start; temporary files
(in TMPDIR) hold what the page shows. Ctrl-C ends it.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o reportOptions
			addr := flags.String("addr", "127.0.0.1:7860", "address and port to serve on; port 0 takes a free one")
			o.bind(flags)
			return func(ctx context.Context, std stdio, args []string) error {
				return runView(ctx, std, o, *addr, args)
			}
		},
	}
}

func runView(ctx context.Context, std stdio, o reportOptions, addr string, dirs []string) (err error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return usagef("--addr %q: want an address and a port, such as 127.0.0.1:7860", addr)
	}
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", addr)
	if err != nil {
		return usagef("--addr %s: %v; give another port, or 0 for a free one", addr, err)
	}
	r, err := buildReport(ctx, o, dirs, true)
	if err != nil {
		return joinClose(err, l.Close())
	}
	defer func() { err = joinClose(err, r.Close()) }()
	// Building takes many times the memory of serving, which goes on for hours.
	debug.FreeOSMemory()
	if own, err := netip.ParseAddrPort(l.Addr().String()); err == nil && !own.Addr().IsLoopback() {
		fmt.Fprintf(std.err, "%s is no loopback address: whoever reaches this machine can read the report\n", own)
	}
	fmt.Fprintf(std.err, "http://%s/ shows the report; Ctrl-C ends it\n", l.Addr())
	return view.Serve(ctx, l, r)
}
