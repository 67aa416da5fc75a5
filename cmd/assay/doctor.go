package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

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
set. With --model, that model is asked a question, and exit code 5 says that it
did not answer.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o modelOptions
			o.bind(flags)
			asJSON := flags.Bool("json", false, "print one JSON object")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) > 0 {
					return usagef("doctor: want no arguments, have %q", args)
				}
				return runDoctor(ctx, std, o, *asJSON)
			}
		},
	}
}

// A checkup is one thing that the doctor looked at.
type checkup struct {
	What   string   `json:"what"`
	OK     bool     `json:"ok"`
	Detail string   `json:"detail"`
	Models []string `json:"models,omitempty"`
}

func runDoctor(ctx context.Context, std stdio, o modelOptions, asJSON bool) error {
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
	checks = append(checks, checkOllama(ctx, host, http))
	if base != "" {
		checks = append(checks, checkOpenAI(ctx, base, http))
	}
	var failed error
	if o.model != "" {
		b, err := o.open(1)
		if err != nil {
			return err
		}
		c := checkup{What: "model " + o.model}
		info, err := b.probe(ctx)
		if err != nil {
			c.Detail, failed = err.Error(), err
		} else {
			c.OK, c.Detail = true, "answers"
			if info.Context > 0 {
				c.Detail += fmt.Sprintf("; context of %d tokens", info.Context)
			}
			if info.Digest != "" {
				c.Detail += "; digest " + info.Digest
			}
		}
		checks = append(checks, c)
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
		for _, m := range c.Models {
			fmt.Fprintf(std.out, "      %s\n", printable(m))
		}
	}
	return failed
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
