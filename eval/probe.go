package eval

// A Probe is one thing that was tried before a run.
type Probe struct {
	Name string `json:"name"` // "server", "determinism", "calls in the text", …
	// OK says that all is well, and Fatal that a run would make no sense.
	OK     bool   `json:"ok"`
	Fatal  bool   `json:"fatal,omitempty"`
	Detail string `json:"detail"`           // what came of it
	Remedy string `json:"remedy,omitempty"` // what to do, unless OK
}

// A SchemaLoss counts the keywords of schemas that a server is known to drop
// in mode [CallsNative], so that the model never sees them.
type SchemaLoss struct {
	Tools    int            `json:"tools"`    // different tools looked at
	Hit      int            `json:"hit"`      // of them, those that lose something
	Keywords map[string]int `json:"keywords"` // places by keyword
	Examples []string       `json:"examples"` // the first ten, as TOOL: POINTER
}
