package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-json"

	"assay/internal/lexical"
	"assay/toolset"
)

// realPool are the inputs of the pool of all real tool lists, in order of
// priority. The files of a source are converted for those whose tools lie in
// prose or code.
var realPool = []struct{ origin, glob string }{
	{"unitoolcall", "../unitoolcall/toolset.first15.json"},
	{"bfcl-docs", "bfcl/data/multi_turn_func_doc/*.json"},
	{"bfcl", "bfcl/data/BFCL_v3_*.json"},
	{"acebench", "acebench/data_all/data_en/data_*.json"},
	{"seal-tools", "seal-tools/Seal-Tools_Dataset/tool.jsonl"},
	{"hammerbench", "hammerbench/data/en/*-turn/*.json"},
	{"api-bank", "api-bank"},
	{"toolalpaca", "toolalpaca"},
}

// A countedTool is a tool as the second count sees it: plain maps, nothing of
// the program.
type countedTool struct {
	origin, name, description string
	properties                map[string]any
	required                  []any
}

// toolOf reads a tool of any of the real dialects.
func toolOf(origin string, m map[string]any) countedTool {
	t := countedTool{origin: origin, properties: map[string]any{}}
	for _, k := range []string{"name", "api_name"} {
		if s, ok := m[k].(string); ok {
			t.name = s
		}
	}
	for _, k := range []string{"description", "api_description"} {
		if s, ok := m[k].(string); ok {
			t.description = s
		}
	}
	t.required, _ = m["required"].([]any)
	for _, k := range []string{"parameters", "inputSchema", "arguments"} {
		schema, ok := m[k].(map[string]any)
		if !ok {
			continue
		}
		props, nested := schema["properties"].(map[string]any)
		_, typed := schema["type"].(string)
		if nested && typed {
			t.properties = props
			if r, ok := schema["required"].([]any); ok {
				t.required = r
			}
		} else if !typed {
			t.properties = schema
		}
		break
	}
	return t
}

// countedTools reads the tools of one file, or of converted records.
func countedTools(t *testing.T, origin, file string) []countedTool {
	t.Helper()
	data := read(t, file)
	dec := json.NewDecoder(bytes.NewReader(data))
	var out []countedTool
	add := func(list any) {
		items, _ := list.([]any)
		for _, item := range items {
			out = append(out, toolOf(origin, item.(map[string]any)))
		}
	}
	row := func(m map[string]any) {
		for _, k := range []string{"tools", "function", "multiple_tools"} {
			if list, ok := m[k]; ok {
				add(list)
				return
			}
		}
		if toolOf(origin, m).name != "" {
			out = append(out, toolOf(origin, m))
		}
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		var rows []map[string]any
		if err := dec.Decode(&rows); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, m := range rows {
			row(m)
		}
		return out
	}
	for dec.More() {
		var m map[string]any
		if err := dec.Decode(&m); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if _, ok := m["15"]; !ok {
			row(m)
			continue
		}
		for i := 1; i <= len(m); i++ { // a map from ids
			out = append(out, toolOf(origin, m[fmt.Sprint(i)].(map[string]any)))
		}
	}
	return out
}

const temporalWords = "date dates time times datetime timestamp start_time end_time start_date end_date pick_up_time drop_off_time " +
	"pickup_time dropoff_time pick_up_date drop_off_date pickup_date dropoff_date duration when schedule scheduled " +
	"day days hour hours minute minutes second seconds period periods year years month months week weeks"

// paperTemporal is the test of the paper's scripts, a regular expression a word
// for the rules in lower case and one for those of camel case. Most texts hold
// no word at all, which takes no regular expression to see.
var paperTemporal = func() func(string) bool {
	type rule struct {
		word          string
		folded, camel *regexp.Regexp
	}
	var rules []rule
	for k := range strings.FieldsSeq(temporalWords) {
		title := strings.ToUpper(k[:1]) + k[1:]
		rules = append(rules, rule{
			k, regexp.MustCompile(`\b` + k + `\b|[_\-\s]` + k + `[_\-\s]|^` + k + `[_\-\s]|[_\-\s]` + k + `$`),
			regexp.MustCompile(k + `[A-Z]|[a-z]` + title + `|` + title + `[A-Z]|[A-Z]` + title),
		})
	}
	return func(s string) bool {
		low := strings.ToLower(s)
		return slices.ContainsFunc(rules, func(r rule) bool {
			return strings.Contains(low, r.word) && (r.folded.MatchString(low) || r.camel.MatchString(s))
		})
	}
}()

var camelEdge = regexp.MustCompile(`([a-z])([A-Z])|([A-Z])([A-Z][a-z])`)

// repairedTemporal is the repaired rule, told by cutting the text into words.
func repairedTemporal(s string, name bool) bool {
	if !paperTemporal(s) {
		return false
	}
	cut := camelEdge.ReplaceAllString(camelEdge.ReplaceAllString(s, "$1$3 $2$4"), "$1$3 $2$4")
	words := strings.FieldsFunc(strings.ToLower(cut), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	for i, w := range words {
		switch {
		case w == "when":
			if name {
				return true
			}
		case w == "second" && name:
			if !strings.ContainsFunc(strings.Join(words[i+1:], ""), unicode.IsLetter) {
				return true
			}
		case w == "second":
			before := ""
			if i > 0 {
				before = words[i-1]
			}
			if before == "one" || before == "per" || before != "" && strings.Trim(before, "0123456789") == "" || strings.Contains(s, "second(s)") {
				return true
			}
		case slices.Contains(strings.Fields(temporalWords), w):
			return true
		}
	}
	return false
}

// temporalTool is a test of text for a whole tool.
func temporalTool(t countedTool, test func(s string, name bool) bool) bool {
	if test(t.description, false) {
		return true
	}
	for name, p := range t.properties {
		schema, _ := p.(map[string]any)
		d, _ := schema["description"].(string)
		if test(name, true) || test(d, false) {
			return true
		}
	}
	for _, r := range t.required {
		if s, ok := r.(string); ok && test(s, true) {
			return true
		}
	}
	return false
}

// secondCount applies the stages up to empty to tools in order and returns, by
// stage, how many of each origin are left, and what is left in the end.
func secondCount(tools []countedTool, test func(s string, name bool) bool) (after map[string][]int, left []countedTool) {
	after = map[string][]int{}
	count := func(list []countedTool) {
		n := map[string]int{}
		for _, t := range list {
			n[t.origin]++
		}
		for _, in := range realPool {
			after[in.origin] = append(after[in.origin], n[in.origin])
		}
	}
	count(tools) // read
	count(tools) // none is lost to normalisation
	seen := map[string]bool{}
	tools = slices.DeleteFunc(slices.Clone(tools), func(t countedTool) bool {
		key := strings.TrimSpace(t.name) + "\n" + strings.TrimSpace(t.description)
		twice := seen[key]
		seen[key] = true
		return twice
	})
	count(tools)
	tools = slices.DeleteFunc(tools, func(t countedTool) bool { return temporalTool(t, test) })
	count(tools)
	tools = slices.DeleteFunc(tools, func(t countedTool) bool { return len(t.properties) == 0 })
	count(tools)
	return after, tools
}

// TestRealPool builds a pool of all real tool lists and counts a second time.
func TestRealPool(t *testing.T) {
	raw := realData(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var tools []countedTool
	var inputs []string
	for _, in := range realPool {
		files, err := filepath.Glob(filepath.Join(raw, filepath.FromSlash(in.glob)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", in.glob, err)
		}
		if in.origin == in.glob { // a source
			inputs = append(inputs, in.origin+":"+files[0])
			assay(t, "convert", in.origin, files[0], "-o", path("records.jsonl"))
			files = []string{path("records.jsonl")}
		} else {
			inputs = append(inputs, in.origin+"="+filepath.Join(raw, filepath.FromSlash(in.glob)))
		}
		for _, f := range files {
			tools = append(tools, countedTools(t, in.origin, f)...)
		}
	}
	build := func(flags ...string) toolset.Flow {
		var flow toolset.Flow
		args := append([]string{"tools", "build", "-o", path("pool.jsonl"), "--summary", path("sum.json"), "--ledger", path("ledger.jsonl"), "--figure", path("flow.svg")}, flags...)
		_, text := assay(t, append(args, inputs...)...)
		t.Logf("tools build %s\n%s", strings.Join(flags, " "), text)
		readJSON(t, path("sum.json"), &flow)
		return flow
	}
	paper, _ := secondCount(tools, func(s string, _ bool) bool { return paperTemporal(s) })
	sameCounts(t, build("--temporal", "paper", "--stages", "normalise,exact,temporal,empty"), paper)
	repaired, left := secondCount(tools, repairedTemporal)
	flow := build()
	sameCounts(t, flow, repaired)
	semanticCount(t, left, path("pool.jsonl"), flow)
	checkLedger(t, path("ledger.jsonl"), flow.Unreadable+flow.Total.Read-flow.Total.Kept())
	describePool(t, path("pool.jsonl"), flow.Total.Kept())
	realLists(t, raw, path)
}

// sameCounts compares the table with the second count.
func sameCounts(t *testing.T, flow toolset.Flow, want map[string][]int) {
	t.Helper()
	if len(flow.Origins) != len(realPool) {
		t.Fatalf("%d origins, want %d", len(flow.Origins), len(realPool))
	}
	for _, o := range flow.Origins {
		have := append([]int{o.Read}, o.After[:4]...)
		if !slices.Equal(have, want[o.Origin]) {
			t.Errorf("%s: %v tools read and left by normalise, exact, temporal, empty; the second count says %v", o.Origin, have, want[o.Origin])
		}
	}
}

// semanticCount checks the semantic stage by comparing texts one by one: each
// removed tool is too near to one that was kept before it, and (of every
// twentieth) no kept tool is.
func semanticCount(t *testing.T, left []countedTool, pool string, flow toolset.Flow) {
	t.Helper()
	kept := map[string]bool{}
	for line := range strings.Lines(string(read(t, pool))) {
		e, err := toolset.DecodeEntry([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		kept[toolset.Key(e.Tool)] = true
	}
	texts := make([]string, len(left))
	for i, tool := range left {
		texts[i] = strings.TrimSpace(tool.name) + "\n" + strings.TrimSpace(tool.description)
	}
	x := lexical.NewIndex(texts)
	removed := 0
	for i, text := range texts {
		if kept[text] && i%20 != 0 {
			continue
		}
		near := false
		for j := range i {
			if kept[texts[j]] && lexical.Cosine(x.Doc(i), x.Doc(j)) > .9 {
				near = true
				break
			}
		}
		if near == kept[text] {
			t.Errorf("%.60q is kept: %v, too near to an earlier one: %v", text, kept[text], near)
		}
		if !kept[text] {
			removed++
		}
	}
	if want := len(left) - flow.Total.Kept(); removed != want {
		t.Errorf("%d tools removed for being similar, the table says %d", removed, want)
	}
}

func describePool(t *testing.T, pool string, n int) {
	t.Helper()
	out, _ := assay(t, "tools", "describe", pool, "--json")
	var d toolset.Description
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, p := range d.PerTool {
		total += p.Tools
	}
	if d.Tools != n || total != n {
		t.Errorf("%d tools described, %d by number of parameters, want %d", d.Tools, total, n)
	}
	for _, p := range d.Problems {
		switch p.Code {
		case toolset.UnknownType, toolset.NotAnObject, toolset.BadSchema, toolset.NoParameters, toolset.TwiceDefined, toolset.DanglingTarget:
			t.Errorf("after normalisation %d tools have the problem %s: %+v", p.Tools, p.Code, p.Examples)
		}
	}
}

// realLists makes Hybrid-20 lists of that pool for the real records that a
// filter keeps, in two orders and with several numbers of workers.
func realLists(t *testing.T, raw string, path func(string) string) {
	t.Helper()
	var all []string
	for _, source := range []string{"bfcl", "acebench", "seal-tools", "hammerbench", "api-bank", "toolalpaca"} {
		assay(t, "convert", source, filepath.Join(raw, source), "-o", path("all.jsonl"))
		assay(t, "filter", path("all.jsonl"), "-o", path(source+".jsonl"))
		all = append(all, path(source+".jsonl"))
	}
	if err := concat(path("kept.jsonl"), all); err != nil {
		t.Fatal(err)
	}
	lines := sortedLines(t, path("kept.jsonl"))
	slices.Reverse(lines)
	if err := os.WriteFile(path("reversed.jsonl"), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	list := func(in, out, workers string) {
		_, text := assay(t, "candidates", in, "--pool", path("pool.jsonl"), "--seed", "7", "--workers", workers, "-o", out, "--report", path("report.json"))
		t.Logf("candidates --workers %s\n%s", workers, text)
		var r toolset.Report
		readJSON(t, path("report.json"), &r)
		if r.Lists != len(lines) || r.Coverage != 1 || r.Collisions != 0 || r.Short != 0 || len(r.Lengths) != 1 || r.Lengths[0].Tools != 20 {
			t.Errorf("%d lists of %v tools, gold coverage %v, %d equal names; want %d of 20, 1, 0", r.Lists, r.Lengths, r.Coverage, r.Collisions, len(lines))
		}
		if r.Uniformity == nil || r.Uniformity.P < .001 {
			t.Errorf("position of gold is not uniform: %+v", r.Uniformity)
		}
		if r.HardNegatives.P10 <= r.EasyNegatives.P90 {
			t.Errorf("hard negatives are no harder than easy ones: %+v, %+v", r.HardNegatives, r.EasyNegatives)
		}
	}
	list(path("kept.jsonl"), path("one.jsonl"), "1")
	list(path("reversed.jsonl"), path("eight.jsonl"), "8")
	if !slices.Equal(sortedLines(t, path("one.jsonl")), sortedLines(t, path("eight.jsonl"))) {
		t.Error("lists depend on the order of the records or the number of workers")
	}
	list(path("kept.jsonl"), path("two.jsonl"), "2")
	if !bytes.Equal(read(t, path("one.jsonl")), read(t, path("two.jsonl"))) {
		t.Error("two workers make other bytes than one")
	}
}

func sortedLines(t *testing.T, path string) []string {
	t.Helper()
	var lines []string
	in := bufio.NewScanner(bytes.NewReader(read(t, path)))
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		lines = append(lines, in.Text()+"\n")
	}
	slices.Sort(lines)
	return lines
}
