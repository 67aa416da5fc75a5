//go:build e2e

package browser

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRuns looks at runs that somebody has: ASSAY_E2E_RUNS is a folder that
// holds scored run folders (matching */run.json) and their records. What it
// takes to write, open, filter and search is logged; screenshots and the print
// of both pages go to ASSAY_E2E_SHOTS.
func TestRuns(t *testing.T) {
	dir := os.Getenv("ASSAY_E2E_RUNS")
	if dir == "" {
		t.Skip("ASSAY_E2E_RUNS names no folder of scored runs to look at; \"assay demo\" makes one, demo-out/runs: ASSAY_E2E_RUNS=$PWD/demo-out/runs e2e/browser/run.sh -run TestRuns")
	}
	infos, err := filepath.Glob(filepath.Join(dir, "*", "run.json"))
	if err != nil || len(infos) == 0 {
		t.Fatalf("%s: no folder with a run.json in it (%v)", dir, err)
	}
	var names []string
	for _, info := range infos {
		names = append(names, filepath.Base(filepath.Dir(info)))
	}
	out := filepath.Join(t.TempDir(), "report.html")
	cmd := exec.Command(binary(t), append([]string{"report", "-o", out}, names...)...)
	cmd.Dir = dir
	if talk, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, talk)
	}
	if file, err := os.Stat(out); err == nil {
		t.Logf("%d runs: %d bytes of HTML, %.1f s of CPU", len(names), file.Size(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	}
	c := start(t)
	for _, page := range []struct{ name, address string }{{"report", "file://" + out}, {"view", served(t, dir, names...)}} {
		t.Run(page.name, func(t *testing.T) { lookAt(t, c, page.name, page.address) })
	}
}

func lookAt(t *testing.T, c *chromium, name, address string) {
	p := c.open(t, address+"#items")
	t.Logf("opened in %s ms: %s", p.text(`document.body.dataset.ready`), p.text(`document.querySelector("#count").textContent`))
	for _, f := range []string{`{ status: "wrong" }`, `{ status: "flipped" }`, `{ status: "lost", run: 0, against: DATA.columns.length - 1 }`, `{ q: "weather" }`, `{ q: "STRASSE" }`, `{ q: "straße parameter" }`, `{ q: "nowhere-to-be-found" }`} {
		var took [2]float64
		p.eval(`(async () => {
			filter = { ...NO_FILTER, ...`+f+` };
			const from = performance.now();
			applyFilter();
			await items.first;
			while (!items.row(0) && items.progress) await pause(1);
			const first = performance.now() - from;
			while (items.progress) await pause(1);
			return [first, performance.now() - from];
		})()`, &took)
		t.Logf("%-55s first row after %4.0f ms, all after %5.0f ms: %s", f, took[0], took[1], p.text(`document.querySelector("#count").textContent`))
	}
	p.eval(`location.hash = "#items&run=0&status=lost&q=weather"; null`, nil)
	p.until(`!items.progress && filter.q`)
	p.key("j")
	p.until(`document.querySelector("#detail h2")`)
	for _, scheme := range []string{"light", "dark"} {
		c.call(t, p.session, "Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}})
		p.shot(name + "-real-item-" + scheme)
	}
	p.eval(`location.hash = "#overview"; null`, nil)
	p.until(`!document.querySelector("#overview-view").hidden`)
	for _, scheme := range []string{"dark", "light"} {
		c.call(t, p.session, "Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}})
		p.shot(name + "-real-overview-" + scheme)
	}
	p.print(name + "-real-overview")
	p.eval(`location.hash = "#items&run=0&status=lost&q=weather"; null`, nil)
	p.until(`!items.progress && filter.q`)
	p.key("j")
	p.until(`current`)
	p.print(name + "-real-item")
	p.quiet(address)
}

// print keeps a page as it would be printed.
func (p *tab) print(name string) {
	dir := os.Getenv("ASSAY_E2E_SHOTS")
	if dir == "" {
		return
	}
	p.t.Helper()
	var got struct{ Data string }
	decode(p.t, p.c.call(p.t, p.session, "Page.printToPDF", object{"printBackground": true}), &got)
	data, err := base64.StdEncoding.DecodeString(got.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".pdf"), data, 0o644)
	}
	if err != nil {
		p.t.Error(err)
	}
}
