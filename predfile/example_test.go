package predfile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/predfile"
)

// A result file of BFCL joins gold records by the part of their ids after the
// first slash; a failed request is no answer.
func ExampleReadFrom() {
	file := strings.NewReader(`{"id": "simple_0", "result": [{"area": "{\"base\": 10}"}]}
{"id": "simple_1", "result": "Error during inference: timeout"}
`)
	opt := predfile.Options{
		IDs: predfile.NewIDs(slices.Values([]string{"bfcl/simple_0", "bfcl/simple_1"})),
		Note: func(n predfile.FileNote) {
			fmt.Printf("%s: %s, %d answered, %d not\n", n.File, n.Format, n.Predictions, n.Unanswered)
		},
	}
	for p, err := range predfile.ReadFrom(context.Background(), file, "BFCL_v4_simple_result.json", opt) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(p.ID, p.Turns[0].Calls())
	}
	// Output:
	// bfcl/simple_0 [{area {"base":10} }]
	// BFCL_v4_simple_result.json:2: record 1: /result: no answer of "bfcl/simple_1", repeat 0: Error during inference: timeout
	// BFCL_v4_simple_result.json: bfcl, 1 answered, 1 not
}
