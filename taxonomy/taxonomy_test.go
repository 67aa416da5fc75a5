package taxonomy

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/qaoa"
)

func TestClassesAreWhole(t *testing.T) {
	if len(Categories()) != 6 || len(Domains()) != 13 {
		t.Fatalf("%d categories, %d domains; want 6 and 13", len(Categories()), len(Domains()))
	}
	check := func(kind, name, definition string) {
		if len(definition) < 40 || strings.HasSuffix(definition, ".") {
			t.Errorf("%s %s: definition %q, want a sentence without its full stop", kind, name, definition)
		}
		if len(strings.Fields(classes()[kind][name].cues)) < 20 {
			t.Errorf("%s %s: want at least 20 words that speak for it", kind, name)
		}
	}
	for _, c := range Categories() {
		check("category", string(c), c.Definition())
	}
	for _, d := range Domains() {
		check("domain", string(d), d.Definition())
	}
	if len(classes()["category"]) != 6 || len(classes()["domain"]) != 13 {
		t.Error("the table of classes has other classes too")
	}
	if Category("x").Definition() != "" || Domain("").Definition() != "" {
		t.Error("no class has no definition")
	}
}

func TestExamplesAreBalanced(t *testing.T) {
	pairs, seen := map[string]int{}, map[string]bool{}
	for _, e := range Examples() {
		pairs[string(e.Category)+" "+string(e.Domain)]++
		if seen[e.Tool.Name] || e.Tool.Description == "" {
			t.Errorf("%s: twice, or without a description", e.Tool.Name)
		}
		seen[e.Tool.Name] = true
	}
	for _, c := range Categories() {
		for _, d := range Domains() {
			if n := pairs[string(c)+" "+string(d)]; n != 5 {
				t.Errorf("%s %s: %d examples, want 5", c, d, n)
			}
		}
	}
	if len(pairs) != 78 {
		t.Errorf("%d pairs of classes, want 78", len(pairs))
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, category, domain string }{
		{"search", "search", ""},
		{" Visualisation\n", "visualization", ""},
		{"OPERATION", "operations", ""},
		{"generation", "generate", ""},
		{"sport", "", "sports"},
		{"Healthcare", "", "healthcare"},
		{"", "", ""},
		{"finance and more", "", ""},
	} {
		c, err := ParseCategory(tt.text)
		if string(c) != tt.category || (err == nil) != (tt.category != "") {
			t.Errorf("ParseCategory(%q) = %q, %v; want %q", tt.text, c, err, tt.category)
		}
		d, err := ParseDomain(tt.text)
		if string(d) != tt.domain || (err == nil) != (tt.domain != "") {
			t.Errorf("ParseDomain(%q) = %q, %v; want %q", tt.text, d, err, tt.domain)
		}
	}
}

// TestLeaveOneOut holds the accuracy on tools that the classifier has not seen.
// They were written by the author of its lists of words, so tools of the world
// are harder: see TestRealTools and TestSealToolsFields.
func TestLeaveOneOut(t *testing.T) {
	var category, domain int
	var cs, ds float64
	all := Examples()
	before := NewLexical().Classify(all[0].Tool)
	for i, l := range NewLexical().LeaveOneOut() {
		if l.Category == all[i].Category {
			category++
		}
		if l.Domain == all[i].Domain {
			domain++
		}
		cs += l.CategoryScore
		ds += l.DomainScore
	}
	n := float64(len(all))
	t.Logf("category %d of %.0f (mean score %.3f), domain %d (mean score %.3f)", category, n, cs/n, domain, ds/n)
	if float64(category)/n < 0.93 || float64(domain)/n < 0.80 {
		t.Errorf("category %.3f, domain %.3f; want at least 0.93 and 0.80", float64(category)/n, float64(domain)/n)
	}
	// A score that promised much more than it keeps would be no score.
	if math.Abs(cs-float64(category))/n > 0.05 || math.Abs(ds-float64(domain))/n > 0.05 {
		t.Errorf("mean scores %.3f and %.3f are far from the accuracy", cs/n, ds/n)
	}
	if after := NewLexical().Classify(all[0].Tool); after != before {
		t.Errorf("the classifier was changed: %+v, then %+v", before, after)
	}
}

// TestLeaveOneOutAgain trains from nothing without one example, for some of
// them: the second way to the same labels.
func TestLeaveOneOutAgain(t *testing.T) {
	all := Examples()
	labels := NewLexical().LeaveOneOut()
	for i := 0; i < len(all); i += 37 {
		l := &Lexical{newBayes("category", names(Categories())), newBayes("domain", names(Domains()))}
		for k, e := range all {
			if k != i {
				l.category.learn(string(e.Category), categoryFeatures(e.Tool), 1)
				l.domain.learn(string(e.Domain), domainFeatures(e.Tool), 1)
			}
		}
		got := l.Classify(all[i].Tool)
		if got.Category != labels[i].Category || got.Domain != labels[i].Domain {
			t.Errorf("%s: %s %s, want %s %s", all[i].Tool.Name, got.Category, got.Domain, labels[i].Category, labels[i].Domain)
		}
	}
}

func TestLexicalAlwaysAnswers(t *testing.T) {
	l := NewLexical()
	rapid.Check(t, func(t *rapid.T) {
		tool := qaoa.Tool{Name: rapid.String().Draw(t, "name"), Description: rapid.StringN(-1, -1, 3000).Draw(t, "description")}
		got := l.Classify(tool)
		if !got.Complete() || got.By != LexicalName || got.Reason != "" {
			t.Fatalf("label %+v", got)
		}
		if _, err := ParseCategory(string(got.Category)); err != nil {
			t.Fatal(err)
		}
		if _, err := ParseDomain(string(got.Domain)); err != nil {
			t.Fatal(err)
		}
		for _, s := range []float64{got.CategoryScore, got.CategoryMargin, got.DomainScore, got.DomainMargin} {
			if !(s >= 0 && s <= 1) {
				t.Fatalf("score %v is not in [0,1]: %+v", s, got)
			}
		}
		if got != l.Classify(tool) {
			t.Fatal("another label at the second time")
		}
	})
}

func TestLexicalWithoutWords(t *testing.T) {
	got := NewLexical().Classify(qaoa.Tool{Name: "42", Description: "qwrtzp"})
	if math.Abs(got.CategoryScore-1.0/6) > 1e-9 || math.Abs(got.DomainScore-1.0/13) > 1e-9 || got.CategoryMargin != 0 || got.DomainMargin != 0 {
		t.Errorf("label %+v, want the scores of a guess", got)
	}
}

func TestApply(t *testing.T) {
	tool := qaoa.Tool{Name: "f", Category: "old", Domain: "old"}
	if got := (Label{Category: Search}).Apply(tool); got.Category != "search" || got.Domain != "old" {
		t.Errorf("applied: %+v", got)
	}
}

func ExampleLexical_Classify() {
	l := NewLexical().Classify(qaoa.Tool{Name: "book_train_ticket", Description: "Reserves seats on a train between two stations."})
	fmt.Println(l.Category, l.Domain, l.By)
	// Output: operations travel lexical/1
}

func BenchmarkLexical(b *testing.B) {
	l := NewLexical()
	tool := qaoa.Tool{Name: "find_restaurants", Description: "Finds restaurants near a place by cuisine, price and rating, with opening hours and a link to book a table."}
	b.ReportAllocs()
	for b.Loop() {
		l.Classify(tool)
	}
}
