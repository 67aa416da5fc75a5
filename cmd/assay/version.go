package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"

	"assay/qaoa"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "0.1.0"

// commit returns the revision that the binary was built from, or "unknown".
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "unknown"
}

func versionCommand() command {
	return command{
		name: "version",
		does: "prints version, commit and Go version",
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			asJSON := flags.Bool("json", false, "print one JSON object")
			return func(_ context.Context, std stdio, args []string) error {
				if len(args) > 0 {
					return usagef("version: want no arguments, have %q", args)
				}
				if *asJSON {
					v := qaoa.ObjectValue(
						qaoa.Member{Name: "version", Value: qaoa.StringValue(version)},
						qaoa.Member{Name: "commit", Value: qaoa.StringValue(commit())},
						qaoa.Member{Name: "go", Value: qaoa.StringValue(runtime.Version())},
						qaoa.Member{Name: "schema", Value: qaoa.StringValue(qaoa.Schema)},
					)
					_, err := fmt.Fprintln(std.out, v.JSON())
					return err
				}
				_, err := fmt.Fprintf(std.out, "assay %s (commit %s, %s, records %s)\n", version, commit(), runtime.Version(), qaoa.Schema)
				return err
			}
		},
	}
}
