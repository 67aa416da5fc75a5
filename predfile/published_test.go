package predfile_test

import (
	"encoding/json" // the other way to read the flags
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/match"
	"assay/predfile"
	"assay/qaoa"
	"assay/toolcall"
)

// TestPublishedFlags scores the published answers of GPT-4o to the type mQmA of
// HammerBench. The published flags are those of the rule or of a model that
// judges, so the rule may be stricter, and may not be looser.
func TestPublishedFlags(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "data", "raw", "hammerbench", "logs", "GPT-4o", "HammerBench_mQmA")
	f, err := os.Open(filepath.Join(dir, "MT_res.json"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("no ../shared/data: get the folder logs of MadeAgents/HammerBench")
	}
	defer func() { _ = f.Close() }()
	data, err := os.ReadFile(filepath.Join(dir, "turn_flags_res.json"))
	if err != nil {
		t.Fatal(err)
	}
	var flags [][]bool
	if err := json.Unmarshal(data, &flags); err != nil {
		t.Fatal(err)
	}
	preset, err := match.Preset("hammerbench")
	if err != nil {
		t.Fatal(err)
	}
	var table [2][2]int // by verdict of the preset, then by flag
	classes := map[toolcall.Class]int{}
	var loose []string
	agree, total := 0, 0
	for s, err := range predfile.HammerLogs(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		flag := flags[s.Conversation][s.Index]
		got := match.Instance([]qaoa.Call{s.Gold}, s.Pred, nil, preset)
		verdict := got.FPA == 1
		table[b2i(verdict)][b2i(flag)]++
		classes[s.Class]++
		total++
		if verdict == byHand(s.Gold, s.Pred) {
			agree++
		} else {
			t.Logf("snapshot %s: preset %t, by hand %t: gold %v, predicted %v", s.ID, verdict, !verdict, s.Gold, s.Pred)
		}
		if verdict && !flag {
			loose = append(loose, fmt.Sprintf("%s: gold %v, predicted %v", s.ID, s.Gold, s.Pred))
		}
	}
	t.Logf("%d snapshots, texts %v\n               flag true  flag false\npreset true      %7d     %7d\npreset false     %7d     %7d\nlooser than the flags: %s",
		total, classes, table[1][1], table[1][0], table[0][1], table[0][0], strings.Join(loose, "; "))
	if len(flags) != 404 || total != 948 {
		t.Errorf("%d conversations, %d snapshots; want 404 and 948", len(flags), total)
	}
	yes := table[1][0] + table[1][1]
	if yes < 300 || 100*table[1][1] < 99*yes {
		t.Errorf("of %d snapshots that the preset says are right, %d are published as right; want 99 %% of at least 300", yes, table[1][1])
	}
	if 1000*agree < 995*total {
		t.Errorf("the preset and the rule written out here agree on %d of %d snapshots, want 99.5 %%", agree, total)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// byHand is the rule of HammerBench in the simplest words: one call, the same
// name, no key that gold has not, and every gold value similar, where values are
// words of a lower-cased text. Empty texts count as not given.
func byHand(gold qaoa.Call, pred []qaoa.Call) bool {
	if len(pred) != 1 || pred[0].Name != gold.Name {
		return false
	}
	want, have := given(gold.Arguments), given(pred[0].Arguments)
	for key := range have {
		if _, ok := want[key]; !ok {
			return false
		}
	}
	for key, w := range want {
		h, ok := have[key]
		if !ok || !similar(words(w), words(h)) {
			return false
		}
	}
	return true
}

func given(args qaoa.JSON) map[string]string {
	v, _ := args.Value()
	out := map[string]string{}
	for _, m := range v.Members {
		text := m.Value.Text
		if m.Value.Kind == qaoa.Array || m.Value.Kind == qaoa.Object {
			text = string(m.Value.JSON())
		}
		if text != "" {
			out[m.Name] = text
		}
	}
	return out
}

func words(s string) []string { return strings.Fields(strings.Trim(strings.ToLower(s), ".?! ")) }

// similar reports whether the ROUGE-L F1 of a and b is at least 0.7, by the
// whole table.
func similar(a, b []string) bool {
	lcs := make([][]int, len(a)+1)
	lcs[0] = make([]int, len(b)+1)
	for i := range a {
		lcs[i+1] = make([]int, len(b)+1)
		for j := range b {
			lcs[i+1][j+1] = max(lcs[i][j+1], lcs[i+1][j])
			if a[i] == b[j] {
				lcs[i+1][j+1] = lcs[i][j] + 1
			}
		}
	}
	return 20*lcs[len(a)][len(b)] >= 7*(len(a)+len(b))
}
