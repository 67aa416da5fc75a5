package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"assay/internal/near"
)

// The exit codes, which the help lists.
const (
	exitOK           = 0
	exitGate         = 1
	exitUsage        = 2
	exitInput        = 3
	exitCoverage     = 4
	exitBackend      = 5
	exitInconclusive = 6
	exitInterrupted  = 130
)

const exitCodesHelp = `Exit codes: 0 ok, 1 gate failed, 2 usage or configuration, 3 invalid input data,
4 coverage below the floor asked for, 5 back end unreachable, 6 inconclusive,
130 interrupted with a checkpoint.`

// An exitError is an error with the exit code that it ends in.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func inputError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, err}
	}
	return &exitError{exitInput, err}
}

// A command is one verb.
type command struct {
	name string // "convert", or "stats summarize"
	args string // what follows the flags
	does string // one line
	help string // more, for "help VERB"
	// sections names the flags that may stand under a heading of their own in
	// a configuration file; nil for most verbs.
	sections map[string][]string
	// bind declares the flags and returns what runs when they are parsed.
	bind func(flags *pflag.FlagSet) func(ctx context.Context, std stdio, args []string) error
}

// commands returns the verbs in the order of the help.
func commands() []command {
	return []command{
		sourcesCommand(), convertCommand(), filterCommand(), validateCommand(), describeCommand(),
		ledgerCommand(), toolsBuildCommand(), toolsDescribeCommand(), toolsSearchCommand(), toolsClassifyCommand(), candidatesCommand(), runCommand(), runsListCommand(), runsShowCommand(), runsRemoveCommand(), runsMergeCommand(), scoreCommand(), matchCommand(),
		statsSummarizeCommand(), statsCompareCommand(), statsRankCommand(), statsPlanCommand(), statsGateCommand(), statsAuditCommand(), reportCommand(), viewCommand(), trainShardCommand(), trainProbeCommand(), trainPreflightCommand(), trainRecipeCommand(), trainVerifyCommand(),
		demoCommand(), doctorCommand(), versionCommand(),
	}
}

// run is the program without its process: arguments in, exit code out.
func run(ctx context.Context, args []string, std stdio) int {
	err := dispatch(ctx, args, std)
	if err == nil || errors.Is(err, errHelp) {
		return exitOK
	}
	if errors.Is(err, syscall.EPIPE) {
		return exitOK // the reader of our output has what it wanted
	}
	message := err.Error()
	if message == context.Canceled.Error() {
		message = "interrupted before the end" // which says who did it
	}
	fmt.Fprintf(std.err, "assay: %s\n", message)
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	return exitInput
}

// errHelp is returned when help was asked for and printed.
var errHelp = errors.New("help was printed")

func dispatch(ctx context.Context, args []string, std stdio) error {
	all := commands()
	if len(args) == 0 {
		printUsage(std.err, all)
		return usagef("want a verb, have none")
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		return help(std.out, all, args[1:])
	}
	cmd, rest, err := find(all, args)
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet(cmd.name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.SetOutput(io.Discard)
	runner := cmd.bind(flags)
	config := flags.String("config", "", "YAML `FILE` with defaults for flags")
	if err := flags.Parse(rest); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			printHelp(std.out, cmd, flags)
			return errHelp
		}
		return &exitError{exitUsage, fmt.Errorf("%s: %w; see \"assay help %s\"", cmd.name, flagError(err, flags), cmd.name)}
	}
	if err := applyConfig(all, cmd.name, flags, *config, os.LookupEnv); err != nil {
		return err
	}
	return runner(ctx, std, flags.Args())
}

// find returns the command that args begin with, and the rest.
func find(all []command, args []string) (command, []string, error) {
	var names []string
	group := false
	for _, c := range all {
		words := strings.Fields(c.name)
		if len(args) >= len(words) && slices.Equal(words, args[:len(words)]) {
			return c, args[len(words):], nil
		}
		group = group || (len(words) > 1 && words[0] == args[0])
		names = append(names, c.name)
	}
	have := args[0]
	if group && len(args) > 1 {
		have += " " + args[1]
	}
	return command{}, nil, usagef("unknown verb %q%s; \"assay help\" lists the verbs", have, didYouMean(have, names))
}

// flagError adds near names to an unknown flag.
func flagError(err error, flags *pflag.FlagSet) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return fmt.Errorf("%w%s", err, didYouMean(unknown.GetSpecifiedName(), names))
}

func help(w io.Writer, all []command, args []string) error {
	if len(args) == 0 {
		printUsage(w, all)
		return errHelp
	}
	cmd, _, err := find(all, args)
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet(cmd.name, pflag.ContinueOnError)
	flags.SortFlags = false
	cmd.bind(flags)
	flags.String("config", "", "YAML `FILE` with defaults for flags")
	printHelp(w, cmd, flags)
	return errHelp
}

func printUsage(w io.Writer, all []command) {
	fmt.Fprint(w, "Usage: assay VERB [flags] [arguments]\n\n")
	for _, c := range all {
		fmt.Fprintf(w, "  %-16s %s\n", c.name, c.does)
	}
	fmt.Fprintf(w, `
"assay help VERB" tells about one. Data goes to stdout or -o FILE (.gz and .zst
compress), talk to stderr; - is stdin or stdout. A flag may also come from the
environment (ASSAY_FLAG_NAME) or from --config FILE.yaml, in that order.

%s
`, exitCodesHelp)
}

func printHelp(w io.Writer, c command, flags *pflag.FlagSet) {
	fmt.Fprintf(w, "Usage: assay %s [flags] %s\n\n%s.\n", c.name, c.args, strings.ToUpper(c.does[:1])+c.does[1:])
	if c.help != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(c.help))
	}
	fmt.Fprintf(w, "\nFlags:\n%s\n%s\n", flags.FlagUsagesWrapped(100), exitCodesHelp)
}

// didYouMean returns a hint with the names nearest to have, or "".
func didYouMean(have string, names []string) string { return near.DidYouMean(have, names) }
