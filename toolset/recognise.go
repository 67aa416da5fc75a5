package toolset

import (
	"fmt"
	"slices"
	"strings"

	"assay/qaoa"
)

// A Raw is one tool as its source has it.
type Raw struct {
	Value qaoa.Value // the tool as JSON, in the words of the source
	Path  string     // JSON Pointer to it in its element
	// Origin is the corpus that the element itself names, "" if it names none.
	Origin string
}

// maxNesting is how deep a tool may lie in its element: a map of servers of
// pages of lists has four levels.
const maxNesting = 8

// listWords are the members of a row that hold the tools on offer, each a list,
// a map or a JSON text of either.
var listWords = []string{"tools", "available_tools", "functions", "multiple_tools", "function", "positive", "negative"}

// nameWords are the members that name a tool.
var nameWords = []string{"name", "api_name", "apiCode", "tool_name"}

// Tools returns the tools in one element of a file, in order, by its content:
//
//   - a tool in any dialect, also as a JSON text or in OpenAI's wrapper;
//   - a list of tools, a map from ids to tools, a map from servers to lists;
//   - a record, in native or interchange form: the tools on offer;
//   - a result of MCP's tools/list, alone, in a JSON-RPC response, or the entry
//     of a server with its tools;
//   - a row of a corpus whose member tools (FC-RewardBench, xLAM, ToolHop),
//     available_tools (Toucan), function or functions (BFCL, ACEBench),
//     multiple_tools (HammerBench), or positive and negative (ToolRet) holds
//     any of these, as JSON or as a JSON text.
//
// A list may be empty. An element that is none of these, and a part that is no
// tool where tools must be, is an error with its place, of type *[qaoa.Error].
func Tools(element qaoa.Value) ([]Raw, error) {
	f := finder{}
	if err := f.find(element, "", 0); err != nil {
		return nil, err
	}
	return f.found, nil
}

type finder struct {
	found  []Raw
	origin string
	ranked bool // in a row of ToolRet, where api_name goes before name
}

func (f *finder) find(v qaoa.Value, path string, depth int) error {
	v = unwrapText(v)
	switch {
	case depth > maxNesting:
		return &qaoa.Error{Path: path, Msg: fmt.Sprintf("want tools at most %d levels deep", maxNesting)}
	case v.Kind == qaoa.Array:
		for i, item := range v.Items {
			if err := f.find(item, fmt.Sprintf("%s/%d", path, i), depth+1); err != nil {
				return err
			}
		}
		return nil
	case v.Kind != qaoa.Object:
		return &qaoa.Error{Path: path, Msg: fmt.Sprintf("want a tool or a list of tools, have %.60s", v.JSON())}
	}
	if turns, ok := v.Get("turns"); ok && turns.Kind == qaoa.Array {
		return f.record(v, path, depth)
	}
	if r, ok := v.Get("result"); ok && r.Kind == qaoa.Object && !isTool(v) {
		return f.find(r, path+"/result", depth+1)
	}
	if lists := rowLists(v); len(lists) > 0 {
		_, f.ranked = v.Get("positive")
		for _, m := range lists {
			if err := f.list(m, path, depth); err != nil {
				return err
			}
		}
		return nil
	}
	if isTool(v) {
		if f.ranked {
			v = preferAPI(v)
		}
		f.found = append(f.found, Raw{Value: v, Path: path, Origin: f.origin})
		return nil
	}
	return f.members(v, path, depth)
}

// record finds the tools of a record, whose source is their origin.
func (f *finder) record(v qaoa.Value, path string, depth int) error {
	source, _ := v.Get("source")
	name, _ := source.Get("name")
	f.origin = name.Text
	tools, _ := v.Get("tools")
	if tools.Kind != qaoa.Array {
		return &qaoa.Error{Path: path + "/tools", Msg: "want the tools of a record as a list, have " + tools.Kind.String()}
	}
	return f.find(tools, path+"/tools", depth+1)
}

// list finds the tools in a member of a row.
func (f *finder) list(m qaoa.Member, path string, depth int) error {
	if m.Value.Kind == qaoa.String && strings.TrimSpace(m.Value.Text) == "" {
		return nil // no tool is on offer
	}
	return f.find(m.Value, path+"/"+pointer(m.Name), depth+1)
}

// members finds the tools in a map from ids or servers.
func (f *finder) members(v qaoa.Value, path string, depth int) error {
	if len(v.Members) == 0 {
		return &qaoa.Error{Path: path, Msg: "want a tool or a list of tools, have an empty object"}
	}
	for _, m := range v.Members {
		if m.Value.Kind == qaoa.Object || m.Value.Kind == qaoa.Array {
			continue
		}
		names := make([]string, 0, 6)
		for _, m := range v.Members[:min(len(v.Members), 6)] {
			names = append(names, m.Name)
		}
		return &qaoa.Error{Path: path, Msg: fmt.Sprintf(
			"want a tool (with a name and parameters) or a list of tools (%s), have an object with %s",
			strings.Join(listWords[:3], ", "), strings.Join(names, ", "))}
	}
	for _, m := range v.Members {
		if err := f.find(m.Value, path+"/"+pointer(m.Name), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// rowLists returns the members of a row that hold tools: one, or positive and
// negative.
func rowLists(v qaoa.Value) []qaoa.Member {
	var out []qaoa.Member
	for _, word := range listWords {
		list, ok := v.Get(word)
		if !ok || !holdsTools(word, list) {
			continue
		}
		out = append(out, qaoa.Member{Name: word, Value: list})
		if word != "positive" {
			break
		}
	}
	return out
}

// holdsTools reports whether a member with that name may hold a list of tools.
// Only in tools can an empty one be told from other things of that name.
func holdsTools(word string, v qaoa.Value) bool {
	if v.Kind == qaoa.String && word == "tools" {
		return true
	}
	list := unwrapText(v)
	switch list.Kind {
	case qaoa.Array:
		return !slices.ContainsFunc(list.Items, func(item qaoa.Value) bool { return unwrapText(item).Kind != qaoa.Object })
	case qaoa.Object:
		return word == "tools"
	}
	return false
}

// isTool reports whether v has a name as tools have it, or is OpenAI's wrapper
// around one.
func isTool(v qaoa.Value) bool {
	v = unwrap(v)
	return slices.ContainsFunc(nameWords, func(word string) bool {
		name, _ := v.Get(word)
		return name.Kind == qaoa.String
	})
}

// preferAPI returns the tool with api_name and api_description as its name and
// description, where it has them: in ToolRet, name may be that of a group.
func preferAPI(v qaoa.Value) qaoa.Value {
	v.Members = slices.Clone(v.Members)
	for from, to := range map[string]string{"api_name": "name", "api_description": "description"} {
		text, _ := v.Get(from)
		if text.Kind != qaoa.String || text.Text == "" {
			continue
		}
		for i := range v.Members {
			if v.Members[i].Name == to {
				v.Members[i].Value = text
			}
		}
	}
	return v
}

// pointer returns name as a token of a JSON Pointer.
func pointer(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
