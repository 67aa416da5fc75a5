package junaidjk

import (
	"testing"

	"assay/convert/converttest"
)

func FuzzSource(f *testing.F) { converttest.Fuzz(f, Source, "testdata/junaidjk") }
