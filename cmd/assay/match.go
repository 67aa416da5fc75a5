package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"assay/internal/raw"
	"assay/match"
	"assay/qaoa"
)

func matchCommand() command {
	return command{
		name: "match", args: "[FILE]",
		does: "tells for each line whether a predicted call matches a gold call, and why",
		help: `
A line is {"gold": …, "pred": …, "schema": …}. gold and pred are calls
({"name","arguments"}) or bare argument objects (then the names count as equal);
schema is the tool's JSON Schema and may be left out. The verdict is a line
{"name","strict","flexible","flexible_arg","why"}. A line that is not understood
gets {"error": …} and exit code 3 at the end; the others are answered. Without
FILE, stdin is read.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			preset := flags.String("preset", "paper", "matching rules: "+strings.Join(match.Presets(), ", "))
			list := flags.Bool("list", false, "list the presets with their rules, sources and known faults")
			scope := flags.String("rouge-scope", "both", "flexible verdicts to print: call, arg_min or both")
			return func(ctx context.Context, std stdio, args []string) error {
				if *list {
					return listPresets(std)
				}
				if len(args) > 1 {
					return usagef("match: want at most one file, have %d", len(args))
				}
				if *scope != "both" && *scope != "call" && *scope != "arg_min" {
					return usagef("--rouge-scope %q: want call, arg_min or both", *scope)
				}
				opt, err := match.Preset(*preset)
				if err != nil {
					return &exitError{exitUsage, err}
				}
				return runMatch(ctx, std, opt, *scope, append(args, "-")[0])
			}
		},
	}
}

func runMatch(ctx context.Context, std stdio, opt match.Options, scope, path string) error {
	bad, lines := 0, 0
	for el, err := range elements(ctx, path, raw.Lines) {
		if err != nil {
			return inputError(err)
		}
		lines++
		verdict, err := matchLine(el.Data, opt)
		out := verdictJSON(verdict, scope)
		if err != nil {
			bad++
			out = qaoa.ObjectValue(qaoa.Member{Name: "error", Value: qaoa.StringValue(el.Pos.String() + ": " + err.Error())}).JSON()
		}
		if _, err := fmt.Fprintln(std.out, out); err != nil {
			return err
		}
	}
	if bad > 0 {
		return &exitError{exitInput, fmt.Errorf("%d of %d lines were not understood; the others were answered", bad, lines)}
	}
	return nil
}

// verdictJSON is the line of a verdict, with the flexible verdicts of scope.
func verdictJSON(v match.Verdict, scope string) qaoa.JSON {
	out := qaoa.ObjectValue(
		qaoa.Member{Name: "name", Value: qaoa.BoolValue(v.Name)},
		qaoa.Member{Name: "strict", Value: qaoa.BoolValue(v.Strict)},
	)
	if scope != "arg_min" {
		out.Members = append(out.Members, qaoa.Member{Name: "flexible", Value: qaoa.BoolValue(v.Flexible)})
	}
	if scope != "call" {
		out.Members = append(out.Members, qaoa.Member{Name: "flexible_arg", Value: qaoa.BoolValue(v.FlexibleArg)})
	}
	out.Members = append(out.Members, qaoa.Member{Name: "why", Value: qaoa.StringValue(v.Why)})
	return out.JSON()
}

// bareName is the name that bare arguments get on both sides.
const bareName = "call"

func matchLine(data []byte, opt match.Options) (match.Verdict, error) {
	line, err := qaoa.ParseValue(data)
	if err != nil {
		return match.Verdict{}, err
	}
	if line.Kind != qaoa.Object {
		return match.Verdict{}, fmt.Errorf(`want {"gold": …, "pred": …}, have %s`, line.Kind)
	}
	for _, m := range line.Members {
		switch m.Name {
		case "gold", "pred", "schema":
		default:
			return match.Verdict{}, fmt.Errorf("/%.40s: unknown member; want gold, pred or schema", m.Name)
		}
	}
	gold, ok := line.Get("gold")
	if !ok {
		return match.Verdict{}, fmt.Errorf(`want a member "gold", have none`)
	}
	pred, ok := line.Get("pred")
	if !ok {
		return match.Verdict{}, fmt.Errorf(`want a member "pred", have none`)
	}
	g, goldNamed := asCall(gold)
	p, predNamed := asCall(pred)
	switch { // bare arguments against a call: the names count as equal
	case goldNamed && !predNamed:
		p.Name = g.Name
	case predNamed && !goldNamed:
		g.Name = p.Name
	}
	var tools []qaoa.Tool
	if schema, ok := line.Get("schema"); ok && schema.Kind != qaoa.Null {
		if schema.Kind != qaoa.Object {
			return match.Verdict{}, fmt.Errorf("/schema: want a JSON Schema object, have %s", schema.Kind)
		}
		tools = []qaoa.Tool{{Name: g.Name, Parameters: schema.JSON()}}
	}
	return match.Compare(g, p, tools, opt), nil
}

// asCall returns v as a call, and whether it names its tool. A call is an
// object with a string "name" and "arguments" and nothing else; any other
// value is a bare argument value, {"name": "Ada"} too.
func asCall(v qaoa.Value) (qaoa.Call, bool) {
	name, named := v.Get("name")
	args, has := v.Get("arguments")
	if named && has && name.Kind == qaoa.String && len(v.Members) == 2 {
		return qaoa.Call{Name: name.Text, Arguments: args.JSON()}, true
	}
	return qaoa.Call{Name: bareName, Arguments: v.JSON()}, false
}

// listPresets tells the rules of each preset, and the faults that can be
// repaired by NAME+FAULT.
func listPresets(std stdio) error {
	for _, name := range match.Presets() {
		p, err := match.Describe(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.out, "%s\n  rules    %s\n  source   %s\n", p.Name, p.Rules, p.Source)
		if p.Differs != "" {
			fmt.Fprintf(std.out, "  differs  %s\n", p.Differs)
		}
		for _, f := range p.Faults {
			fmt.Fprintf(std.out, "  +%-14s %s\n", f.Name, f.Doc)
		}
	}
	return nil
}
