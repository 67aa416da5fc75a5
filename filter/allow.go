package filter

import (
	"fmt"
	"iter"

	"assay/convert"
	"assay/qaoa"
)

// ReadAllow returns the signatures in a list of tools. Each element is a tool,
// as an object with "name" and, unless it has none, "description"; a pair of
// these two texts; or an array of any of them, as in a map of servers. Other
// members are ignored. An element that is none of these is an error with its
// place.
func ReadAllow(elements iter.Seq2[convert.Element, error]) (map[Signature]struct{}, error) {
	allow := map[Signature]struct{}{}
	for el, err := range elements {
		if err != nil {
			return nil, err
		}
		v, err := qaoa.ParseValue(el.Data)
		if err == nil {
			err = addAllowed(allow, v, 0)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", el.Pos, err)
		}
	}
	return allow, nil
}

func addAllowed(allow map[Signature]struct{}, v qaoa.Value, depth int) error {
	if v.Kind == qaoa.Array && len(v.Items) == 2 && v.Items[0].Kind == qaoa.String && v.Items[1].Kind == qaoa.String {
		allow[SignatureOf(qaoa.Tool{Name: v.Items[0].Text, Description: v.Items[1].Text})] = struct{}{}
		return nil
	}
	if v.Kind == qaoa.Array && depth == 0 {
		for _, item := range v.Items {
			if err := addAllowed(allow, item, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	name, _ := v.Get("name")
	description, has := v.Get("description")
	if name.Kind != qaoa.String || has && description.Kind != qaoa.String && description.Kind != qaoa.Null {
		return fmt.Errorf(`want a tool with the texts "name" and "description", or a pair of them, have %.60s`, v.JSON())
	}
	tool := qaoa.Tool{Name: name.Text}
	if description.Kind == qaoa.String {
		tool.Description = description.Text
	}
	allow[SignatureOf(tool)] = struct{}{}
	return nil
}

// Names returns the names in a list of signatures, for Filter.AllowNames.
func Names(allow map[Signature]struct{}) map[string]struct{} {
	names := make(map[string]struct{}, len(allow))
	for s := range allow {
		names[s.Name] = struct{}{}
	}
	return names
}
