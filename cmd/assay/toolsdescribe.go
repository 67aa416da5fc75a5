package main

import (
	"context"

	"github.com/spf13/pflag"

	"assay/toolset"
)

func toolsDescribeCommand() command {
	return command{
		name: "tools describe", args: "POOL…",
		does: "counts the tools of a pool by origin, labels and parameters, and finds faulty schemas",
		help: `
POOL is what "tools build" writes, or anything that it reads. Problems are
warnings with examples; none of them keeps a tool out of a pool.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			asJSON := flags.Bool("json", false, "print one JSON object")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) == 0 {
					return usagef("tools describe: want at least one pool (- is stdin), have none")
				}
				d, err := toolset.Describe(poolEntries(ctx, std, args))
				if err != nil {
					return inputError(err)
				}
				if *asJSON {
					return writeJSON(std.out, d)
				}
				return d.WriteText(std.out)
			}
		},
	}
}
