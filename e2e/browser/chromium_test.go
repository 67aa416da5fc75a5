//go:build e2e

package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A chromium is a running browser.
type chromium struct {
	to   *os.File
	mu   sync.Mutex // guards the rest
	next int
	wait map[int]chan reply
	page map[string]*tab // by session
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// A tab is one open page, with what it did.
type tab struct {
	c       *chromium
	t       *testing.T
	session string

	mu       sync.Mutex
	requests []string // addresses asked for
	dialogs  []string
	errors   []string // thrown, or told by the console
}

// start starts a browser that ends with the test.
func start(t *testing.T) *chromium {
	t.Helper()
	path := os.Getenv("ASSAY_E2E_CHROMIUM")
	if path == "" {
		var err error
		if path, err = exec.LookPath("chromium"); err != nil {
			t.Fatalf("%v; run e2e/browser/run.sh, which installs it", err)
		}
	}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: helpers of the browser may still write for a moment after
	// it ended, and a folder that is not empty would fail the test.
	profile, err := os.MkdirTemp("", "assay-chromium-*") //nolint:usetesting // as said above
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--hide-scrollbars", "--window-size=1366,860", "--no-first-run", "--disable-background-networking",
		"--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{inRead, outWrite}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inRead.Close()
	outWrite.Close()
	c := &chromium{to: inWrite, wait: map[int]chan reply{}, page: map[string]*tab{}}
	done := make(chan struct{})
	go func() { defer close(done); c.listen(outRead) }()
	t.Cleanup(func() {
		inWrite.Close() // at which the browser ends
		if err := cmd.Process.Kill(); err == nil {
			_ = cmd.Wait()
		}
		outRead.Close()
		<-done
		for range 20 {
			if os.RemoveAll(profile) == nil {
				break
			}
		}
	})
	return c
}

// listen takes in messages until the browser ends.
func (c *chromium) listen(from *os.File) {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		data, err := r.ReadBytes(0)
		if err != nil {
			c.mu.Lock()
			for id, ch := range c.wait {
				delete(c.wait, id)
				close(ch)
			}
			c.mu.Unlock()
			return
		}
		var m struct {
			ID      int             `json:"id"`
			Session string          `json:"sessionId"`
			Method  string          `json:"method"`
			Params  json.RawMessage `json:"params"`
			reply
		}
		if json.Unmarshal(data[:len(data)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		ch, page := c.wait[m.ID], c.page[m.Session]
		delete(c.wait, m.ID)
		c.mu.Unlock()
		switch {
		case m.ID > 0 && ch != nil:
			ch <- m.reply
		case page != nil:
			page.event(m.Method, m.Params)
		}
	}
}

// event takes down what a page does.
func (p *tab) event(method string, params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch method {
	case "Network.requestWillBeSent":
		var e struct{ Request struct{ URL string } }
		if json.Unmarshal(params, &e) == nil {
			p.requests = append(p.requests, e.Request.URL)
		}
	case "Page.javascriptDialogOpening":
		p.dialogs = append(p.dialogs, string(params))
	case "Runtime.exceptionThrown", "Log.entryAdded":
		p.errors = append(p.errors, string(params))
	}
}

// call sends a command and returns its result.
func (c *chromium) call(t *testing.T, session, method string, params any) json.RawMessage {
	t.Helper()
	ch := make(chan reply, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.wait[id] = ch
	c.mu.Unlock()
	data, err := json.Marshal(map[string]any{"id": id, "sessionId": session, "method": method, "params": params})
	if session == "" {
		data, err = json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.to.Write(append(data, 0)); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	r, ok := <-ch
	if !ok {
		t.Fatalf("%s: the browser ended", method)
	}
	if r.Error != nil {
		t.Fatalf("%s: %s", method, r.Error.Message)
	}
	return r.Result
}

type object = map[string]any

// open opens an address and waits until the report is ready.
func (c *chromium) open(t *testing.T, address string) *tab {
	t.Helper()
	var target struct{ TargetID string }
	decode(t, c.call(t, "", "Target.createTarget", object{"url": "about:blank"}), &target)
	var attached struct{ SessionID string }
	decode(t, c.call(t, "", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}), &attached)
	p := &tab{c: c, t: t, session: attached.SessionID}
	c.mu.Lock()
	c.page[p.session] = p
	c.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		c.call(t, p.session, domain+".enable", object{})
	}
	if address != "about:blank" {
		p.visit(address)
	}
	return p
}

// visit goes to an address and waits until the report is ready.
func (p *tab) visit(address string) {
	p.t.Helper()
	p.c.call(p.t, p.session, "Page.navigate", object{"url": address})
	p.until(`document.body && document.body.dataset.ready`)
}

func decode(t *testing.T, data json.RawMessage, to any) {
	t.Helper()
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

// eval returns the value of an expression, or of its promise, as JSON.
func (p *tab) eval(expression string, to any) {
	p.t.Helper()
	var r struct {
		Result    struct{ Value json.RawMessage }
		Exception *struct {
			Text      string
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	decode(p.t, p.c.call(p.t, p.session, "Runtime.evaluate", object{"expression": expression, "awaitPromise": true, "returnByValue": true}), &r)
	if r.Exception != nil {
		p.t.Fatalf("%s: %s %s", expression, r.Exception.Text, r.Exception.Exception.Description)
	}
	if to != nil {
		decode(p.t, r.Result.Value, to)
	}
}

// until waits until an expression holds, for at most 30 s.
func (p *tab) until(condition string) {
	p.t.Helper()
	var ok bool
	// A navigation in between ends the promise, so it is asked anew.
	p.eval(`new Promise((done) => {
		let left = 1500;
		const look = setInterval(() => {
			let holds = false;
			try { holds = Boolean(`+condition+`); } catch {}
			if (holds || --left < 0) { clearInterval(look); done(holds); }
		}, 20);
	})`, &ok)
	if !ok {
		p.t.Fatalf("the page never came to: %s\n%s", condition, strings.Join(p.errors, "\n"))
	}
}

func (p *tab) text(expression string) string {
	p.t.Helper()
	var s string
	p.eval("String("+expression+")", &s)
	return s
}

// key presses a key.
func (p *tab) key(key string) {
	p.t.Helper()
	params := object{"type": "keyDown", "key": key}
	switch {
	case len(key) == 1:
		params["text"] = key
	case key == "Escape": // a dialog goes by the code
		params["code"], params["windowsVirtualKeyCode"] = "Escape", 27
	case key == "Tab":
		params["code"], params["windowsVirtualKeyCode"] = "Tab", 9
	}
	p.c.call(p.t, p.session, "Input.dispatchKeyEvent", params)
	p.c.call(p.t, p.session, "Input.dispatchKeyEvent", object{"type": "keyUp", "key": key})
}

// typed types text into what has the focus.
func (p *tab) typed(text string) {
	p.t.Helper()
	p.c.call(p.t, p.session, "Input.insertText", object{"text": text})
}

// shot keeps a screenshot, if somebody wants to look at it.
func (p *tab) shot(name string) {
	dir := os.Getenv("ASSAY_E2E_SHOTS")
	if dir == "" {
		return
	}
	p.t.Helper()
	var s struct{ Data string }
	decode(p.t, p.c.call(p.t, p.session, "Page.captureScreenshot", object{"format": "png"}), &s)
	data, err := base64.StdEncoding.DecodeString(s.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644)
	}
	if err != nil {
		p.t.Error(err)
	}
}

// quiet wants that the page asked for nothing but what the prefixes allow,
// opened no dialog, threw nothing and broke no policy.
func (p *tab) quiet(allowed ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		fits := false
		for _, a := range allowed {
			fits = fits || strings.HasPrefix(r, a)
		}
		if !fits {
			p.t.Errorf("the page asked for %.200s; want nothing but %q", r, allowed)
		}
	}
	for _, d := range p.dialogs {
		p.t.Errorf("a dialog opened: %s", d)
	}
	for _, e := range p.errors {
		p.t.Errorf("the console says: %s", e)
	}
}
