package model

import "context"

// A Prober can be asked before a run whether it is ready.
type Prober interface {
	// Probe checks that the server is reachable, that it has the model, and
	// that the model answers a one-line question. An error says what to do;
	// Info holds what was learnt before it.
	Probe(ctx context.Context) (Info, error)
}

// A Capable is told by its server what the model can do.
type Capable interface {
	// Capabilities returns what the server says the model can do, sorted:
	// "completion", "tools", "thinking", …; nil if it does not say.
	Capabilities(ctx context.Context) ([]string, error)
}

// Info is what a server says of itself and of the model.
type Info struct {
	Server  string   // base URL, without credentials
	Version string   // of the server, "" if it does not say
	Model   string   // as the server lists it
	Digest  string   // of the weights, "" if the server has none
	Context int      // longest context in tokens; 0 if the server does not say
	Models  []string // what the server offers, sorted; nil if it does not say
	Reply   Reply    // to the question of the probe
}

// ProbeRequest is the one-line question of a probe.
func ProbeRequest() Request {
	return Request{
		Messages: []Message{{Role: User, Content: "Reply with the word ready."}},
		Sampling: Sampling{MaxTokens: 16},
	}
}
