// Package layout holds the allowed arrows between the rooms of this module.
package layout

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// arrows says which of our own packages each package may import. A key that
// ends in /* stands for the packages right below a folder. Arrows point down:
// a parent never imports its children, only convert/all and cmd/assay do.
var arrows = map[string][]string{
	"qaoa":                {},
	"stats":               {},
	"tokenizer":           {},
	"chat":                {"qaoa", "tokenizer", "internal/jinja"},
	"internal/filelock":   {},
	"internal/lexical":    {},
	"internal/near":       {},
	"vector":              {},
	"internal/ordered":    {},
	"internal/jinja":      {},
	"internal/raw":        {"qaoa"},
	"internal/pylit":      {"qaoa"},
	"benchdata/*":         {},
	"audit":               {"stats"},
	"census":              {"qaoa", "plot"},
	"plot":                {},
	"mcp":                 {"qaoa"},
	"openapi":             {"qaoa"},
	"match":               {"qaoa", "internal/pylit"},
	"toolcall":            {"qaoa", "internal/pylit"},
	"model":               {"qaoa"},
	"model/*":             {"qaoa", "model", "model/transport", "toolcall", "internal/lexical", "internal/near"},
	"model/modeltest/*":   {"qaoa", "model", "model/modeltest"},
	"convert":             {"qaoa", "internal/raw", "internal/pylit"},
	"convert/*":           {"qaoa", "convert", "internal/pylit"},
	"convert/converttest": {"qaoa", "convert"},
	"convert/all":         {"convert", "convert/*"},
	"filter":              {"qaoa", "convert"},
	"account":             {"qaoa", "convert", "benchdata/*"},
	"embed":               {"qaoa", "model", "model/ollama", "model/openai", "model/transport", "vector", "internal/filelock", "internal/lexical", "internal/ordered"},
	"taxonomy":            {"qaoa", "model", "stats", "internal/filelock", "internal/lexical", "internal/ordered"},
	"toolset":             {"qaoa", "convert", "filter", "model", "vector", "plot", "internal/lexical", "internal/ordered"},
	"dedup":               {"qaoa"},
	"contam":              {"qaoa", "dedup"},
	"train":               {"qaoa", "toolset", "internal/ordered", "internal/raw", "convert", "dedup", "contam", "tokenizer", "chat"},
	"eval":                {"qaoa", "match", "model", "tokenizer", "toolset", "toolcall", "internal/filelock", "internal/lexical", "internal/ordered"},
	"predfile":            {"qaoa", "convert", "toolcall", "internal/pylit", "internal/raw"},
	"report":              {"qaoa", "audit", "eval", "match", "plot", "stats", "benchdata/*"},
	"page":                {"qaoa", "eval", "match", "report", "internal/ordered"},
	"view":                {"page"},
	"runs":                {"qaoa", "eval", "internal/filelock"},
	"preflight":           {"qaoa", "chat", "tokenizer", "internal/raw", "internal/ordered"},
	"recipe":              {"train"},
	"card":                {"train", "census", "qaoa"},
	"parity":              {"qaoa", "eval", "model", "chat", "tokenizer", "toolcall", "train"},
	"bench/runner":        {"qaoa", "eval", "model", "model/*"},
	"bench/*":             {"qaoa"},
	"bench/dense":         {"vector", "internal/lexical"},
	"bench/rank":          {"qaoa", "match", "toolset"},
	"bench/stats":         {"stats"},
	"bench/tokens":        {"tokenizer"},
	"e2e":                 {},
	"e2e/*":               {},
	"e2e/tinygguf/mktiny": {"e2e/tinygguf"},
	"cmd/assay":           {"*"},
}

// TestArrows fails when a package imports one that its room may not.
func TestArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "assay/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		packages++
		pkg := strings.TrimPrefix(fields[0], "assay/")
		allowed, ok := rule(pkg)
		if !ok {
			t.Errorf("%s has no row in the table of arrows: add one, or put it in a room that has", fields[0])
			continue
		}
		for _, imp := range fields[1:] {
			to, ours := strings.CutPrefix(imp, "assay/")
			if ours && !slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, to) }) {
				t.Errorf("%s imports %s; %s may import only: %s", fields[0], imp, pkg, strings.Join(allowed, ", "))
			}
		}
	}
	if packages < 10 {
		t.Errorf("go list named %d packages, want the whole module:\n%s", packages, out)
	}
}

func rule(pkg string) ([]string, bool) {
	if allowed, ok := arrows[pkg]; ok {
		return allowed, true
	}
	allowed, ok := arrows[path.Dir(pkg)+"/*"]
	return allowed, ok || pkg == "internal/layout"
}

func matches(pattern, pkg string) bool {
	if pattern == "*" || pattern == pkg {
		return true
	}
	dir, ok := strings.CutSuffix(pattern, "/*")
	return ok && path.Dir(pkg) == dir
}
