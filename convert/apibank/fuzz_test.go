package apibank

import (
	"testing"

	"assay/convert/converttest"
)

func FuzzSource(f *testing.F) { converttest.Fuzz(f, Source, "testdata/api-bank") }

func FuzzTrainSource(f *testing.F) {
	converttest.Fuzz(f, TrainSource, "testdata/api-bank-train",
		`{"input":"User: x[TIME: 2034-01-31 08:00:00]\nAPI-Request: [f(a=b, c='d', e'=']->{'a': {str}}","output":"AI: y"}`)
}
