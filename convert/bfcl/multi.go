package bfcl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"assay/convert"
	"assay/internal/pylit"
	"assay/qaoa"
)

// A class is a set of tools that a multi-turn question names.
type class struct{ tools []classTool }

// A classTool is a tool with the names of its parameters, for arguments that
// are given by position.
type classTool struct {
	tool   qaoa.Tool
	params []string
}

// classFiles maps a class to the file that describes it.
var classFiles = map[string]string{
	"GorillaFileSystem": "gorilla_file_system.json",
	"MathAPI":           "math_api.json",
	"MessageAPI":        "message_api.json",
	"TwitterAPI":        "posting_api.json",
	"TicketAPI":         "ticket_api.json",
	"TradingBot":        "trading_bot.json",
	"TravelAPI":         "travel_booking.json",
	"VehicleControlAPI": "vehicle_control.json",
}

// readClasses returns the classes that have a file in dir. That one is missing
// is no error here, but in the question that needs it.
func readClasses(ctx context.Context, fsys fs.FS, dir string) (map[string]class, error) {
	out := map[string]class{}
	var missing error
	for _, name := range slices.Sorted(maps.Keys(classFiles)) {
		c, err := readClass(ctx, fsys, path.Join(dir, classFiles[name]))
		if errors.Is(err, fs.ErrNotExist) {
			missing = err
			continue
		}
		if err != nil {
			return nil, err
		}
		out[name] = c
	}
	if len(out) == 0 {
		return nil, missing
	}
	return out, nil
}

func readClass(ctx context.Context, fsys fs.FS, name string) (class, error) {
	var c class
	for el, err := range convert.SideElements(ctx, fsys, name) {
		if err != nil {
			return class{}, err
		}
		v, err := qaoa.ParseValue(el.Data)
		if err != nil {
			return class{}, fmt.Errorf("%s: %w", el.Pos, err)
		}
		t, err := convert.NormalizeTool(v)
		if err != nil {
			return class{}, fmt.Errorf("%s: %w", el.Pos, err)
		}
		params, err := t.Parameters.Value()
		if err != nil {
			return class{}, fmt.Errorf("%s: %w", el.Pos, err)
		}
		ct := classTool{tool: t}
		props, _ := params.Get("properties")
		for _, p := range props.Members {
			ct.params = append(ct.params, p.Name)
		}
		c.tools = append(c.tools, ct)
	}
	return c, nil
}

// readMulti fills tools and the steps of the turns from the classes and the
// gold calls.
func (e *element) readMulti(truth qaoa.Value, classes map[string]class) *convert.Reject {
	involved, rej := field(e.InvolvedClasses, "involved_classes", qaoa.Array)
	if rej != nil {
		return rej
	}
	var candidates []classTool
	for i, name := range involved.Items {
		c, ok := classes[name.Text]
		if !ok {
			return convert.Rejectf(convert.UnknownTool, fmt.Sprintf("/involved_classes/%d", i), "want a class with a file in multi_turn_func_doc, have %.60q", name.Text)
		}
		candidates = append(candidates, c.tools...)
	}
	if truth.Kind != qaoa.Array || len(truth.Items) == 0 {
		return convert.Rejectf(convert.NoCall, "", "want gold calls as a list of turns, have %s", truth.Kind)
	}
	for i, turn := range truth.Items {
		if i >= len(e.turns) {
			e.surplus = append(e.surplus, turn)
			continue
		}
		for j, item := range turn.Items {
			call, tool, rej := parseCall(item, candidates)
			if rej != nil {
				rej.Detail = fmt.Sprintf("gold turn %d, call %d: %s", i, j, rej.Detail)
				return rej
			}
			e.turns[i].Steps = append(e.turns[i].Steps, qaoa.Step{Calls: []qaoa.Call{call}})
			if !e.strict && tool != nil {
				e.offer(*tool)
			}
		}
	}
	if e.strict {
		for _, t := range candidates {
			e.tools = append(e.tools, t.tool)
		}
	}
	return nil
}

// parseCall reads a gold call, and returns the tool it names, nil if there is
// none.
func parseCall(item qaoa.Value, candidates []classTool) (qaoa.Call, *qaoa.Tool, *convert.Reject) {
	if item.Kind != qaoa.String {
		return qaoa.Call{}, nil, convert.Rejectf(convert.BadCallJSON, "", "want a string, have %s", item.Kind)
	}
	py, err := pylit.ParseCall(item.Text)
	if err != nil {
		return qaoa.Call{}, nil, convert.Rejectf(convert.BadCallJSON, "", "%v in %.60q", err, item.Text)
	}
	i := slices.IndexFunc(candidates, func(t classTool) bool { return t.tool.Name == py.Name })
	args := qaoa.ObjectValue()
	for k, v := range py.Positional {
		if i < 0 || k >= len(candidates[i].params) {
			return qaoa.Call{}, nil, convert.Rejectf(convert.BadCallJSON, "", "want a parameter for every argument by position, have none for number %d of %.60q", k+1, item.Text)
		}
		name := candidates[i].params[k]
		args.Members = append(args.Members, qaoa.Member{Name: name, Value: v})
	}
	positional := args
	for _, m := range py.Keywords {
		if _, ok := positional.Get(m.Name); ok {
			return qaoa.Call{}, nil, convert.Rejectf(convert.BadCallJSON, "", "%.60q is given twice in %.60q", m.Name, item.Text)
		}
		args.Members = append(args.Members, m)
	}
	call := qaoa.Call{Name: py.Name, Arguments: args.JSON()}
	if i < 0 {
		return call, nil, nil
	}
	return call, &candidates[i].tool, nil
}
