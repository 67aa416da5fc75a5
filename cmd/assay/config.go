package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"
)

// applyConfig fills the flags that the command line left alone: from the
// environment (ASSAY_FLAG_NAME), else from the file, where a key is a flag, or
// a verb with its flags below it:
//
//	workers: 2
//	run:
//	  model: ollama/qwen3:8b
//
// A key that names neither is an error.
func applyConfig(all []command, verb string, flags *pflag.FlagSet, file string, env func(string) (string, bool)) error {
	values := map[string]any{}
	if file == "" {
		file, _ = env("ASSAY_CONFIG")
	}
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return usagef("--config: %v", err)
		}
		if values, err = configValues(all, verb, data); err != nil {
			return usagef("--config %s: %v", file, err)
		}
	}
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || failed != nil || f.Name == "config" {
			return
		}
		name := "ASSAY_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if v, ok := env(name); ok {
			if err := flags.Set(f.Name, v); err != nil {
				failed = usagef("environment %s: %v", name, err)
			}
			return
		}
		if v, ok := values[f.Name]; ok {
			if err := setFlag(flags, f, v); err != nil {
				failed = usagef("--config %s: %s: %v", file, f.Name, err)
			}
		}
	})
	return failed
}

// configValues returns the values of a file that concern verb, by flag name.
func configValues(all []command, verb string, data []byte) (map[string]any, error) {
	var doc map[string]any
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("want YAML: %w", err)
	}
	flagsOf := map[string][]string{}
	var known []string
	for _, c := range all {
		fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
		c.bind(fs)
		known = append(known, c.name)
		fs.VisitAll(func(f *pflag.Flag) {
			flagsOf[c.name] = append(flagsOf[c.name], f.Name)
			if !slices.Contains(known, f.Name) {
				known = append(known, f.Name)
			}
		})
	}
	values := map[string]any{}
	for key, v := range doc {
		section, isSection := v.(map[string]any)
		switch {
		case isSection && flagsOf[key] != nil:
			for name, v := range section {
				if !slices.Contains(flagsOf[key], name) {
					return nil, fmt.Errorf("unknown key %q under %q%s", name, key, didYouMean(name, flagsOf[key]))
				}
				if key == verb {
					values[name] = v
				}
			}
		case !slices.Contains(known, key):
			return nil, fmt.Errorf("unknown key %q%s", key, didYouMean(key, known))
		default:
			if _, ok := values[key]; !ok && slices.Contains(flagsOf[verb], key) {
				values[key] = v
			}
		}
	}
	// The section of the verb outranks a key at the top, whichever the loop
	// met first.
	if section, ok := doc[verb].(map[string]any); ok {
		maps.Copy(values, section)
	}
	return values, nil
}

func setFlag(flags *pflag.FlagSet, f *pflag.Flag, v any) error {
	if list, ok := v.([]any); ok {
		if s, ok := f.Value.(pflag.SliceValue); ok {
			var items []string
			for _, item := range list {
				items = append(items, fmt.Sprint(item))
			}
			f.Changed = true
			return s.Replace(items)
		}
		return fmt.Errorf("want one value, have a list")
	}
	return flags.Set(f.Name, fmt.Sprint(v))
}
