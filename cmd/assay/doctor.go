package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"assay/eval"
	"assay/model/ollama"
	"assay/model/openai"
	"assay/model/transport"
)

// doctorTimeout is how long the doctor waits for one server.
const doctorTimeout = 10 * time.Second

func doctorCommand() command {
	return command{
		name: "doctor",
		does: "tells what is reachable: servers, models, context lengths",
		help: `
Looks at OLLAMA_HOST (or the usual local address), and at OPENAI_BASE_URL if it is
set. With --model, that model is asked a question, then for a plain tool call in the
text and through the server's own tool calling, and the same twice with one seed.
Exit code 5 says that it did not answer, or refuses what a run would ask; what is
merely odd is told with what to do. --skip-probes asks the model nothing.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o modelOptions
			o.bind(flags)
			asJSON := flags.Bool("json", false, "print one JSON object")
			skip := flags.Bool("skip-probes", false, "do not ask the model anything")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) > 0 {
					return usagef("doctor: want no arguments, have %q", args)
				}
				return runDoctor(ctx, std, o, *asJSON, *skip)
			}
		},
	}
}

// A checkup is one thing that the doctor looked at.
type checkup struct {
	What   string   `json:"what"`
	OK     bool     `json:"ok"`
	Detail string   `json:"detail"`
	Remedy string   `json:"remedy,omitempty"`
	Models []string `json:"models,omitempty"`
}

func runDoctor(ctx context.Context, std stdio, o modelOptions, asJSON, skip bool) error {
	checks := []checkup{
		{What: "assay", OK: true, Detail: fmt.Sprintf("%s, %s, %d CPUs", version, runtime.Version(), runtime.NumCPU())},
		checkKey(),
	}
	http := transport.Options{Timeout: doctorTimeout, UserAgent: "assay/" + version}
	host, base := os.Getenv("OLLAMA_HOST"), os.Getenv("OPENAI_BASE_URL")
	if o.baseURL != "" && !strings.HasPrefix(o.model, "openai/") {
		host = o.baseURL
	} else if o.baseURL != "" {
		base = o.baseURL
	}
	for address := range strings.SplitSeq(host, ",") {
		checks = append(checks, checkOllama(ctx, strings.TrimSpace(address), http))
	}
	for address := range strings.SplitSeq(base, ",") {
		if base != "" {
			checks = append(checks, checkOpenAI(ctx, strings.TrimSpace(address), http))
		}
	}
	var failed error
	if o.model != "" && !skip {
		more, err := checkModel(ctx, o)
		checks, failed = append(checks, more...), err
	}
	if asJSON {
		if err := writeJSON(std.out, map[string]any{"checks": checks}); err != nil {
			return err
		}
		return failed
	}
	for _, c := range checks {
		mark := "ok"
		if !c.OK {
			mark = "--"
		}
		fmt.Fprintf(std.out, "%s  %-22s %s\n", mark, printable(c.What), printable(c.Detail))
		if c.Remedy != "" {
			fmt.Fprintf(std.out, "    %-22s %s\n", "", printable(c.Remedy))
		}
		for _, m := range c.Models {
			fmt.Fprintf(std.out, "      %s\n", printable(m))
		}
	}
	return failed
}

// checkModel asks a model what a run would ask it. The error is why a run would
// make no sense.
func checkModel(ctx context.Context, o modelOptions) ([]checkup, error) {
	b, err := o.open(1)
	if err != nil {
		return nil, err
	}
	c := checkup{What: "model " + o.model}
	info, err := b.probe(ctx)
	if err != nil {
		c.Detail = err.Error()
		return []checkup{c}, err
	}
	c.OK, c.Detail = true, "answers"
	if detail := serverDetail(info); b.prober() != nil && detail != "" {
		c.Detail += "; " + detail
	}
	checks := []checkup{c}
	opt := eval.Options{Model: o.model, Flow: eval.FlowFree}
	var probes []eval.Probe
	probes = append(probes, eval.ProbeAbility(ctx, b.Chatter, opt)...)
	probes = append(probes, eval.ProbeCalls(ctx, b.Chatter, opt)...)
	opt.Calls = eval.CallsNative
	// With a temperature above 0 equal replies show that the seed holds.
	opt.Sampling.Temperature, opt.Sampling.Seed = 1, 7
	probes = append(probes, eval.ProbeCalls(ctx, b.Chatter, opt)...)
	for _, p := range probes {
		checks = append(checks, checkup{What: p.Name, OK: p.OK, Detail: p.Detail, Remedy: p.Remedy})
		// A model that is asked in the text needs no tool calling of the server.
		if p.Fatal && p.Name == eval.ProbePromptCall {
			err = errors.Join(err, errors.New(p.String()))
		}
	}
	if err != nil {
		return checks, &exitError{exitBackend, err}
	}
	return checks, nil
}

func checkKey() checkup {
	c := checkup{What: "OPENAI_API_KEY", Detail: "not set; local servers need none"}
	if os.Getenv("OPENAI_API_KEY") != "" {
		c.OK, c.Detail = true, "set"
	}
	return c
}

func checkOllama(ctx context.Context, host string, http transport.Options) checkup {
	c := checkup{What: "Ollama"}
	client, err := ollama.New(ollama.Config{Host: host, Model: "any", HTTP: http})
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	defer client.Close()
	v, err := client.Version(ctx)
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	c.OK, c.Detail = true, "version "+v
	models, err := client.Models(ctx)
	if err != nil {
		c.OK, c.Detail = false, err.Error()
	}
	for _, m := range models {
		c.Models = append(c.Models, m.Name)
	}
	return c
}

func checkOpenAI(ctx context.Context, base string, http transport.Options) checkup {
	c := checkup{What: "OpenAI-compatible"}
	client, err := openai.New(openai.Config{BaseURL: base, Key: os.Getenv("OPENAI_API_KEY"), Model: "any", HTTP: http})
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	defer client.Close()
	models, err := client.Models(ctx)
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	c.OK, c.Detail = true, fmt.Sprintf("%d models", len(models))
	c.Models = models
	return c
}
