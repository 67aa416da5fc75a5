package mathandmagic

import (
	"testing"

	"assay/convert/converttest"
)

func TestFixtures(t *testing.T) { converttest.Run(t, Source, "testdata/mathandmagic") }
