package main

import (
	"context"
	"strings"

	"assay/eval"
)

// observer sets what makes the calls of a run, if the user wants them made, and
// returns what ends it.
func (o *runOptions) observer(context.Context, *eval.Options) (stop func() error, err error) {
	if strings.HasPrefix(o.observe, string(eval.ObserveMCP)+":") {
		return nil, usagef("--observe %s: want gold or empty", o.observe)
	}
	return func() error { return nil }, nil
}
