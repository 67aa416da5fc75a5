package toolalpaca

import (
	"testing"

	"assay/convert/converttest"
)

func FuzzSource(f *testing.F) { converttest.Fuzz(f, Source, "testdata/toolalpaca") }

func FuzzTrainSource(f *testing.F) {
	converttest.Fuzz(f, TrainSource, "testdata/toolalpaca-train",
		`{"input":"x","intermediate_steps":[[["f","{'a': 1}","t\nAction: f"],"o"]],"Function_Description":{"f":"F\nParameters: {\"a\": \"Required. integer. A\"}"}}`)
}
