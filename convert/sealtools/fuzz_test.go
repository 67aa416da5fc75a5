package sealtools

import (
	"testing"

	"assay/convert/converttest"
)

func FuzzSource(f *testing.F) { converttest.Fuzz(f, Source, "testdata/seal-tools") }

func FuzzTrainSource(f *testing.F) {
	converttest.Fuzz(f, TrainSource, "testdata/seal-tools-train",
		`{"id":"a-easy-1","conversations":[{"value":"api_list = []\ntask_instruction = \"q\"\nOutput:"},{"value":"[{'api': 'f'}]"}]}`)
}
