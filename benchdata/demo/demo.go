// Package demo holds small invented files in every raw format that Assay
// converts, for "assay demo" and for tests. It is data, without logic.
package demo

import "embed"

// Raw holds one folder for each source, named after it: raw/bfcl, ….
//
//go:embed raw
var Raw embed.FS
