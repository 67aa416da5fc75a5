package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"assay/model"
	"assay/model/openai"
	"assay/model/transport"
	"assay/qaoa"
)

// A trip answers requests without a network.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// BenchmarkChat is what one request costs on this side: writing a body with 20
// tools, and reading the reply. The network is left out.
func BenchmarkChat(b *testing.B) {
	for _, mode := range []string{"native", "prompt"} {
		b.Run(mode, func(b *testing.B) {
			var tools []qaoa.Tool
			for i := range 20 {
				tools = append(tools, qaoa.Tool{
					Name: fmt.Sprintf("get_weather_%d", i), Description: "Returns the weather forecast of a city for some days ahead.",
					Parameters: `{"type":"object","properties":{"city":{"type":"string","description":"name of the city"},"days":{"type":"integer","default":1}},"required":["city"]}`,
				})
			}
			req := ask("How is the weather in Oslo tomorrow?")
			if mode == "native" {
				req.Tools = tools
			} else {
				req.Messages = append([]model.Message{{Role: model.System, Content: string(transport.AppendTools(nil, tools))}}, req.Messages...)
			}
			var size int64
			c, err := openai.New(openai.Config{Model: "m", HTTP: transport.Options{Client: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
				size = r.ContentLength
				return response(200, `{"choices":[{"message":{"content":"<tool_call>{}</tool_call>"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`), nil
			})}}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Chat(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(size)
		})
	}
}
