//go:build e2e

package browser

import (
	_ "embed"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

//go:embed a11y.js
var measures string

// views are what a reader meets, by how to come there and what shows that it is
// there.
var views = []struct{ name, hash, then, until string }{
	{"the overview", "#overview", `document.querySelectorAll("#overview-view details").forEach((d) => { d.open = true; })`, `!document.querySelector("#overview-view").hidden`},
	{"the items", "#items&run=1", ``, `document.querySelectorAll("#rows .row .q").length > 5`},
	{"an empty list", "#items&q=nowhere-to-be-found", ``, `!items.progress && !document.querySelector("#empty").hidden`},
	{"a wrong item with its differences", "#item=made/item_2&run=1&status=wrong", openAll, `document.querySelector("#detail h2")`},
	{"an item with hidden characters", "#item=made/" + hostileEscaped, openAll, `document.querySelector("#detail .ctl")`},
	{"an item that is not there", "#item=made/nothing", ``, `document.querySelector("#detail .notice")`},
	{"the help", "#items", `document.querySelector("#help").showModal()`, `document.querySelector("#help").open`},
}

const openAll = `document.querySelectorAll("#detail details").forEach((d) => { d.open = true; })`

// hostileEscaped is the id of the hostile record as it stands in an address.
var hostileEscaped = strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B", "#", "%23", `"`, "%22", "<", "%3C", ">", "%3E", " ", "%20", "\u0007", "%07").Replace(hostile)

// eachView shows every view in both colour schemes.
func eachView(t *testing.T, look func(t *testing.T, p *tab)) {
	dir := runs(t, 30)
	address := page(t, dir)
	c := start(t)
	for _, scheme := range []string{"light", "dark"} {
		for _, v := range views {
			t.Run(v.name+", "+scheme, func(t *testing.T) {
				p := c.open(t, "about:blank")
				c.call(t, p.session, "Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}})
				p.visit(address + v.hash)
				p.until(v.until + ` || ` + "`" + v.then + "`" + ` !== ""`)
				if v.then != "" {
					if v.then == openAll {
						p.until(v.until)
					}
					p.eval(v.then+"; null", nil)
				}
				p.until(v.until)
				p.eval("globalThis.measures = "+measures+"; null", nil)
				look(t, p)
			})
		}
	}
}

// TestContrast measures what is drawn: text has at least 4.5:1 against what is
// behind it, large text and the edges of controls 3:1 (WCAG 2.2, 1.4.3 and
// 1.4.11).
func TestContrast(t *testing.T) {
	eachView(t, func(t *testing.T, p *tab) {
		var got struct {
			Measured int
			Least    float64
			Low      []string
		}
		p.eval(`measures.contrast()`, &got)
		if got.Measured < 20 {
			t.Errorf("%d texts were measured, want those of the view", got.Measured)
		}
		for _, low := range got.Low {
			t.Errorf("contrast %s", low)
		}
		var edges []string
		p.eval(`measures.edges()`, &edges)
		for _, e := range edges {
			t.Errorf("contrast %s", e)
		}
		t.Logf("%d texts, the least contrast is %.2f", got.Measured, got.Least)
	})
}

// TestContrastIsMeasured takes away the contrast, and the measure has to tell.
func TestContrastIsMeasured(t *testing.T) {
	c := start(t)
	p := c.open(t, page(t, runs(t, 10))+"#items")
	p.eval("globalThis.measures = "+measures+"; null", nil)
	var ratio float64
	for _, tt := range []struct {
		colours string
		want    float64
	}{
		{`[0, 0, 0], [255, 255, 255]`, 21},
		{`[119, 119, 119], [255, 255, 255]`, 4.478}, // #777 on white, the known near miss
		{`[255, 0, 0], [255, 255, 255]`, 3.998},
		{`[1, 2, 3], [1, 2, 3]`, 1},
	} {
		p.eval(`measures.ratio(`+tt.colours+`)`, &ratio)
		if ratio < tt.want-.001 || ratio > tt.want+.001 {
			t.Errorf("the contrast of %s is %.3f, want %.3f", tt.colours, ratio, tt.want)
		}
	}
	p.eval(`document.querySelector("#count").style.color = "#999"; document.querySelector("#f-search").style.borderColor = "#ddd"; null`, nil)
	var low, edges int
	p.eval(`measures.contrast().low.length`, &low)
	p.eval(`measures.edges().length`, &edges)
	if low != 1 || edges != 1 {
		t.Errorf("a grey text and a grey edge give %d and %d faults, want 1 and 1", low, edges)
	}
}

// TestFocus goes through each view by Tab: to every control, in the order of
// what is seen, and the focus is seen.
func TestFocus(t *testing.T) {
	type stop struct {
		At                  int
		Name                string
		Outline, Ratio      float64
		X, Y, Right, Bottom float64
		Seen                bool
	}
	eachView(t, func(t *testing.T, p *tab) {
		var n int
		if strings.Contains(t.Name(), "the_help") {
			p.eval(`{ const all = measures.stops(); measures.list = all.filter((e) => e.closest("#help")); }; measures.list.length`, &n)
		} else {
			p.eval(`measures.stops().length`, &n)
		}
		if n == 0 {
			t.Fatal("there is nothing to go to")
		}
		var before stop
		for i := range n {
			p.key("Tab")
			var s stop
			p.eval(`measures.focused()`, &s)
			if s.At != i {
				t.Fatalf("stop %d is %q, number %d in the document", i, s.Name, s.At)
			}
			if s.Outline < 2 || s.Ratio < 3 || !s.Seen {
				t.Errorf("%q: the focus has an outline of %.0f px and a contrast of %.1f, in view %v; want 2, 3 and true", s.Name, s.Outline, s.Ratio, s.Seen)
			}
			inside := s.Y >= before.Y && s.Bottom <= before.Bottom && s.X >= before.X && s.Right <= before.Right
			line := min(s.Bottom, before.Bottom)-max(s.Y, before.Y) > min(s.Bottom-s.Y, before.Bottom-before.Y)/2
			if i > 1 && !inside && (line && s.X < before.X || s.Bottom <= before.Y && s.X < before.Right) {
				t.Errorf("the focus goes from %q at %.0f, %.0f back to %q at %.0f, %.0f", before.Name, before.X, before.Y, s.Name, s.X, s.Y)
			}
			before = s
		}
	})
}

// TestNames asks the accessibility tree: whatever can be operated has a name.
func TestNames(t *testing.T) {
	eachView(t, func(t *testing.T, p *tab) {
		type value struct{ Value any }
		var tree struct {
			Nodes []struct {
				Ignored    bool
				Role, Name value
				Properties []struct {
					Name  string
					Value value
				}
			}
		}
		decode(t, p.c.call(t, p.session, "Accessibility.getFullAXTree", object{}), &tree)
		operable := map[string]int{}
		for _, n := range tree.Nodes {
			role, _ := n.Role.Value.(string)
			name, _ := n.Name.Value.(string)
			focusable := false
			for _, q := range n.Properties {
				focusable = focusable || q.Name == "focusable" && q.Value.Value == true
			}
			switch role {
			case "RootWebArea", "main", "article", "dialog", "generic": // can take the focus by program
				focusable = false
			case "button", "link", "combobox", "searchbox", "textbox", "listbox", "option", "DisclosureTriangle", "image", "table", "region", "search", "navigation":
				focusable = true
			}
			if n.Ignored || !focusable {
				continue
			}
			operable[role]++
			if strings.TrimSpace(name) == "" {
				t.Errorf("a %s has no name", role)
			}
		}
		if len(operable) == 0 {
			t.Error("the tree has nothing that can be operated")
		}
		t.Logf("named: %v", operable)
	})
}

// TestAxe runs axe-core where it is at hand: run.sh fetches it if there is npm.
func TestAxe(t *testing.T) {
	path := os.Getenv("ASSAY_E2E_AXE")
	if path == "" {
		t.Skip("ASSAY_E2E_AXE names no axe.min.js; run e2e/browser/run.sh where npm is")
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	eachView(t, func(t *testing.T, p *tab) {
		p.eval(string(script)+"; null", nil)
		var got struct {
			Passes     int
			Violations []json.RawMessage
		}
		p.eval(`axe.run(document, { resultTypes: ["violations"] }).then((r) => ({
			passes: r.passes.length,
			violations: r.violations.map((v) => ({ rule: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)), summary: v.nodes[0].failureSummary })),
		}))`, &got)
		for _, v := range got.Violations {
			t.Errorf("axe: %s", v)
		}
		if got.Passes < 10 {
			t.Errorf("axe holds %d rules for passed, want it to look", got.Passes)
		}
	})
}
