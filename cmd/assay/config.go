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
	if err := openSections(all, doc); err != nil {
		return nil, err
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

// openSections moves what stands in the sections of a verb, at the top of the
// file or under the name of the verb, right under that name.
func openSections(all []command, doc map[string]any) error {
	for _, c := range all {
		own, ok := doc[c.name].(map[string]any)
		if !ok {
			own = map[string]any{}
		}
		for _, section := range slices.Sorted(maps.Keys(c.sections)) {
			for _, level := range []map[string]any{doc, own} {
				keys, ok := level[section].(map[string]any)
				if !ok {
					continue // a flag of that name, or nothing
				}
				delete(level, section)
				for _, key := range slices.Sorted(maps.Keys(keys)) {
					if !slices.Contains(c.sections[section], key) {
						return fmt.Errorf("unknown key %q under %q%s", key, section, didYouMean(key, c.sections[section]))
					}
					if _, ok := own[key]; ok {
						return fmt.Errorf("%q stands under %q and somewhere else: want it once", key, section)
					}
					own[key] = keys[key]
				}
			}
		}
		if len(own) > 0 {
			doc[c.name] = own
		}
	}
	return nil
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
	if pairs, ok := v.(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(pairs)) {
			if err := flags.Set(f.Name, fmt.Sprintf("%s=%v", name, pairs[name])); err != nil {
				return err
			}
		}
		return nil
	}
	return flags.Set(f.Name, fmt.Sprint(v))
}
