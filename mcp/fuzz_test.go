package mcp

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"assay/qaoa"
)

func FuzzObservation(f *testing.F) {
	for _, seed := range []string{`{"content":[{"type":"text","text":"{\"a\":1}"}]}`, `{"structuredContent":[1],"isError":true}`, `{"content":[{"type":"resource","resource":{"blob":"QUJD"}},{}]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := qaoa.ParseValue(text)
		if err != nil {
			return
		}
		seen, _ := observation(v)
		if _, err := seen.JSON().Value(); err != nil || seen.Kind == qaoa.Invalid {
			t.Errorf("no JSON: %q: %v", seen.JSON(), err)
		}
	})
}

// FuzzRecording checks that a stream is read alike however it is cut, and comes
// out as it went in.
func FuzzRecording(f *testing.F) {
	f.Add("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n", true)
	f.Add(": x\r\nevent: message\r\ndata: {\"id\":1,\r\ndata: \"result\":5}\r\n\r\ndata", true)
	f.Add(`{"id":1,"error":{}}`, false)
	f.Fuzz(func(t *testing.T, text string, stream bool) {
		var got [2]capture
		for i, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			reg := &registry{}
			ctx, c := reg.begin(t.Context())
			reg.expect(ctx, "1")
			out, err := io.ReadAll(&recording{body: io.NopCloser(r), reg: reg, fail: reg.fail, limit: 1 << 20, stream: stream})
			if err != nil || string(out) != text {
				t.Fatalf("have %q, %v, want %q", out, err, text)
			}
			got[i] = reg.end(c)
		}
		if got[0] != got[1] {
			t.Errorf("in one piece %+v, in many %+v", got[0], got[1])
		}
	})
}
