package apibank

import (
	"slices"

	"assay/convert"
	"assay/qaoa"
)

// A builder collects the tools that were found and the calls.
type builder struct {
	keepAll bool // offer every tool found, and not only those called
	all     []qaoa.Tool
	index   map[string]int // of all, by name
	steps   []qaoa.Step
}

// found adds what a search returned: a tool, or a list of tools. All parameters
// of a tool are required.
func (b *builder) found(v qaoa.Value) error {
	if v.Kind == qaoa.Array {
		for _, item := range v.Items {
			if err := b.found(item); err != nil {
				return err
			}
		}
		return nil
	}
	params, _ := v.Get("input_parameters")
	required := qaoa.ArrayValue()
	for _, m := range params.Members {
		required.Items = append(required.Items, qaoa.StringValue(m.Name))
	}
	beside := qaoa.Member{Name: "required", Value: required}
	v.Members = append(slices.Clip(v.Members), beside)
	t, err := convert.NormalizeTool(v)
	if err != nil {
		return err
	}
	if b.index == nil {
		b.index = map[string]int{}
	}
	if _, ok := b.index[t.Name]; !ok {
		b.index[t.Name] = len(b.all)
		b.all = append(b.all, t)
	} else if b.keepAll && !slices.Contains(b.all, t) {
		b.all = append(b.all, t) // another tool by the same name
	}
	return nil
}

// call adds a step with one call.
func (b *builder) call(name string, args qaoa.Value, observation string) {
	b.steps = append(b.steps, qaoa.Step{
		Calls:        []qaoa.Call{{Name: name, Arguments: args.JSON()}},
		Observations: []string{observation},
	})
}

// finish returns the steps.
func (b *builder) finish() []qaoa.Step {
	for i, s := range b.steps {
		if s.Observations[0] == "" {
			b.steps[i].Observations = nil
		}
	}
	return b.steps
}

// tools returns the tools on offer.
func (b *builder) tools() []qaoa.Tool {
	if b.keepAll {
		return b.all
	}
	var out []qaoa.Tool
	offered := map[string]bool{}
	for _, s := range b.steps {
		name := s.Calls[0].Name
		if i, ok := b.index[name]; ok && !offered[name] {
			offered[name] = true
			out = append(out, b.all[i])
		}
	}
	return out
}
