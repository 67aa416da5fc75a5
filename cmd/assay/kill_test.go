//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"assay/eval"
	"assay/model/modeltest"
)

// A process of the real program, killed at 50 random moments and started again
// each time, makes the predictions of a run that nobody disturbs, byte for
// byte, and loses no more than what was in flight.
func TestKillAndResume(t *testing.T) {
	const (
		records, workers, kills = 60, 4, 50
		perRecord               = 2 // requests
	)
	gold := numberedGold(t, records)
	var victim atomic.Pointer[os.Process]
	var asked, target atomic.Int64 // requests so far, and the one that kills
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		n, at := asked.Add(1), target.Load()
		rep := numberedAnswer(r)
		if p := victim.Load(); p != nil && n == at {
			if n%2 == 0 {
				_ = p.Kill() // before the reply
			} else {
				time.AfterFunc(time.Duration(n%7)*300*time.Microsecond, func() { _ = p.Kill() })
			}
		}
		return rep
	})
	start := func(dir string) (cmd *exec.Cmd, talk *bytes.Buffer) {
		cmd = exec.CommandContext(t.Context(), "assay", "run", gold, "--out", dir, "--model", "openai/"+modeltest.ModelName, "--base-url", s.URL+"/v1",
			"--concurrency", fmt.Sprint(workers), "--skip-probes", "--retries", "0")
		talk = &bytes.Buffer{}
		cmd.Stderr = talk
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, talk
	}
	finish := func(dir string) []byte {
		cmd, talk := start(dir)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, talk)
		}
		data, err := os.ReadFile(filepath.Join(dir, eval.PredictionsFile))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	clean := finish(filepath.Join(t.TempDir(), "clean"))
	if n := bytes.Count(clean, []byte("\n")); n != records {
		t.Fatalf("%d predictions, want %d", n, records)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for killed := 0; killed < kills; {
		dir := filepath.Join(t.TempDir(), "run")
		asked.Store(0)
		here := 0
		for ; here < 12; here++ {
			target.Store(asked.Load() + 1 + rng.Int64N(12))
			cmd, _ := start(dir)
			victim.Store(cmd.Process)
			early := func() bool { return true }
			if rng.IntN(4) == 0 { // maybe before it asks anything
				early = time.AfterFunc(time.Duration(rng.IntN(40))*time.Millisecond, func() { _ = cmd.Process.Kill() }).Stop
			}
			err := cmd.Wait()
			early()
			victim.Store(nil)
			if err == nil {
				break // it was done before its moment came
			}
			killed++
		}
		if got := finish(dir); !bytes.Equal(got, clean) {
			t.Fatalf("after %d kills the predictions are\n%s\nwant\n%s", here, got, clean)
		}
		if n := int(asked.Load()); n > perRecord*(records+here*workers) {
			t.Errorf("%d requests for %d records and %d kills: more than what was in flight was asked again", n, records, here)
		}
	}
}

// A key is in nothing that a run leaves: files, talk, errors, the cache, or the
// dump of a crash, whatever the server does with it.
func TestKeysAreNowhere(t *testing.T) {
	const key = "sk-Zm9vYmFy-7f3e9a1c5b2d"
	gold := numberedGold(t, 4)
	dir := t.TempDir()
	var mu sync.Mutex
	var talk bytes.Buffer
	hold := make(chan *os.Process, 1)
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		auth := r.Header.Get("Authorization")
		if auth != "Bearer "+key {
			t.Errorf("the server got the header %q", auth)
		}
		switch {
		case strings.Contains(r.Last(), "Question 0"):
			return modeltest.Reply{Status: 401, Text: "wrong key " + auth}
		case strings.Contains(r.Last(), "Question 1"):
			return modeltest.Reply{Body: "<html>" + auth + "</html>", Header: map[string]string{"X-Echo": auth}}
		case strings.Contains(r.Last(), "Question 2"):
			return modeltest.Reply{Text: "your key is " + auth, Reasoning: auth}
		case strings.Contains(r.Last(), "Question 3"):
			select {
			case p := <-hold: // a crash while a request with the key is in flight
				_ = p.Signal(syscall.SIGQUIT)
				return modeltest.Reply{Delay: time.Minute}
			default:
			}
		}
		return numberedAnswer(r)
	})
	run := func(env []string, flags ...string) {
		cmd := exec.CommandContext(t.Context(), "assay", append([]string{
			"run", gold, "--model", "openai/" + modeltest.ModelName,
			"--skip-probes", "--retries", "0", "--concurrency", "1",
		}, flags...)...)
		cmd.Env = append(os.Environ(), append(env, "OPENAI_API_KEY="+key)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(flags, " "), "crash") {
			hold <- cmd.Process
		}
		_ = cmd.Wait() // most of them are meant to fail
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&talk, "%s %s: %s\n%s\n", env, flags, cmd.ProcessState, &out)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	run(nil, "--out", at("run"), "--base-url", s.URL+"/v1", "--cache", at("cache.db"))
	run([]string{"GOTRACEBACK=crash"}, "--out", at("crash"), "--base-url", s.URL+"/v1")
	// Keys where they do not belong are refused, and not told.
	quiet := talk.Len()
	hidden := strings.TrimPrefix(s.URL, "http://")
	for i, flags := range [][]string{
		{"--base-url", "http://" + key + "@" + hidden + "/v1"},
		{"--base-url", "http://user:" + key + "@" + hidden + "/v1"},
		{"--base-url", s.URL + "/v1?api_key=" + key},
		{"--base-url", s.URL + "/v1#" + key},
		{"--base-url", "ftp://" + key + "@host/v1"},
		{"--base-url", "http://user:" + key + "@ho st/%zz"},
		{"--model", "ollama/" + modeltest.ModelName, "--base-url", "http://" + key + "@host"},
		{"--model", "ollama/" + modeltest.ModelName, "--base-url", "http://host?key=" + key},
	} {
		run(nil, append([]string{"--out", at(fmt.Sprint("refused", i))}, flags...)...)
	}
	run([]string{"HTTP_PROXY=http://user:" + key + "@[::1", "NO_PROXY="}, "--out", at("proxy"), "--base-url", "http://host.invalid/v1")
	refused := talk.String()[quiet:]
	// The test's own lines hold the flags; what the program said must not.
	for line := range strings.Lines(refused) {
		if strings.HasPrefix(line, "assay:") && strings.Contains(line, key) {
			t.Errorf("said: %s", line)
		}
	}
	said := talk.String()[:quiet]
	if strings.Contains(said, key) {
		t.Errorf("the key was told:\n%s", said)
	}
	if !strings.Contains(said, "SIGQUIT") || !strings.Contains(said, "goroutine") {
		t.Errorf("there was no crash to look at:\n%s", said)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(key)) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil || files < 8 {
		t.Errorf("looked at %d files, %v; want those of two runs and the cache", files, err)
	}
	if data, err := os.ReadFile(filepath.Join(at("run"), eval.PredictionsFile)); err != nil || !bytes.Contains(data, []byte("your key is Bearer [key]")) {
		t.Errorf("the reply that echoed the key is not there without it: %s, %v", data, err)
	}
}

// A budget ends a run as an interrupt does, and the same command goes on.
func TestBudgetStopsAndResumes(t *testing.T) {
	gold := numberedGold(t, 30)
	var asked atomic.Int64
	s := modeltest.NewServer(t, func(r modeltest.Request) modeltest.Reply {
		asked.Add(1)
		rep := numberedAnswer(r)
		rep.Prompt, rep.Completion = 90, 10
		return rep
	})
	dir := filepath.Join(t.TempDir(), "run")
	command := func(flags ...string) (int, string) {
		var out, talk bytes.Buffer
		code := run(context.Background(), append([]string{
			"run", gold, "--out", dir, "--model", "openai/" + modeltest.ModelName, "--base-url", s.URL + "/v1",
			"--skip-probes", "--concurrency", "auto",
		}, flags...), stdio{strings.NewReader(""), &out, &talk})
		return code, talk.String()
	}
	code, talk := command("--max-requests", "25")
	if n := asked.Load(); code != exitInterrupted || n > 25 || n < 10 || !strings.Contains(talk, "--max-requests 25") || !strings.Contains(talk, "--out "+dir) {
		t.Errorf("exit code %d after %d requests:\n%s", code, n, talk)
	}
	if info, err := eval.ReadRun(dir); err != nil || info.State != eval.StateInterrupted || info.Counts.Failed != 0 || int64(2*info.Counts.Finished) != asked.Load() {
		t.Errorf("%+v, %v after %d requests; want an interrupted run in which none was asked in vain", info.Counts, err, asked.Load())
	}
	before := asked.Load()
	code, talk = command("--max-tokens-total", "1000")
	if n := asked.Load() - before; code != exitInterrupted || n < 10 || n > 40 || !strings.Contains(talk, "--max-tokens-total 1000") {
		t.Errorf("exit code %d after %d requests of 100 tokens:\n%s", code, n, talk)
	}
	if code, talk = command(); code != exitOK || asked.Load() != 60 {
		t.Errorf("exit code %d, %d requests in all, want 60:\n%s", code, asked.Load(), talk)
	}
}

// With a cache, a second run sends nothing, and its predictions say so.
func TestCacheAnswersASecondRun(t *testing.T) {
	gold := numberedGold(t, 5)
	s := modeltest.NewServer(t, numberedAnswer)
	tmp := t.TempDir()
	command := func(out string) (predictions []byte, info eval.RunInfo) {
		dir := filepath.Join(tmp, out)
		assay(t, "run", gold, "--out", dir, "--model", "openai/"+modeltest.ModelName, "--base-url", s.URL+"/v1", "--skip-probes", "--cache", filepath.Join(tmp, "c.db"))
		info, err := eval.ReadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, eval.PredictionsFile))
		if err != nil {
			t.Fatal(err)
		}
		return data, info
	}
	first, info := command("first")
	if n := len(s.Requests()); n != 10 || info.Counts.Cached != 0 || bytes.Contains(first, []byte("cached")) {
		t.Errorf("the first run sent %d requests, %+v", n, info.Counts)
	}
	second, again := command("second")
	if n := len(s.Requests()); n != 10 || again.Counts.Cached != 10 || again.Counts.CachedPromptTokens != info.Counts.PromptTokens {
		t.Errorf("after the second run %d requests were sent, %+v", n, again.Counts)
	}
	if got := bytes.ReplaceAll(second, []byte(`,"cached":true`), nil); !bytes.Equal(got, first) {
		t.Errorf("the second run predicts\n%s\nwant\n%s", got, first)
	}
}

// Concurrency and the number of servers change no byte.
func TestFleetChangesNoByte(t *testing.T) {
	gold := numberedGold(t, 40)
	one, two := modeltest.NewServer(t, numberedAnswer), modeltest.NewServer(t, numberedAnswer)
	var want []byte
	for _, flags := range [][]string{
		{"--concurrency", "1", "--base-url", one.URL + "/v1"},
		{"--concurrency", "auto", "--base-url", one.URL + "/v1"},
		{"--concurrency", "16", "--base-url", one.URL + "/v1," + two.URL + "/v1"},
		{"--concurrency", "auto", "--base-url", one.URL + "/v1," + two.URL + "/v1/"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		assay(t, append([]string{"run", gold, "--out", dir, "--model", "openai/" + modeltest.ModelName}, flags...)...)
		got, err := os.ReadFile(filepath.Join(dir, eval.PredictionsFile))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%v: other predictions", flags)
		}
	}
	if len(two.Requests()) < 40 {
		t.Errorf("the second server got %d requests, want about half of 160", len(two.Requests()))
	}
}
