package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"assay/recipe"
)

func trainRecipeCommand() command {
	return command{
		name: "train recipe", args: "DIR --base MODEL --template NAME -o OUT",
		does: "writes LLaMA-Factory configurations for some seeds, and a script that trains and scores",
		help: `
DIR is what "assay train shard" wrote for LLaMA-Factory. OUT gets seed-N.yaml with the
paper's values (LoRA of rank 8, alpha 16, all linear layers, 1 epoch, AdamW at 1e-5,
warm-up 0.03, cutoff 8192, 8 rows a step, bf16), and run.sh, which trains, serves the
base model and the adapters, scores all under GT and Hybrid-20 and compares them.
DRY_RUN=1 OUT/run.sh GOLD.jsonl only says what it would run.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o recipe.Options
			var seeds []string
			var server string
			flags.StringVar(&o.Base, "base", "", "`MODEL` to train: a name on a hub, or a path")
			flags.StringVar(&o.ServeBase, "serve-base", "", "its name at the server; default: that of --base")
			flags.StringVar(&o.Template, "template", "", "template of LLaMA-Factory, such as qwen3 or llama3")
			flags.StringSliceVar(&seeds, "seeds", []string{"1", "2", "3"}, "an adapter for each")
			flags.StringVar(&server, "server", string(recipe.VLLM), "vllm or ollama")
			flags.StringVar(&o.Parser, "parser", "hermes", "parser of tool calls of vllm")
			flags.StringVarP(&o.Out, "out", "o", "", "folder to make")
			return func(_ context.Context, std stdio, args []string) error {
				if len(args) != 1 {
					return usagef("train recipe: want one folder of shards, have %d", len(args))
				}
				o.Shards, o.Server = args[0], recipe.Server(server)
				for _, s := range seeds {
					n, err := strconv.ParseUint(s, 10, 32)
					if err != nil {
						return usagef("--seeds %q: want whole numbers below 4294967296", s)
					}
					o.Seeds = append(o.Seeds, n)
				}
				names, err := recipe.Write(o)
				if err != nil {
					return usagef("train recipe: %v", err)
				}
				for _, name := range names {
					fmt.Fprintln(std.out, name)
				}
				return nil
			}
		},
	}
}
