package cache_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/model"
	"assay/model/cache"
	"assay/qaoa"
)

// A server counts what it is asked.
type server struct {
	mu    sync.Mutex
	n     int
	reply func(model.Request) (model.Reply, error)
}

func (s *server) Chat(_ context.Context, req model.Request) (model.Reply, error) {
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
	if s.reply != nil {
		return s.reply(req)
	}
	return whole(req.Messages[0].Content), nil
}

// whole returns a reply with every field set that a server sets.
func whole(text string) model.Reply {
	return model.Reply{
		Text: text + " \"é\" <b>\u2028", Reasoning: "hm", Finish: "stop", Usage: model.Usage{Prompt: 3, Completion: -1},
		Calls:   []qaoa.Call{{Name: "f", Arguments: `{"a":1.0,"b":12345678901234567890}`}, {Raw: "{broken"}},
		Latency: time.Second, Attempts: 2,
	}
}

func ask(text string) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Content: text}}}
}

func open(t *testing.T, path string, maxBytes int64) *cache.Store {
	t.Helper()
	s, err := cache.Open(path, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // twice does nothing
	return s
}

var id = cache.Identity{Model: "openai/m", Digest: "d"}

// session opens the file, asks one request, and closes it.
func session(t *testing.T, path string, id cache.Identity, req model.Request, m *server) model.Reply {
	t.Helper()
	s := open(t, path, 0)
	reply, err := cache.New(m, s, id).Chat(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestLaterRunsAreAnsweredFromTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd name ?#%.db")
	m := &server{}
	first := session(t, path, id, ask("hi"), m)
	if first.Cached || first.Attempts != 2 {
		t.Errorf("the first reply is %+v", first)
	}
	second := session(t, path, id, ask("hi"), m)
	want := whole("hi")
	want.Latency, want.Attempts, want.Cached = 0, 0, true
	if d := cmp.Diff(want, second); d != "" || m.n != 1 {
		t.Errorf("asked %d times; the second reply (-want +got):\n%s", m.n, d)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(files) != 1 {
		t.Errorf("files %q, %v; want the one that was named", files, err)
	}
}

// Within one run nothing is answered from what the run itself stored, or the
// order of replies would decide what is marked as cached.
func TestOneRunDoesNotAnswerItself(t *testing.T) {
	m := &server{}
	c := cache.New(m, open(t, filepath.Join(t.TempDir(), "c.db"), 0), id)
	for range 3 {
		if reply, err := c.Chat(t.Context(), ask("hi")); err != nil || reply.Cached {
			t.Errorf("reply %+v, %v", reply, err)
		}
	}
	if m.n != 3 {
		t.Errorf("asked %d times, want 3", m.n)
	}
}

// Whatever decides a reply is part of the key.
func TestOtherRequestsAreOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	base := func() model.Request {
		r := ask("hi")
		r.Tools = []qaoa.Tool{{Name: "f", Description: "d", Parameters: "{}"}}
		r.Case = &model.Case{}
		return r
	}
	m := &server{}
	session(t, path, id, base(), m)
	for _, tt := range []struct {
		name string
		id   cache.Identity
		edit func(*model.Request)
		hit  bool
	}{
		{"the same", id, func(*model.Request) {}, true},
		{"another record that asks the same", id, func(r *model.Request) { r.Case = &model.Case{Record: qaoa.Record{ID: "x"}}; r.Turn = 3 }, true},
		{"model", cache.Identity{Model: "openai/other", Digest: "d"}, func(*model.Request) {}, false},
		{"digest", cache.Identity{Model: "openai/m", Digest: "e"}, func(*model.Request) {}, false},
		{"extra members", cache.Identity{Model: "openai/m", Digest: "d", Extra: "{}"}, func(*model.Request) {}, false},
		{"texts cut elsewhere", cache.Identity{Model: "openai/md", Digest: ""}, func(*model.Request) {}, false},
		{"content", id, func(r *model.Request) { r.Messages[0].Content = "ho" }, false},
		{"role", id, func(r *model.Request) { r.Messages[0].Role = model.System }, false},
		{"calls of the history", id, func(r *model.Request) { r.Messages[0].Calls = []qaoa.Call{{Name: "f"}} }, false},
		{"call id", id, func(r *model.Request) { r.Messages[0].CallID = "1" }, false},
		{"one message more", id, func(r *model.Request) { r.Messages = append(r.Messages, model.Message{}) }, false},
		{"tool", id, func(r *model.Request) { r.Tools[0].Parameters = `{"type":"object"}` }, false},
		{"tool choice", id, func(r *model.Request) { r.ToolChoice = "required" }, false},
		{"parallel calls", id, func(r *model.Request) { r.ParallelCalls = "off" }, false},
		{"temperature", id, func(r *model.Request) { r.Sampling.Temperature = .1 }, false},
		{"top p", id, func(r *model.Request) { r.Sampling.TopP = .1 }, false},
		{"seed", id, func(r *model.Request) { r.Sampling.Seed = 1 }, false},
		{"max tokens", id, func(r *model.Request) { r.Sampling.MaxTokens = 1 }, false},
		{"context length", id, func(r *model.Request) { r.Sampling.NumCtx = 1 }, false},
		{"thinking", id, func(r *model.Request) { r.Sampling.Think = true }, false},
		{"repeat", id, func(r *model.Request) { r.Case.Repeat = 1 }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := base()
			tt.edit(&req)
			if got := session(t, path, tt.id, req, m); got.Cached != tt.hit {
				t.Errorf("cached is %t, want %t", got.Cached, tt.hit)
			}
		})
	}
}

// A member that somebody adds to a request must go into the key, or be listed
// here as one that decides nothing.
func TestKeyKnowsEveryMember(t *testing.T) {
	for _, tt := range []struct {
		of   any
		want string
	}{
		{model.Request{}, "Messages Tools Sampling ToolChoice ParallelCalls Case Turn Slot"},
		{model.Sampling{}, "Temperature TopP Seed MaxTokens NumCtx Think"},
		{model.Message{}, "Role Content Calls CallID"},
		{qaoa.Call{}, "Name Arguments Raw"},
		{qaoa.Tool{}, "Name Description Parameters Category Domain Origin"}, // the last three are not sent
	} {
		typ := reflect.TypeOf(tt.of)
		var have []string
		for field := range typ.Fields() {
			have = append(have, field.Name)
		}
		if strings.Join(have, " ") != tt.want {
			t.Errorf("%s has the members %s; the key of the cache was written for %s", typ, strings.Join(have, " "), tt.want)
		}
	}
}

func TestWhatIsNeverStored(t *testing.T) {
	for name, reply := range map[string]func(model.Request) (model.Reply, error){
		"failures": func(model.Request) (model.Reply, error) {
			return model.Reply{Text: "half"}, &model.Error{Class: model.ClassServer}
		},
		"text that would come back different": func(model.Request) (model.Reply, error) { return model.Reply{Text: "\xff"}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.db")
			m := &server{reply: reply}
			for range 2 {
				s := open(t, path, 0)
				_, _ = cache.New(m, s, id).Chat(t.Context(), ask("hi")) // the failure is the point
				if st := s.Stats(); st.Stored != 0 || st.Hits != 0 || st.Failed != 0 {
					t.Errorf("stats %+v", st)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if m.n != 2 {
				t.Errorf("asked %d times, want 2", m.n)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(dir, "foreign.db")
	exe(t, foreign, "CREATE TABLE x (a)")
	newer := filepath.Join(dir, "newer.db")
	exe(t, newer, "CREATE TABLE x (a); PRAGMA application_id = 1095979865; PRAGMA user_version = 7")
	tests := []struct{ name, path, says string }{
		{"a text file", file("text", strings.Repeat("no database\n", 1000)), "delete it with its -wal and -shm files"},
		{"a database of somebody else", foreign, "no response cache of this program"},
		{"a later format", newer, "format 7"},
		{"a folder", dir, "regular file"},
		{"no such folder", filepath.Join(dir, "no", "c.db"), "existing folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, _ := os.ReadFile(tt.path)
			s, err := cache.Open(tt.path, 0)
			if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("Open = %v, %v; want an error with the path and %q", s, err, tt.says)
			}
			if after, _ := os.ReadFile(tt.path); !slices.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
	if _, err := cache.Open(filepath.Join(dir, "c.db"), -1); err == nil {
		t.Error("a negative bound was taken")
	}
}

func exe(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec(statements)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// A byte that turned over in a stored reply costs a request.
func TestDamagedReplyIsAskedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	m := &server{}
	session(t, path, id, ask("hi"), m)
	exe(t, path, `UPDATE replies SET reply = replace(CAST(reply AS TEXT), 'hi', 'ha')`)
	if got := session(t, path, id, ask("hi"), m); got.Cached || m.n != 2 {
		t.Errorf("reply %+v after %d requests; want one that was asked for again", got, m.n)
	}
	if got := session(t, path, id, ask("hi"), m); !got.Cached || got.Text != whole("hi").Text {
		t.Errorf("reply %+v; want the one that replaced the damaged one", got)
	}
}

// A file that turns out to be damaged during a run costs the cache, and no
// answer.
func TestDamageDuringARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	m := &server{}
	fill := open(t, path, 0)
	for i := range 300 {
		if _, err := cache.New(m, fill, id).Chat(t.Context(), ask(fmt.Sprint(i, strings.Repeat("x", 3000)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, path, 0)
	c := cache.New(m, s, id)
	for i := range data[8192:] {
		data[8192+i] = 0xAA
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		reply, err := c.Chat(t.Context(), ask(fmt.Sprint(i, strings.Repeat("x", 3000))))
		if err != nil || !strings.HasPrefix(reply.Text, fmt.Sprint(i, "x")) {
			t.Fatalf("request %d: %.20q, %v", i, reply.Text, err)
		}
	}
	if notes := strings.Join(c.Notes(), "\n"); !strings.Contains(notes, "could not be read or stored") || !strings.Contains(notes, path) {
		t.Errorf("the notes say nothing of it: %s", notes)
	}
}

func TestBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	const bound = 512 << 10
	s := open(t, path, bound)
	m := &server{reply: func(r model.Request) (model.Reply, error) {
		return model.Reply{Text: r.Messages[0].Content + strings.Repeat("y", 4000)}, nil
	}}
	c := cache.New(m, s, id)
	for i := range 1000 {
		if _, err := c.Chat(t.Context(), ask(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Chat(t.Context(), ask(strings.Repeat("z", bound))); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st.Failed != 0 || st.Stored != 1000 {
		t.Errorf("stats %+v; want all but the one that is too large", st)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 2*bound {
		t.Errorf("the file has %d bytes, %v; want about %d", info.Size(), err, bound)
	}
	if !session(t, path, id, ask("999"), m).Cached || session(t, path, id, ask("0"), m).Cached {
		t.Error("want the newest reply there and the oldest gone")
	}
}

// Several processes fill and use one file. The test runs itself as them.
func TestSeveralProcesses(t *testing.T) {
	const each, processes = 60, 4
	if path := os.Getenv("ASSAY_TEST_CACHE"); path != "" {
		s := open(t, path, 0)
		c := cache.New(&server{}, s, id)
		for i := range each {
			if reply, err := c.Chat(t.Context(), ask(fmt.Sprint("shared ", i))); err != nil || !strings.HasPrefix(reply.Text, fmt.Sprint("shared ", i)) {
				t.Errorf("%+v, %v", reply, err)
			}
		}
		if st := s.Stats(); st.Failed+st.Bad > 0 {
			t.Errorf("stats %+v, notes %q", st, c.Notes())
		}
		return
	}
	path := filepath.Join(t.TempDir(), "c.db")
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSeveralProcesses$", "-test.count", "1")
			cmd.Env = append(os.Environ(), "ASSAY_TEST_CACHE="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	m := &server{}
	c := cache.New(m, open(t, path, 0), id)
	for i := range each {
		if _, err := c.Chat(t.Context(), ask(fmt.Sprint("shared ", i))); err != nil {
			t.Error(err)
		}
	}
	if m.n != 0 {
		t.Errorf("%d of %d replies are not in the file", m.n, each)
	}
}

func BenchmarkHit(b *testing.B) {
	path := filepath.Join(b.TempDir(), "c.db")
	for range 2 {
		s, err := cache.Open(path, 0)
		if err != nil {
			b.Fatal(err)
		}
		c := cache.New(&server{}, s, id)
		if _, err := c.Chat(b.Context(), ask("hi")); err != nil {
			b.Fatal(err)
		}
		if s.Stats().Hits > 0 {
			b.ReportAllocs()
			for b.Loop() {
				if reply, err := c.Chat(b.Context(), ask("hi")); err != nil || !reply.Cached {
					b.Fatal(reply, err)
				}
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
