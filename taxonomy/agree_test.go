package taxonomy

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"pgregory.net/rapid"
)

func TestKappa(t *testing.T) {
	for _, tt := range []struct {
		name   string
		counts [][]int
		want   float64
		ok     bool
	}{
		// Two readers of 50 applications: o = 35/50, e = 0.5, kappa = 0.4.
		{"the worked example", [][]int{{20, 5}, {10, 15}}, 0.4, true},
		{"always the same", [][]int{{3, 0}, {0, 4}}, 1, true},
		{"never the same", [][]int{{0, 5}, {5, 0}}, -1, true},
		{"by chance alone", [][]int{{4, 4}, {2, 2}}, 0, true},
		{"three classes", [][]int{{10, 2, 0}, {1, 8, 1}, {0, 3, 5}}, (23.0/30 - (12*11+10*13+8*6)/900.0) / (1 - (12*11+10*13+8*6)/900.0), true},
		{"one class only", [][]int{{7, 0}, {0, 0}}, 0, false},
		{"nothing", [][]int{{0, 0}, {0, 0}}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Kappa(tt.counts)
			if ok != tt.ok || math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("Kappa(%v) = %v, %v; want %v, %v", tt.counts, got, ok, tt.want, tt.ok)
			}
		})
	}
}

// TestKappaAgain computes it as the share of disagreement that is not owed to
// chance, over all pairs of a label of one and a label of the other.
func TestKappaAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		a, b := make([]int, n), make([]int, n)
		counts := [][]int{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
		for i := range n {
			a[i], b[i] = rapid.IntRange(0, 2).Draw(t, "a"), rapid.IntRange(0, 2).Draw(t, "b")
			counts[a[i]][b[i]]++
		}
		var differ, byChance float64
		for i := range n {
			if a[i] != b[i] {
				differ++
			}
			for j := range n {
				if a[i] != b[j] {
					byChance++
				}
			}
		}
		got, ok := Kappa(counts)
		if ok != (byChance > 0) {
			t.Fatalf("defined: %v, want %v", ok, byChance > 0)
		}
		if want := 1 - (differ/float64(n))/(byChance/float64(n*n)); ok && math.Abs(got-want) > 1e-9 {
			t.Fatalf("Kappa(%v) = %v, want %v", counts, got, want)
		}
		if got < -1 || got > 1 {
			t.Fatalf("kappa %v", got)
		}
	})
}

func agreement() *Agreement {
	a := NewAgreement("lexical/1", "source")
	for _, p := range [][4]string{
		{"search", "travel", "search", "travel"},
		{"search", "travel", "search", "business"},
		{"analysis", "finance", "operations", "finance"},
		{"system", "finance", "", "finance"},
		{"system", "finance", "system", "money"},
	} {
		a.Add(Label{Category: Category(p[0]), Domain: Domain(p[1])}, Label{Category: Category(p[2]), Domain: Domain(p[3])})
	}
	return a
}

func TestAgreement(t *testing.T) {
	a := agreement()
	if c := a.Category; c.N != 4 || c.Agreed != 3 || c.Missing != 1 || c.Share != 0.75 || c.Kappa == nil {
		t.Errorf("category %+v", c)
	}
	if d := a.Domain; d.N != 4 || d.Agreed != 3 || d.Missing != 1 || d.Low >= d.Share || d.High <= d.Share {
		t.Errorf("domain %+v", d)
	}
	var text, markdown bytes.Buffer
	if err := a.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	const want = `category: 3 of 4 agree: 0.750 (95% 0.301 to 0.954), kappa 0.636; 1 lack a label
rows: lexical/1, columns: source
               analy opera syste visua searc gener
analysis           .     1     .     .     .     .
operations         .     .     .     .     .     .
system             .     .     1     .     .     .
visualization      .     .     .     .     .     .
search             .     .     .     .     2     .
generate           .     .     .     .     .     .
domain: `
	if !strings.HasPrefix(text.String(), want) {
		t.Errorf("text:\n%s\nwant it to begin\n%s", text.String(), want)
	}
	if err := a.WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"# Agreement of lexical/1 and source\n", "## category\n", "| | analysis | operations |", "|---|---:|---:|---:|---:|---:|---:|\n", "| search | 0 | 0 | 0 | 0 | **2** | 0 |\n"} {
		if !strings.Contains(markdown.String(), part) {
			t.Errorf("Markdown has no %q:\n%s", part, markdown.String())
		}
	}
	data, err := json.Marshal(a)
	if err != nil || !bytes.Contains(data, []byte(`"first":"lexical/1","second":"source"`)) {
		t.Errorf("JSON %s, %v", data, err)
	}
}

func TestAgreementOfNothing(t *testing.T) {
	a := NewAgreement("a", "b")
	a.Add(Label{}, Label{})
	var b bytes.Buffer
	if err := a.WriteText(&b); err != nil || b.String() != "category: no tool has two labels (1 lack one)\ndomain: no tool has two labels (1 lack one)\n" {
		t.Errorf("text %q, %v", b.String(), err)
	}
	if data, err := json.Marshal(a); err != nil || !bytes.Contains(data, []byte(`"kappa":null`)) {
		t.Errorf("JSON %s, %v", data, err)
	}
}
