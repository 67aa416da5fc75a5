// Runner measures how near the runner comes to the rate that a server allows.
// It is both sides: a server with a fixed latency, and the runner of package
// eval over the OpenAI-compatible client and a fleet, with 20 tools in each
// request.
//
//	runner serve -addr 127.0.0.1:18080 -latency 20ms
//	runner ask -url http://127.0.0.1:18080 -c 64 -n 20000 -latency 20ms
//	runner body > body.json      what ask sends, for other clients
//
// bench.sh runs it beside wrk.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/goccy/go-json"

	"assay/eval"
	"assay/model"
	"assay/model/fleet"
	"assay/model/openai"
	"assay/model/transport"
	"assay/qaoa"
)

func main() {
	// As in the program itself: garbage is collected from 16 MB on.
	floor := make([]byte, 8<<20)
	defer runtime.KeepAlive(floor)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "runner:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want serve, ask or body")
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	addr := flags.String("addr", "127.0.0.1:18080", "serve: where to listen")
	latency := flags.Duration("latency", 0, "serve: wait before each answer; ask: what the ideal rate is computed from")
	url := flags.String("url", "http://127.0.0.1:18080", "ask: the server")
	workers := flags.Int("c", 64, "ask: conversations at a time")
	requests := flags.Int("n", 10_000, "ask: conversations of one request")
	profile := flags.String("profile", "", "ask: write a profile of the CPU to this file")
	folder := flags.Bool("folder", true, "ask: keep a run folder, as \"assay run\" does")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "serve":
		return serve(*addr, *latency)
	case "body":
		return printBody(os.Stdout)
	case "ask":
		if *profile != "" {
			file, err := os.Create(*profile)
			if err != nil {
				return err
			}
			if err := pprof.StartCPUProfile(file); err != nil {
				return err
			}
			defer pprof.StopCPUProfile()
		}
		m, err := measure(*url, *workers, *requests, *folder)
		if err != nil {
			return err
		}
		if *latency > 0 {
			m.OfIdeal = m.PerSecond / (float64(*workers) / latency.Seconds())
		}
		return json.NewEncoder(os.Stdout).Encode(m)
	}
	return fmt.Errorf("%q: want serve, ask or body", args[0])
}

// reply is what the server always says.
const reply = `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"It will be sunny in Oslo tomorrow, with 21 degrees and a light wind."}}],"usage":{"prompt_tokens":900,"completion_tokens":20,"total_tokens":920}}`

// serve answers until the process is ended.
func serve(addr string, latency time.Duration) error {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println("listening on", l.Addr())
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the client may be gone
		time.Sleep(latency)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
	})}
	return s.Serve(l)
}

// A measurement is what one run took.
type measurement struct {
	Workers   int     `json:"workers"`
	Requests  int     `json:"requests"`
	PerSecond float64 `json:"requests_per_second"`
	OfIdeal   float64 `json:"of_ideal,omitempty"` // workers / latency
	// CPU is user and system time of this process, in microseconds a request.
	CPU        float64 `json:"cpu_us_per_request"`
	Goroutines int     `json:"goroutines_at_most"`
	// The live heap after a tenth of the requests and at their end, in MB.
	HeapEarly float64 `json:"heap_mb_early"`
	HeapLate  float64 `json:"heap_mb_late"`
}

// tools are the 20 that every request offers.
func tools() []qaoa.Tool {
	var list []qaoa.Tool
	for i := range 20 {
		list = append(list, qaoa.Tool{
			Name: fmt.Sprintf("tool_number_%d", i), Description: strings.Repeat("does something useful ", 4),
			Parameters: `{"type":"object","properties":{"city":{"type":"string","description":"the name of a city"},"days":{"type":"integer","description":"how many days ahead","default":1}},"required":["city"]}`,
		})
	}
	return list
}

// records yields n of one turn without a call.
func records(n int) iter.Seq2[qaoa.Record, error] {
	offered := tools()
	return func(yield func(qaoa.Record, error) bool) {
		for i := range n {
			rec := qaoa.Record{ID: fmt.Sprint("r", i), Tools: offered, Turns: []qaoa.Turn{{Query: fmt.Sprintf("What is the weather like in Oslo tomorrow? This is question %d.", i)}}}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// client returns the fleet of one server that is measured.
func client(url string, workers int, via *http.Client) (*fleet.Fleet, error) {
	c, err := openai.New(openai.Config{BaseURL: url + "/v1", Model: "m", HTTP: transport.Options{Concurrency: workers, Client: via}})
	if err != nil {
		return nil, err
	}
	return fleet.New([]fleet.Host{{Name: url, Chatter: c}}, fleet.Options{Concurrency: workers, Retries: 4})
}

// options are those of the runs that are measured.
func options(workers int) eval.Options {
	return eval.Options{Model: "openai/m", Calls: eval.CallsNative, Workers: workers, GiveUp: 20}
}

// measure asks all requests.
func measure(url string, workers, requests int, folder bool) (measurement, error) {
	m := measurement{Workers: workers, Requests: requests}
	f, err := client(url, workers, nil)
	if err != nil {
		return m, err
	}
	defer f.Close()
	if err := ask(f, workers, 2*workers, nil); err != nil { // opens the connections
		return m, err
	}
	var keep *eval.Folder
	if folder {
		if keep, err = newFolder(options(workers), requests); err != nil {
			return m, err
		}
	}
	runtime.GC()
	cpu, began := cpuTime(), time.Now()
	n := 0
	err = ask(f, workers, requests, func(res eval.Result) error {
		if n++; n == requests/10 {
			m.HeapEarly = liveHeap()
		}
		m.Goroutines = max(m.Goroutines, runtime.NumGoroutine())
		if keep == nil {
			return nil
		}
		return keep.Save(res)
	})
	took, used := time.Since(began), cpuTime()-cpu
	m.HeapLate = liveHeap()
	m.PerSecond = float64(requests) / took.Seconds()
	m.CPU = float64(used.Microseconds()) / float64(requests)
	if keep != nil {
		err = errors.Join(err, keep.Close())
	}
	return m, err
}

// ask runs n conversations.
func ask(f *fleet.Fleet, workers, n int, save func(eval.Result) error) error {
	opt := options(workers)
	opt.Save, opt.Admit = save, f.Admit
	for res, err := range eval.Run(context.Background(), f, records(n), opt) {
		if err != nil {
			return err
		}
		if res.Fail != nil {
			return fmt.Errorf("%s: %s: %s", res.ID, res.Fail.Class, res.Fail.Msg)
		}
	}
	return nil
}

// newFolder returns a run folder that is removed at once: the files stay open.
func newFolder(opt eval.Options, n int) (*eval.Folder, error) {
	survey, err := eval.Look(context.Background(), records(n), opt)
	if err != nil {
		return nil, err
	}
	s, err := eval.NewSettings(opt, survey)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "bench-runner")
	if err != nil {
		return nil, err
	}
	f, err := eval.Open(filepath.Join(tmp, "run"), s)
	return f, errors.Join(err, os.RemoveAll(tmp))
}

// liveHeap collects garbage and returns what is left, in MB.
func liveHeap() float64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc) / 1e6
}

// cpuTime returns what this process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A trip answers requests without a network.
type trip func(*http.Request) (*http.Response, error)

func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// answered answers every request.
func answered(r *http.Request) (*http.Response, error) {
	_, err := io.Copy(io.Discard, r.Body)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(reply))}, err
}

// printBody writes the body of one request.
func printBody(w io.Writer) error {
	f, err := client("http://host", 1, &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		if _, err := io.Copy(w, r.Body); err != nil {
			return nil, err
		}
		return answered(r)
	})})
	if err != nil {
		return err
	}
	_, err = f.Chat(context.Background(), model.Request{
		Messages: []model.Message{
			{Role: model.System, Content: eval.PromptFor(eval.CallsNative).Text()},
			{Role: model.User, Content: "What is the weather like in Oslo tomorrow? This is question 0."},
		},
		Tools: tools(),
	})
	return err
}
