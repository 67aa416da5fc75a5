//go:build e2e

package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// assay runs the program in dir.
func assay(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("assay %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("ASSAY_E2E_BIN")
	if path == "" {
		t.Fatal("ASSAY_E2E_BIN names no program; run e2e/browser/run.sh")
	}
	return path
}

// hostile is what an attacker would like to run, in every text that reaches the
// page.
const hostile = `<script>window.pwned=1;alert(1)</script><img src="https://evil.example/x.png" onerror="window.pwned=1"></script><!--` +
	"\u202egnp.exe\u2066 \u200b \u0007 \U000e0041" + `"><svg onload=window.pwned=1><iframe src=https://evil.example></iframe>`

// records writes n records; the first one is hostile.
func records(t *testing.T, path string, n int) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(file)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range n {
		query, name, city := fmt.Sprintf("What is the weather in town %d?", i), "get_weather", fmt.Sprintf("Town %d", i)
		id := fmt.Sprintf("made/item_%d", i)
		if i == 0 {
			query, name, city, id = hostile, "get"+hostile, hostile, "made/"+hostile
		}
		tool := func(name, about string) object {
			return object{"name": name, "description": about, "parameters": object{"type": "object", "properties": object{"city": object{"type": "string"}}, "required": []string{"city"}}}
		}
		tools := []object{tool(name, "Tells the weather. "+query), tool("book_table", "Books a table."), tool(fmt.Sprintf("send_mail_%d", i%50), "Sends mail.")}
		call := object{"name": name, "arguments": object{"city": city}}
		calls := []object{call}
		if i%3 == 2 {
			calls = append(calls, object{"name": "book_table", "arguments": object{"city": city}})
		}
		rec := object{
			"schema": "qaoa/1", "id": id, "source": object{"name": "made"}, "tools": tools,
			"turns": []object{{"query": query, "steps": []object{{"calls": calls}}, "answer": ""}},
		}
		if err := enc.Encode(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// runs makes two scored runs about the same n records: gold is right but for
// the first record, whose prediction is hostile; random is not.
func runs(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	records(t, filepath.Join(dir, "gold.jsonl"), n)
	for _, model := range []string{"gold", "random"} {
		assay(t, dir, "run", "gold.jsonl", "--out", model, "--model", "baseline/"+model, "--seed", "1")
	}
	spoil(t, filepath.Join(dir, "gold", "predictions.jsonl"))
	for _, model := range []string{"gold", "random"} {
		assay(t, dir, "score", model)
	}
	return dir
}

// spoil makes the first prediction a hostile one, a million characters long,
// and gives another one a text to search for.
func spoil(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	var p object
	if err := json.Unmarshal(line, &p); err != nil {
		t.Fatal(err)
	}
	long := hostile + strings.Repeat("x", 1<<20)
	p["turns"] = []object{{"steps": []object{{"calls": []object{{"name": "get" + hostile, "arguments": object{"city": long, hostile: "1"}}, {"raw": long}}}}, "answer": hostile}}
	p["requests"] = []object{{"turn": 0, "prompt_bytes": 1, "text": long, "reasoning": hostile, "rung": hostile, "class": "calls", "finish": hostile, "prompt_tokens": 1, "completion_tokens": 1}}
	out, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	out = append(append(out, '\n'), rest...)
	lines := bytes.SplitAfter(out, []byte("\n"))
	if err := json.Unmarshal(lines[5], &p); err != nil {
		t.Fatal(err)
	}
	p["requests"] = []object{{"turn": 0, "prompt_bytes": 1, "text": "a raw-secret of 20 \u212aelvin, Σίσυφος in Straße 3, İstanbul 🙂 \ufffd \"city\" \\ a\u0085b", "reasoning": "A thought.", "class": "calls"}}
	if lines[5], err = json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	lines[5] = append(lines[5], '\n')
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o644); err != nil {
		t.Fatal(err)
	}
}

// page writes a report of the runs and returns its address.
func page(t *testing.T, dir string) string {
	t.Helper()
	assay(t, dir, "report", "gold", "random", "--title", "Two models </title><script>window.pwned=1</script>", "-o", "report.html")
	return "file://" + filepath.Join(dir, "report.html")
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

func TestReport(t *testing.T) {
	dir := runs(t, 60)
	address := page(t, dir)
	c := start(t)
	t.Run("opens at the overview", func(t *testing.T) {
		p := c.open(t, address)
		want(t, "the title", p.text(`document.title`), "Two models </title><script>window.pwned=1</script>")
		want(t, "the overview", p.text(`document.querySelector("#overview-view").hidden`), "false")
		if first := p.text(`document.querySelector("#overview-view h2").textContent`); first != "Coverage" {
			t.Errorf("the first part is %q, want Coverage before any score", first)
		}
		p.shot("overview-light")
		p.quiet(address)
	})
	t.Run("filters, searches and steps by keys", func(t *testing.T) { walk(t, c.open(t, address+"#items"), address) })
	t.Run("a link leads to its item", func(t *testing.T) {
		p := c.open(t, address+"#item=made/item_7&status=wrong&run=1")
		p.until(`document.querySelector("#detail h2")`)
		want(t, "the item", p.text(`document.querySelector("#detail h2").textContent`), "made/item_7")
		want(t, "the filter", p.text(`document.querySelector("#f-status").value`), "wrong")
		want(t, "the first run shown", p.text(`document.querySelector("#detail .run h4").firstChild.textContent`), "baseline/random")
		p.shot("item-light")
		p.eval(`location.hash = "#item=made/nothing"; null`, nil)
		p.until(`document.querySelector("#detail .notice")`)
		p.quiet(address)
	})
	t.Run("hostile text is text", func(t *testing.T) { shownAsText(t, c.open(t, address+"#items"), address) })
	t.Run("dark, and print", func(t *testing.T) {
		p := c.open(t, address)
		c.call(t, p.session, "Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": "dark"}}})
		want(t, "the dark background", p.text(`getComputedStyle(document.body).backgroundColor`), "rgb(20, 23, 28)")
		p.shot("overview-dark")
		p.eval(`location.hash = "#item=made/item_8&run=1"; null`, nil)
		p.until(`document.querySelector("#detail h2")`)
		p.shot("item-dark")
		c.call(t, p.session, "Emulation.setEmulatedMedia", object{"media": "print", "features": []object{}})
		want(t, "the list in print", p.text(`getComputedStyle(document.querySelector("#list-side")).display`), "none")
		p.shot("item-print")
		p.eval(`location.hash = "#overview"; null`, nil)
		p.until(`!document.querySelector("#overview-view").hidden`)
		p.shot("overview-print")
	})
}

// walk uses the list as a person would.
// walk goes through the items by form and keys; the page may be a file or
// served.
func walk(t *testing.T, p *tab, address string) {
	count := `document.querySelector("#count").textContent`
	counted := func(text string) {
		t.Helper()
		p.until(fmt.Sprintf(`!items.progress && %s === %q`, count, text))
	}
	choose := func(id, value string) {
		t.Helper()
		p.eval(fmt.Sprintf(`{ const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("input", { bubbles: true })); } null`, id, value), nil)
	}
	counted("60 items")
	choose("#f-status", "wrong")
	counted("1 of 60 items")
	choose("#f-run", "1")
	p.until(`!items.progress`)
	if wrong := len(p.found(`{ run: 1, status: "wrong" }`)); wrong < 2 || wrong > 60 {
		t.Errorf("random is wrong in %d of 60 items", wrong)
	}
	choose("#f-status", "flipped")
	counted(fmt.Sprintf("%d of 60 items", len(p.found(`{ run: 0, against: 1, status: "gained" }`))+len(p.found(`{ run: 0, against: 1, status: "lost" }`))))
	choose("#f-status", "all")
	choose("#f-shape", "parallel calls")
	counted("20 of 60 items")
	choose("#f-shape", "")
	p.key("/")
	p.until(`document.activeElement.id === "f-search"`)
	p.typed("town 42")
	counted("1 of 60 items")
	choose("#f-search", "RAW-SECRET kelvin") // in the text of a reply, with the Kelvin sign
	counted("1 of 60 items")
	choose("#f-search", "nowhere-to-be-found")
	counted("0 of 60 items")
	want(t, "what an empty list says", p.text(`document.querySelector("#empty").innerText`), "No item passes these filters.")
	p.key("Escape")
	choose("#f-search", "")
	counted("60 items")
	p.key("j")
	p.until(`document.querySelector("#detail h2")`)
	p.key("j")
	p.until(`document.querySelector("#detail h2").textContent === "made/item_1"`)
	p.key("k")
	p.until(`current.item === 0`)
	p.key("j")
	p.until(`current.item === 1`)
	next := ""
	for _, id := range p.found(`{ run: 1, status: "wrong" }`) {
		if n := strings.TrimPrefix(id, "made/item_"); next == "" && n != id && n != "1" {
			next = n
		}
	}
	p.key("n")
	p.until(`String(current.item) === "` + next + `"`)
	if hash := p.text(`decodeURIComponent(location.hash)`); !strings.Contains(hash, "item=made/item_"+next) {
		t.Errorf("the address ends in %q, want the item %s in it", hash, next)
	}
	p.until(`document.querySelectorAll("#rows [aria-selected=true]").length === 1`)
	p.key("p")
	p.until(`String(current.item) !== "` + next + `"`)
	p.key("?")
	p.until(`document.querySelector("#help").open`)
	p.key("Escape")
	p.until(`!document.querySelector("#help").open`)
	p.quiet(address)
}

// found returns the ids of the items that pass a filter, given as the source
// of an object.
func (p *tab) found(filter string) []string {
	p.t.Helper()
	var ids []string
	p.eval(`(async () => {
		const list = source.find({ ...NO_FILTER, ...`+filter+` }, () => {});
		await list.first;
		while (list.progress) await pause(5);
		const out = [];
		for (let at = 0; at < list.total; at++) {
			let row;
			while (!(row = list.row(at)) && !list.fault) await pause(2);
			out.push(itemName(row));
		}
		return list.fault ? ["fault: " + list.fault] : out;
	})()`, &ids)
	return ids
}

// shownAsText looks at the hostile item from every side.
func shownAsText(t *testing.T, p *tab, allowed ...string) {
	p.key("j")
	p.until(`document.querySelector("#detail h2")`)
	p.eval(`document.querySelectorAll("#detail details").forEach((d) => { d.open = true; }); null`, nil)
	p.until(`document.querySelector("#detail .tools li")`)
	p.eval(`document.querySelectorAll("#detail details").forEach((d) => { d.open = true; }); null`, nil)
	p.until(`document.querySelector("#detail .tools .box")`)
	if got := p.text(`document.querySelector("#detail").textContent`); !strings.Contains(got, `<script>window.pwned=1;alert(1)</script><img src="https://evil.example/x.png"`) {
		t.Errorf("the item does not show the markup as text: %.300q", got)
	}
	want(t, "what ran", p.text(`typeof window.pwned`), "undefined")
	want(t, "elements from data", p.text(`document.querySelectorAll("img, iframe, svg, object, embed, [onerror], [onload]").length`), "0")
	want(t, "hidden characters", p.text(`/[\u202e\u2066\u200b\u0007\u{e0041}]/u.test(document.body.innerText)`), "false")
	want(t, "a change of direction", p.text(`[...document.querySelectorAll("#detail .ctl")].some((x) => x.textContent === "U+202E")`), "true")
	longest := `Math.max(...[...document.querySelectorAll("#detail .text")].map((x) => x.textContent.length))`
	var before, after int
	p.eval(longest, &before)
	if before > 10_000 {
		t.Errorf("a text of %d characters is shown at once, want it cut", before)
	}
	p.shot("hostile")
	p.eval(`{ let b, left = 30; while ((b = document.querySelector("#detail .raws .more")) && left-- > 0) b.click(); } null`, nil)
	p.eval(longest, &after)
	if after < 1<<20 {
		t.Errorf("after all of it was asked for, %d characters are shown, want more than a million", after)
	}
	p.quiet(allowed...)
}

// served starts view on runs in dir and returns its address.
func served(t *testing.T, dir string, runs ...string) string {
	t.Helper()
	cmd := exec.Command(binary(t), append([]string{"view", "--addr", "127.0.0.1:0"}, runs...)...)
	cmd.Dir = dir
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Errorf("after an interrupt view ends with %v, want no error", err)
		}
	})
	line, err := bufio.NewReader(talk).ReadString('\n')
	address, _, _ := strings.Cut(line, " ")
	if err != nil || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("view says %q, %v; want its address", line, err)
	}
	return address
}

// TestViewer looks at the same runs through the server.
func TestViewer(t *testing.T) {
	dir := runs(t, 60)
	address := served(t, dir, "gold", "random")
	c := start(t)
	t.Run("filters, searches and steps by keys", func(t *testing.T) { walk(t, c.open(t, address+"#items"), address) })
	t.Run("hostile text is text", func(t *testing.T) { shownAsText(t, c.open(t, address+"#items"), address) })
	t.Run("a link leads to its item", func(t *testing.T) {
		p := c.open(t, address+"#item=made/item_9&run=1")
		p.until(`document.querySelector("#detail h2")`)
		want(t, "the item", p.text(`document.querySelector("#detail h2").textContent`), "made/item_9")
		p.eval(`location.hash = "#item=made/nothing&run=99&status=no&cls=no&ds=no&turn=-3"; null`, nil)
		p.until(`document.querySelector("#detail .notice")`)
		want(t, "what is said of an unknown item", p.text(`document.querySelector("#detail").innerText`), "This report has no item made/nothing.")
		p.quiet(address)
	})
}

// TestViewerFindsWhatTheReportFinds asks both sources for every filter.
func TestViewerFindsWhatTheReportFinds(t *testing.T) {
	dir := runs(t, 450)
	c := start(t)
	file, server := c.open(t, page(t, dir)+"#items"), c.open(t, served(t, dir, "gold", "random")+"#items")
	filters := []string{`{}`, `{ cls: "wrong_value", run: 1 }`, `{ shape: "single call", status: "lost" }`, `{ ds: "made" }`}
	var more []string
	file.eval(`DATA.statuses.flatMap((s) => [JSON.stringify({ status: s.name }), JSON.stringify({ status: s.name, run: 1, against: 0, q: "town 4" })])`, &more)
	filters = append(filters, more...)
	for _, q := range []string{
		"TOWN", "town 199", "  town\t19\u00a0", "raw-secret", "Kelvin", "\u212aelvin", "σίσυφος", "ΣΊΣΥΦΟΣ", "straße", "STRASSE", "STRAßE", "İstanbul", "i̇stanbul", "istanbul",
		"window.pwned", "\u202egnp", `"city"`, `\`, `{"city":"`, ".*", "[a-z]", "made/item_3", "get_weather", "book_table", "🙂", "thought", "\ufffd", "a\u0085b",
	} {
		text, err := json.Marshal(object{"q": q})
		if err != nil {
			t.Fatal(err)
		}
		filters = append(filters, string(text))
	}
	some := 0
	for _, f := range filters {
		a, b := file.found(f), server.found(f)
		if !slices.Equal(a, b) {
			t.Errorf("filter %s: the file finds %d items, the server %d: %.200q against %.200q", f, len(a), len(b), a, b)
		}
		if len(a) > 0 && len(a) < 450 {
			some++
		}
	}
	if some < 15 {
		t.Errorf("%d of %d filters find some items and not all, want more than 15", some, len(filters))
	}
}

// TestTwentyThousand opens a report of 20,000 items and filters it. The page
// measures itself and the best of three is logged: how long it takes is no
// matter of right or wrong, but what it finds is.
func TestTwentyThousand(t *testing.T) {
	dir := runs(t, 20_000)
	address := page(t, dir)
	c := start(t)
	n := 0
	for i := range 20_000 {
		n += strings.Count(fmt.Sprintf("%d", i), "199")
	}
	found := fmt.Sprintf("%d of 20,000 items", n)
	openMs, filterMs, deepMs := math.Inf(1), math.Inf(1), math.Inf(1)
	for range 3 {
		p := c.open(t, address+"#items")
		var ms float64
		p.eval(`Number(document.body.dataset.ready)`, &ms)
		openMs = min(openMs, ms)
		t.Logf("opened in %.0f ms; script at %s", ms, p.text(`document.body.dataset.script`))
		want(t, "the items", p.text(`document.querySelector("#count").textContent`), "20,000 items")
		var took [2]float64
		p.eval(`(async () => {
			const from = performance.now(), s = document.querySelector("#f-search");
			s.value = "town 199";
			s.dispatchEvent(new Event("input", { bubbles: true }));
			document.querySelector("#list").offsetHeight;
			const first = performance.now() - from;
			while (items.progress) await pause(5);
			return [first, performance.now() - from];
		})()`, &took)
		filterMs, deepMs = min(filterMs, took[0]), min(deepMs, took[1])
		want(t, "what is found", p.text(`document.querySelector("#count").textContent`), found)
		p.shot("twenty-thousand")
	}
	t.Logf("20,000 items, 2 runs: open %.0f ms, search %.0f ms for the first results and %.0f ms through all of the text; a second is the aim", openMs, filterMs, deepMs)
}
