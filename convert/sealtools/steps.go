package sealtools

import (
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// placeholder is how the name of a result begins; digits follow.
const placeholder = "API_call_"

// A builder groups calls into steps.
type builder struct {
	tools      map[string]qaoa.Tool
	offered    []qaoa.Tool
	steps      []qaoa.Step
	unresolved []qaoa.Value
	observed   bool           // some call has an observation
	step       map[string]int // placeholder → the step that returns it
	seen       map[string]bool
}

// add adds one call.
func (b *builder) add(item qaoa.Value, path string) *convert.Reject {
	api, rej := convert.Field(item, path, "api", qaoa.String)
	if rej != nil {
		rej.Code = convert.BadCallJSON
		return rej
	}
	params, ok := item.Get("parameters")
	if params.Kind == qaoa.String {
		if inner, err := qaoa.ParseValue(params.Text); err == nil && inner.Kind == qaoa.Object {
			params = inner
		}
	}
	switch {
	case !ok || params.Kind == qaoa.Null:
		params = qaoa.ObjectValue()
	case params.Kind != qaoa.Object:
		return convert.Rejectf(convert.ArgumentsNotObject, path+"/parameters", "want an object, have %s", show(params))
	}
	responses, _ := item.Get("responses")

	if b.step == nil {
		b.step, b.seen = map[string]int{}, map[string]bool{}
	}
	last := len(b.steps) - 1
	depends := false
	eachPlaceholder(params, func(name string) {
		s, ok := b.step[name]
		if !ok {
			b.unresolved = append(b.unresolved, qaoa.StringValue(name))
		}
		depends = depends || ok && s == last
	})
	if last < 0 || depends {
		b.steps = append(b.steps, qaoa.Step{})
		last++
	}
	step := &b.steps[last]
	step.Calls = append(step.Calls, qaoa.Call{Name: api.Text, Arguments: params.JSON()})
	step.Observations = append(step.Observations, observation(responses))
	b.observed = b.observed || step.Observations[len(step.Observations)-1] != ""
	for _, r := range responses.Items {
		b.step[r.Text] = last
	}
	if t, ok := b.tools[api.Text]; ok && !b.seen[api.Text] {
		b.seen[api.Text] = true
		b.offered = append(b.offered, t)
	}
	return nil
}

// finish returns the steps.
func (b *builder) finish() []qaoa.Step {
	if !b.observed {
		for i := range b.steps {
			b.steps[i].Observations = nil
		}
	}
	return b.steps
}

// observation returns what a call with these responses returned.
func observation(responses qaoa.Value) string {
	switch {
	case responses.Kind != qaoa.Array || len(responses.Items) == 0:
		return ""
	case len(responses.Items) == 1 && responses.Items[0].Kind == qaoa.String:
		return responses.Items[0].Text
	}
	return string(responses.JSON())
}

// eachPlaceholder calls f with every placeholder that a string in v holds.
func eachPlaceholder(v qaoa.Value, f func(name string)) {
	if v.Kind == qaoa.String {
		for rest := v.Text; ; {
			i := strings.Index(rest, placeholder)
			if i < 0 {
				break
			}
			digits := rest[i+len(placeholder):]
			n := len(digits) - len(strings.TrimLeft(digits, "0123456789"))
			if n > 0 {
				f(placeholder + digits[:n])
			}
			rest = digits[n:]
		}
	}
	for _, item := range v.Items {
		eachPlaceholder(item, f)
	}
	for _, m := range v.Members {
		eachPlaceholder(m.Value, f)
	}
}

// meta returns the difficulty that the id says, and the unresolved
// placeholders.
func (b *builder) meta(id string) qaoa.JSON {
	m := qaoa.ObjectValue()
	if parts := strings.Split(id, "-"); len(parts) == 3 {
		m.Members = append(m.Members, qaoa.Member{Name: "difficulty", Value: qaoa.StringValue(parts[1])})
	}
	if len(b.unresolved) > 0 {
		m.Members = append(m.Members, qaoa.Member{Name: "unresolved", Value: qaoa.ArrayValue(b.unresolved...)})
	}
	if len(m.Members) == 0 {
		return ""
	}
	return m.JSON()
}
