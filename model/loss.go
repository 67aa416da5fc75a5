package model

import "assay/qaoa"

// A Loss is one thing in the schema of a tool that a server does not hand on to
// the model in native mode.
type Loss struct {
	Path    string // JSON Pointer into the parameters
	Keyword string // "default", "minimum", …; the last part of Path
	// Refused says that the server does not take the tool at all: requests
	// that offer it fail.
	Refused bool
}

// A SchemaHolder knows what of a tool's schema its server loses.
type SchemaHolder interface {
	// SchemaLoss returns the losses in the order of the schema, nil if there
	// are none.
	SchemaLoss(tool qaoa.Tool) []Loss
}
