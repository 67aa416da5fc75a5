package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"assay/train"
)

func trainVerifyCommand() command {
	return command{
		name: "train verify", args: "DIR…",
		does: "checks shards against their manifest: hashes, counts, and that every row parses",
		help: `
DIR is what "assay train shard" wrote. Each shard is read whole; what differs from
manifest.json is printed, one fault a line, and ends in exit code 3: a shard that
is missing, changed or broken, a file among the shards that a trainer would read
too, sums that do not add up, and a dataset_info.json that does not fit.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			asJSON := flags.Bool("json", false, "print one JSON object a folder")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) == 0 {
					return usagef("train verify: want at least one folder of shards, have none")
				}
				return runVerify(ctx, std, args, *asJSON)
			}
		},
	}
}

func runVerify(ctx context.Context, std stdio, dirs []string, asJSON bool) error {
	faults := 0
	for _, dir := range dirs {
		m, found, err := train.Verify(ctx, dir, nil)
		if err != nil {
			return inputError(err)
		}
		faults += len(found)
		if asJSON {
			if found == nil {
				found = []train.Fault{}
			}
			if err := writeJSON(std.out, verdict{dir, m.Rows, len(m.Files), len(found) == 0, found}); err != nil {
				return err
			}
			continue
		}
		for _, f := range found {
			fmt.Fprintf(std.out, "%s: %s\n", dir, printable(f.String()))
		}
		if len(found) == 0 {
			fmt.Fprintf(std.out, "%s: %d rows in %d shards are as the manifest says\n", dir, m.Rows, len(m.Files))
		}
	}
	if faults > 0 {
		return &exitError{exitInput, fmt.Errorf("%d faults: make the shards anew (train shard --overwrite)", faults)}
	}
	return nil
}

// A verdict is what train verify says of a folder.
type verdict struct {
	Dir    string        `json:"dir"`
	Rows   int           `json:"rows"`
	Shards int           `json:"shards"`
	OK     bool          `json:"ok"`
	Faults []train.Fault `json:"faults"`
}
