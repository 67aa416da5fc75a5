package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"assay/convert"
	"assay/internal/raw"
	"assay/qaoa"
)

type filterOptions struct {
	out, profile, schema, language, temporal, allow, ledger, summary string
	examples                                                         int
}

func filterCommand() command {
	return command{
		name: "filter", args: "FILE…",
		does: "keeps the records whose every called tool passes the paper's rules",
		help: `
A record is kept if each of its turns has a call, and every called tool is on
offer, is not about time (a keyword test on its description and its top-level
parameters) and has parameters. What is dropped goes to the ledger with a code.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o filterOptions
			flags.StringVarP(&o.out, "output", "o", "-", "write the records to `FILE`")
			flags.StringVar(&o.profile, "profile", "paper", "paper or strict (also wants object arguments, known and required names)")
			flags.StringVar(&o.schema, "schema-filter", "empty", "tools without parameters: empty (truly none), metadata (the released script's rule) or off")
			flags.StringVar(&o.language, "language", "off", "also drop records in other languages: l1, l2, cjk or off")
			flags.StringVar(&o.temporal, "temporal", "on", "drop records that call tools about time: on or off")
			flags.StringVar(&o.allow, "allow-tools", "", "`FILE` of tools (name, description); a record may call no others")
			flags.StringVar(&o.ledger, "ledger", "", "write every reject as a line to `FILE`")
			flags.StringVar(&o.summary, "summary", "", "write the balance as JSON to `FILE`")
			flags.IntVar(&o.examples, "examples", 0, "show that many rejects of each code on stderr")
			return func(ctx context.Context, std stdio, args []string) error {
				if err := wantFiles("filter", args); err != nil {
					return err
				}
				return runFilter(ctx, std, o, args)
			}
		},
	}
}
