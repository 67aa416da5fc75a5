// Package recipe writes what it takes to train adapters on a folder of shards
// and to score them: a configuration of LLaMA-Factory for each seed, and a
// script that trains, serves and compares (UniToolCall, section 4.1 has the
// values). Nothing is run here.
package recipe

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/goccy/go-json"

	"assay/train"
)

// A Server is what serves the base model and its adapters.
type Server string

// The servers.
const (
	VLLM   Server = "vllm"   // LoRA modules beside the base model
	Ollama Server = "ollama" // a model for each adapter, by a Modelfile
)

// Options say what to write.
type Options struct {
	Shards string // folder that train shard wrote, in format llamafactory
	Base   string // model to train, a name on a hub or a path
	// ServeBase is the name of the base model at the server; "" is Base.
	ServeBase string
	Template  string // of LLaMA-Factory: qwen3, llama3, …
	Seeds     []uint64
	Server    Server // "" is VLLM
	Parser    string // of tool calls, for VLLM: hermes, llama3_json, …
	Out       string // folder to make
}

// maxSeeds bounds how many adapters are trained.
const maxSeeds = 100

func (o Options) complete() (Options, error) {
	if o.Server == "" {
		o.Server = VLLM
	}
	if o.ServeBase == "" {
		o.ServeBase = o.Base
	}
	for _, text := range []string{o.Base, o.ServeBase, o.Template, o.Parser, o.Shards} {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return o, fmt.Errorf("%q: want no control characters in names and paths", text)
		}
		if strings.HasPrefix(text, "-") {
			return o, fmt.Errorf("%q: want a name that is no flag", text)
		}
	}
	switch {
	case o.Base == "" || o.Template == "" || o.Out == "":
		return o, errors.New("want a base model, a template of LLaMA-Factory and a folder to make")
	case o.Server != VLLM && o.Server != Ollama:
		return o, fmt.Errorf("server %q: want %s or %s", o.Server, VLLM, Ollama)
	case o.Server == VLLM && o.Parser == "":
		return o, errors.New("want a parser of tool calls for vllm, such as hermes")
	case len(o.Seeds) == 0 || len(o.Seeds) > maxSeeds:
		return o, fmt.Errorf("want 1 to %d seeds, have %d", maxSeeds, len(o.Seeds))
	}
	for i, s := range o.Seeds {
		if slices.Contains(o.Seeds[:i], s) {
			return o, fmt.Errorf("seed %d is given twice: adapters of one seed are no repetition", s)
		}
	}
	return o, nil
}

//go:embed train.yaml.tmpl run.sh.tmpl
var sources embed.FS

var texts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"sh": shellQuote, "yaml": yamlQuote}).ParseFS(sources, "*.tmpl"))
})

// shellQuote returns s as one word of a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// yamlQuote returns s as a quoted text of YAML, which a text of JSON is.
func yamlQuote(s string) (string, error) {
	out, err := json.MarshalWithOption(s, json.DisableHTMLEscape())
	return string(out), err
}

// Write makes the folder: seed-N.yaml for each seed, run.sh, and for Ollama
// seed-N.Modelfile. A folder that is there must be empty. It returns the names
// of the files. The same options make the same bytes.
func Write(o Options) ([]string, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	m, err := train.ReadManifest(o.Shards)
	if err != nil {
		return nil, err
	}
	if m.Choices.Format != train.LlamaFactory || m.Choices.Container != train.JSONL && m.Choices.Container != train.Parquet {
		return nil, fmt.Errorf("%s: want shards of LLaMA-Factory in jsonl or parquet, have %s in %s", o.Shards, m.Choices.Format, m.Choices.Container)
	}
	if entries, err := os.ReadDir(o.Out); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty (it holds %s): name another folder", o.Out, entries[0].Name())
	}
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return nil, err
	}
	dir, err := relative(o.Out, o.Shards)
	if err != nil {
		return nil, err
	}
	type view struct {
		Options
		Dir, Dataset string
		Seed         uint64
	}
	v := view{Options: o, Dir: dir, Dataset: m.Choices.Name}
	var names []string
	write := func(name, tmpl string, mode os.FileMode) error {
		var b strings.Builder
		if err := texts().ExecuteTemplate(&b, tmpl, v); err != nil {
			return err
		}
		names = append(names, name)
		return os.WriteFile(filepath.Join(o.Out, name), []byte(b.String()), mode)
	}
	for _, v.Seed = range o.Seeds {
		if err := write(fmt.Sprintf("seed-%d.yaml", v.Seed), "train.yaml.tmpl", 0o644); err != nil {
			return nil, err
		}
		if o.Server != Ollama {
			continue
		}
		name := fmt.Sprintf("seed-%d.Modelfile", v.Seed)
		names = append(names, name)
		text := fmt.Sprintf("FROM %s\nADAPTER ./adapters/seed-%d\n", o.ServeBase, v.Seed)
		if err := os.WriteFile(filepath.Join(o.Out, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return names, write("run.sh", "run.sh.tmpl", 0o755)
}

// relative returns the path of shards as seen from out.
func relative(out, shards string) (string, error) {
	a, err1 := filepath.Abs(out)
	b, err2 := filepath.Abs(shards)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	return filepath.Rel(a, b)
}
