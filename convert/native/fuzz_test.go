package native

import (
	"testing"

	"assay/convert/converttest"
)

func FuzzSource(f *testing.F) { converttest.Fuzz(f, Source, "testdata/qaoa") }
