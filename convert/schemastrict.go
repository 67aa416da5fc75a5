package convert

import (
	"fmt"
	"slices"

	"assay/qaoa"
)

// Unresolved is what stands in an argument where a source has a reference to a
// result that it does not give, as in "${id from searchUser}". Such a value
// never matches what a model says, so [CheckStrict] rejects it.
const Unresolved = "${unresolved}"

// CheckStrict returns why r does not fit the profile [Strict], or nil: the
// arguments of a call are no object (arguments_not_object), its tool is not on
// offer (unknown_tool), an argument is not among the parameters of the tool
// (unknown_argument), or a required one is missing (missing_required). Of tools
// with the same name the first counts. A tool without parameters takes any
// arguments.
//
// Path is a JSON Pointer into the record that would have been made.
func CheckStrict(r qaoa.Record) *Reject {
	for t, turn := range r.Turns {
		for s, step := range turn.Steps {
			for c, call := range step.Calls {
				path := fmt.Sprintf("/turns/%d/steps/%d/calls/%d", t, s, c)
				if rej := checkCall(r.Tools, call, path); rej != nil {
					return rej
				}
			}
		}
	}
	return nil
}

// checkCall is [CheckStrict] for one call.
func checkCall(tools []qaoa.Tool, call qaoa.Call, path string) *Reject {
	args := qaoa.ObjectValue()
	if call.Arguments != "" {
		var err error
		if args, err = call.Arguments.Value(); err != nil || args.Kind != qaoa.Object {
			return Rejectf(ArgumentsNotObject, path+"/arguments", "want an object, have %.60s", call.Arguments)
		}
	}
	i := slices.IndexFunc(tools, func(t qaoa.Tool) bool { return t.Name == call.Name })
	if i < 0 {
		return Rejectf(UnknownTool, path+"/name", "%.60q is not among the %d tools on offer", call.Name, len(tools))
	}
	schema, err := tools[i].Parameters.Value()
	if err != nil || schema.Kind != qaoa.Object {
		return nil //nolint:nilerr // a tool without a readable schema forbids nothing
	}
	given := nameSet(args)
	open, _ := schema.Get("additionalProperties")
	if props, ok := schema.Get("properties"); ok && open.Text != "true" && open.Kind != qaoa.Object {
		known := nameSet(props)
		for _, m := range args.Members {
			if !known[m.Name] {
				return Rejectf(UnknownArgument, path+"/arguments", "%.60q is no parameter of %.60q", m.Name, call.Name)
			}
		}
	}
	required, _ := schema.Get("required")
	for _, name := range required.Items {
		if !given[name.Text] {
			return Rejectf(MissingRequired, path+"/arguments", "%.60q is required by %.60q and missing", name.Text, call.Name)
		}
	}
	return nil
}

// nameSet returns the names of the members of v.
func nameSet(v qaoa.Value) map[string]bool {
	set := make(map[string]bool, len(v.Members))
	for _, m := range v.Members {
		set[m.Name] = true
	}
	return set
}
