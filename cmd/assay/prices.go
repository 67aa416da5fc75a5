package main

import (
	"math"
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"assay/eval"
)

// readPrice returns the price of a model in a file of prices, nil if there is
// no file or the file does not know the model. The file is YAML: a model as
// --model has it, with or without its back end, and what a million tokens cost.
//
//	openai/gpt-4o-mini: {input: 0.15, output: 0.60}
//	qwen3:8b: {input: 0, output: 0}
func readPrice(path, model string) (*eval.Price, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usagef("--prices: %v", err)
	}
	var prices map[string]struct {
		Input  *float64 `yaml:"input"`
		Output *float64 `yaml:"output"`
	}
	if err := yaml.UnmarshalWithOptions(data, &prices, yaml.Strict()); err != nil {
		return nil, usagef("--prices %s: want MODEL: {input: …, output: …}: %v", path, err)
	}
	_, name, _ := strings.Cut(model, "/")
	for _, key := range []string{model, name} {
		p, ok := prices[key]
		if !ok {
			continue
		}
		for _, n := range []*float64{p.Input, p.Output} {
			if n == nil || !(*n >= 0 && *n <= math.MaxFloat64) {
				return nil, usagef("--prices %s: %s: want input and output, numbers from 0", path, key)
			}
		}
		return &eval.Price{Input: *p.Input, Output: *p.Output}, nil
	}
	return nil, nil
}
