package main

import (
	"context"

	"github.com/spf13/pflag"

	"assay/account"
)

func ledgerCommand() command {
	return command{
		name: "ledger", args: "FILE…",
		does: "adds up ledgers and summaries: every element by source and code, beside the paper's counts",
		help: `
FILE is what "convert" and "filter" write with --ledger and --summary, in any
order. The account has the layout of the paper's Tables 4 and 5.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			asJSON := flags.Bool("json", false, "print one JSON object")
			markdown := flags.Bool("markdown", false, "print Markdown tables")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) == 0 {
					return usagef("ledger: want at least one ledger or summary, have none")
				}
				a, err := account.Read(ctx, args)
				if err != nil {
					return inputError(err)
				}
				switch {
				case *asJSON:
					return a.JSON(std.out)
				case *markdown:
					return a.Markdown(std.out)
				}
				return a.WriteText(std.out)
			}
		},
	}
}
