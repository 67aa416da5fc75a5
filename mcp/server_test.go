package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverMode is the variable that makes the test binary a server.
const serverMode = "ASSAY_MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	mode := os.Getenv(serverMode)
	if mode == "" {
		os.Exit(m.Run())
	}
	if mode == "sdk" {
		if err := newServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil && !errors.Is(err, context.Canceled) {
			log.Print(err)
		}
		return
	}
	strange(mode)
}

// endpointOf returns the endpoint of this binary as a server, and the options
// for it.
func endpointOf(mode string) (string, Options) {
	return "stdio:'" + os.Args[0] + "'", Options{
		Env:     append(os.Environ(), serverMode+"="+mode),
		Timeout: 20 * time.Second, Grace: 5 * time.Second, MaxReply: 1 << 20,
	}
}

// The schemas of the server, in an order that no map keeps.
var schemas = []string{
	`{"type":"object","required":["z"],"properties":{"z":{"type":"number","minimum":1.0,"maximum":9007199254740993},"a":{"type":"string"},"m":{"enum":["y","x"]}}}`,
	`{"properties":{"text":{"description":"a < b & c","type":"string"}},"type":"object"}`,
	`{"type":"object"}`,
}

// newServer returns a server of the protocol's library, with three pages of
// tools.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{PageSize: 2})
	text := func(texts ...string) *sdk.CallToolResult {
		r := &sdk.CallToolResult{}
		for _, t := range texts {
			r.Content = append(r.Content, &sdk.TextContent{Text: t})
		}
		return r
	}
	add := func(name string, f func(args string) *sdk.CallToolResult) {
		s.AddTool(&sdk.Tool{Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(schemas[0])},
			func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return f(string(req.Params.Arguments)), nil
			})
	}
	add("echo", func(args string) *sdk.CallToolResult { return text(args) })
	add("prose", func(string) *sdk.CallToolResult { return text("It rains.") })
	add("several", func(string) *sdk.CallToolResult { return text(`{"b":1,"a":2.0}`, "two") })
	add("nothing", func(string) *sdk.CallToolResult { return text() })
	add("structured", func(string) *sdk.CallToolResult {
		r := text("shown to people")
		r.StructuredContent = json.RawMessage(`{"z":1.0,"a":[9007199254740993]}`)
		return r
	})
	add("picture", func(string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: make([]byte, 3000)}}}
	})
	add("fails", func(string) *sdk.CallToolResult {
		r := text("no such city")
		r.IsError = true
		return r
	})
	return s
}

// A stranger is a server that follows the protocol as far as its mode lets it.
type stranger struct {
	mode string
	out  *bufio.Writer
	page int // requests so far
}

// say writes a line.
func (s *stranger) say(format string, args ...any) {
	fmt.Fprintf(s.out, format+"\n", args...)
	_ = s.out.Flush()
}

// strange runs a stranger.
func strange(mode string) {
	s := &stranger{mode: mode, out: bufio.NewWriter(os.Stdout)}
	s.begin()
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if mode == "stubborn" {
				time.Sleep(time.Minute)
			}
			return
		}
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if err := json.Unmarshal(line, &req); err != nil || req.ID == nil {
			continue
		}
		if req.Method != "initialize" {
			s.page++
			s.answer(string(req.ID))
			continue
		}
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, req.ID, req.Params.ProtocolVersion)
		if mode == "deaf" {
			time.Sleep(time.Minute)
		}
	}
}

// begin is what comes before the first request.
func (s *stranger) begin() {
	switch s.mode {
	case "banner":
		s.say("Welcome to the server!\n{not json}\n\n  [1, 2]")
	case "dead on arrival":
		fmt.Fprintln(os.Stderr, "no licence for sk-secret-value")
		os.Exit(3)
	case "deaf from the start":
		time.Sleep(time.Minute)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "60")
		if err := child.Start(); err != nil {
			log.Fatal(err)
		}
		s.say("child %d", child.Process.Pid)
	}
}

// results are the modes that always return the same.
var results = map[string]string{
	"the same cursor":       `{"tools":[],"nextCursor":"again"}`,
	"too many tools":        `{"tools":[` + strings.TrimSuffix(strings.Repeat(`{"name":"t"},`, 3000), ",") + `]}`,
	"invalid UTF-8":         "{\"tools\":[{\"name\":\"caf\xe9\",\"description\":\"\xff\",\"inputSchema\":{\"title\":\"\xc3\"}}]}",
	"schemas that are none": `{"tools":[{"name":"a","inputSchema":[1]},{"name":"b","inputSchema":{"type":"object"}},5,{"name":"c","inputSchema":"x"},{"name":"d","annotations":7,"inputSchema":{}}]}`,
	"names that repeat":     `{"tools":[{"name":"a","inputSchema":{}},{"name":"a","inputSchema":{"x":1}}]}`,
	"no list":               `{"tools":{"a":{}}}`,
	"depth":                 `{"tools":[{"name":"b","inputSchema":` + strings.Repeat(`{"a":`, 900) + `1` + strings.Repeat(`}`, 900) + `}]}`,
}

// answer answers the request with that ID.
func (s *stranger) answer(id string) {
	result := func(text string) { s.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, text) }
	switch s.mode {
	case "endless pages":
		result(fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{}}],"nextCursor":"%d"}`, s.page, s.page))
	case "a huge reply":
		fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"`, id)
		flood(s.out)
	case "no end of line":
		flood(s.out)
	case "dies":
		fmt.Fprintln(os.Stderr, "out of memory, key sk-secret-value")
		os.Exit(7)
	case "drowns its errors":
		fmt.Fprint(os.Stderr, strings.Repeat("x", 1<<20)+" the end")
		os.Exit(1)
	case "counts and dies":
		if s.page == 4 {
			os.Exit(1)
		}
		result(fmt.Sprintf(`{"content":[{"type":"text","text":"{\"call\":%d}"}]}`, s.page))
	case "never answers", "stubborn":
	case "half a message":
		fmt.Fprint(s.out, `{"jsonrpc":"2.0","id":`)
		_ = s.out.Flush()
		os.Exit(0)
	case "broken JSON":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[}}`, id)
	case "another id":
		s.say(`{"jsonrpc":"2.0","id":"%s-other","result":{"tools":[{"name":"wrong"}]}}`, id)
		result(`{"tools":[{"name":"right"}]}`)
	case "a batch":
		s.say(`[{"jsonrpc":"2.0","method":"notifications/message","params":{}},{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"b"}]}}]`, id)
	case "a flood of requests":
		for i := range 2 * maxAsked {
			fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":"s%d","method":"ping"}`+"\n", i)
		}
		_ = s.out.Flush()
	case "a flood of notifications":
		for range 5_000 {
			fmt.Fprintln(s.out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		result(`{"tools":[{"name":"b"}]}`)
	case "refuses":
		s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no method for sk-secret-value"}}`, id)
	case "odd results":
		result([]string{`{"content":[{"type":"text","text":5}]}`, `{"content":"x"}`, `[1]`, `{"content":[{"type":"hologram","data":"QUJD"}],"isError":"yes"}`}[s.page%4])
	default:
		if text, ok := results[s.mode]; ok {
			result(text)
			return
		}
		result(`{"tools":[{"name":"b"}]}`)
	}
}

// flood writes 100 MiB.
func flood(out io.Writer) {
	piece := []byte(strings.Repeat("x", 1<<20))
	for range 100 {
		if _, err := out.Write(piece); err != nil {
			return
		}
	}
}
