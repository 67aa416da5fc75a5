package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/convert/all"
	"assay/internal/raw"
	"assay/mcp"
	"assay/openapi"
	"assay/qaoa"
	"assay/toolset"
)

// A toolInput is one input of "tools build" as the user named it.
type toolInput struct {
	origin string // "" takes what the tools say, or the name of the file
	path   string
	source string // of raw files that are converted, "" for others
	server bool   // path is the endpoint of an MCP server
}

// An originName is a word that can stand before = or : to name an origin.
var originName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN][\pL\pN._ -]*$`) })

// parseToolInput reads [ORIGIN=]PATH, [ORIGIN=]SOURCE:PATH, [ORIGIN=]mcp:ENDPOINT
// or ORIGIN:PATH.
func parseToolInput(arg string) (toolInput, error) {
	var in toolInput
	rest := arg
	if name, after, ok := strings.Cut(arg, "="); ok && !exists(arg) && originName().MatchString(name) {
		in.origin, rest = strings.TrimSpace(name), after
	}
	in.path = rest
	name, after, ok := strings.Cut(rest, ":")
	switch {
	case rest == "":
		return in, usagef("tools build: %q names no file", arg)
	case !ok || rest == "-" || exists(rest):
		return in, nil
	case name == "mcp":
		in.server, in.path = true, after
		return in, nil
	case isSource(name):
		in.source, in.path = name, after
		return in, nil
	case in.origin == "" && originName().MatchString(name) && (after == "-" || exists(after)):
		in.origin, in.path = name, after
	}
	return in, nil
}

func isSource(name string) bool {
	_, err := all.Lookup(name)
	return err == nil
}

// toolInputs reads the inputs, and the names of their origins.
func toolInputs(args, origins []string) ([]toolInput, error) {
	inputs := make([]toolInput, len(args))
	for i, arg := range args {
		in, err := parseToolInput(arg)
		if err != nil {
			return nil, err
		}
		inputs[i] = in
	}
	for _, o := range origins {
		name, path, ok := strings.Cut(o, "=")
		if !ok {
			name, path, ok = strings.Cut(o, ":")
		}
		if !ok || name == "" {
			return nil, usagef("--origin %q: want NAME=INPUT", o)
		}
		at := slices.Index(args, path)
		if at < 0 {
			return nil, usagef("--origin %q: %s is no input; the inputs are %s", o, path, strings.Join(args, ", "))
		}
		inputs[at].origin = name
	}
	return inputs, nil
}

// A toolReader yields the elements of inputs that hold tools.
type toolReader struct {
	std    stdio
	inputs []toolInput
	told   int // findings on OpenAPI documents that were printed or counted
}

// elements yields the elements of the inputs, in order.
func (r *toolReader) elements(ctx context.Context) iter.Seq2[toolset.Element, error] {
	return func(yield func(toolset.Element, error) bool) {
		for _, in := range r.inputs {
			seq := r.files(ctx, in)
			switch {
			case in.server:
				seq = serverTools(ctx, in)
			case in.source != "":
				seq = recordTools(ctx, in)
			}
			for el, err := range seq {
				if !yield(el, err) || err != nil {
					return
				}
			}
		}
	}
}

// recordTools yields the tools of the records that raw files convert to.
func recordTools(ctx context.Context, in toolInput) iter.Seq2[toolset.Element, error] {
	return func(yield func(toolset.Element, error) bool) {
		for rec, err := range strictRecords(ctx, []string{in.source + ":" + in.path}) {
			if err == nil && len(rec.Tools) == 0 {
				continue // of a conversation without tools
			}
			el := toolset.Element{
				Pos:    qaoa.Pos{File: rec.Source.File, Index: rec.Source.Index},
				Origin: in.origin, Fallback: in.source, Tools: rec.Tools,
			}
			if !yield(el, err) || err != nil {
				return
			}
		}
	}
}

// serverTools yields the tools of a live MCP server. Its endpoint is shown
// nowhere, since a command line or an address may hold a key.
func serverTools(ctx context.Context, in toolInput) iter.Seq2[toolset.Element, error] {
	return func(yield func(toolset.Element, error) bool) {
		client, err := mcp.Connect(ctx, in.path, mcp.Options{})
		if err != nil {
			yield(toolset.Element{}, serverError(ctx, err))
			return
		}
		origin := cmp.Or(in.origin, "mcp")
		defer func() { _ = client.Close() }() // it has said all that is wanted
		i := 0
		for t, err := range client.Tools(ctx) {
			el := toolset.Element{Pos: qaoa.Pos{File: "mcp:" + origin, Index: i}, Origin: origin, Tools: []qaoa.Tool{t}}
			if bad, ok := errors.AsType[*mcp.Reject](err); ok {
				el.Tools, el.Err = nil, bad
			} else if err != nil {
				yield(toolset.Element{}, serverError(ctx, err))
				return
			}
			if !yield(el, nil) {
				return
			}
			i++
		}
	}
}

// serverError returns the error of an MCP server with its exit code.
func serverError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &exitError{exitBackend, err}
}

// files yields the elements of files.
func (r *toolReader) files(ctx context.Context, in toolInput) iter.Seq2[toolset.Element, error] {
	return func(yield func(toolset.Element, error) bool) {
		files, err := raw.Expand([]string{in.path})
		if err != nil {
			yield(toolset.Element{}, err)
			return
		}
		for _, f := range files {
			for el, err := range r.file(ctx, f) {
				el.Origin, el.Fallback = in.origin, stem(f.Name)
				if !yield(el, err) || err != nil {
					return
				}
			}
		}
	}
}

// stem returns the name of a file without folders, and without what says how it
// is kept.
func stem(name string) string {
	name = filepath.Base(filepath.ToSlash(name))
	for {
		switch ext := strings.ToLower(filepath.Ext(name)); ext {
		case ".gz", ".zst", ".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".parquet":
			name = name[:len(name)-len(ext)]
		default:
			return name
		}
	}
}

// headOfFile is how much of a file tells that it is YAML.
const headOfFile = 16 << 10

var (
	yamlOpenAPI = regexp.MustCompile(`(?m)^(openapi|swagger)[ \t]*:`)
	jsonOpenAPI = []byte(`"openapi"`)
)

// file yields the elements of one file: those that the raw reader finds, or the
// whole file if it is an OpenAPI document in YAML, which has no elements.
func (r *toolReader) file(ctx context.Context, f raw.InputFile) iter.Seq2[toolset.Element, error] {
	return func(yield func(toolset.Element, error) bool) {
		file, err := f.Open()
		if err != nil {
			yield(toolset.Element{}, err)
			return
		}
		defer func() { _ = file.Close() }() // it was only read
		buf := bufio.NewReaderSize(file, headOfFile)
		head, _ := buf.Peek(headOfFile) // an error comes again on reading
		if yamlDocument(head) {
			data, err := io.ReadAll(io.LimitReader(buf, openAPILimit+1))
			if err != nil {
				yield(toolset.Element{}, fmt.Errorf("%s: %w", f.Name, err))
				return
			}
			yield(r.document(qaoa.Pos{File: f.Name}, data), nil)
			return
		}
		// The reader of Parquet wants the file itself.
		var in io.Reader = buf
		if bytes.HasPrefix(head, []byte("PAR1")) {
			if s, ok := file.(io.Seeker); ok {
				if _, err := s.Seek(0, io.SeekStart); err == nil {
					in = file
				}
			}
		}
		for el, err := range raw.Read(ctx, in, f.Name, raw.Options{}) {
			out := toolset.Element{Pos: el.Pos, Data: el.Data}
			switch pos, ok := raw.Skippable(err); {
			case ok:
				out.Pos, out.Err = pos, err
			case err != nil:
				yield(toolset.Element{}, err)
				return
			case bytes.Contains(el.Data[:min(len(el.Data), headOfFile)], jsonOpenAPI) && openAPIDocument(el.Data):
				out = r.document(el.Pos, el.Data)
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// openAPILimit bounds the bytes of a document, as package openapi does.
const openAPILimit = 64 << 20

func yamlDocument(head []byte) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	return len(start) > 0 && start[0] != '{' && start[0] != '[' && yamlOpenAPI.Match(head)
}

// openAPIDocument reports whether a JSON text is an OpenAPI document by its
// members.
func openAPIDocument(data []byte) bool {
	v, err := qaoa.ParseValue(data)
	if err != nil {
		return false
	}
	version, _ := v.Get("openapi")
	return version.Kind == qaoa.String
}

// document returns the tools of an OpenAPI document, and tells what was left
// out of it.
func (r *toolReader) document(pos qaoa.Pos, data []byte) toolset.Element {
	tools, findings, err := openapi.Tools(data, openapi.Options{})
	for _, f := range findings {
		if r.told++; r.told <= maxShown {
			fmt.Fprintln(r.std.err, printable(fmt.Sprintf("%s: %s", pos.File, f)))
		}
	}
	if err == nil && len(tools) == 0 {
		err = errors.New("the OpenAPI document has no operations")
	}
	return toolset.Element{Pos: pos, Tools: tools, Err: err}
}

// end tells how many findings were not shown.
func (r *toolReader) end() {
	if r.told > maxShown {
		fmt.Fprintf(r.std.err, "… and %d more findings on OpenAPI documents\n", r.told-maxShown)
	}
}

// poolEntries yields the tools of files, in any form that "tools build" reads,
// normalised. The first element that holds no tool ends the stream: for commands
// that work on a pool as it is.
func poolEntries(ctx context.Context, std stdio, paths []string) iter.Seq2[toolset.Entry, error] {
	return func(yield func(toolset.Entry, error) bool) {
		inputs, err := toolInputs(paths, nil)
		if err != nil {
			yield(toolset.Entry{}, err)
			return
		}
		r := &toolReader{std: std, inputs: inputs}
		for el, err := range r.elements(ctx) {
			if err != nil {
				yield(toolset.Entry{}, err)
				return
			}
			entries, err := el.Entries()
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(toolset.Entry{}, err)
				return
			}
		}
		r.end()
	}
}
