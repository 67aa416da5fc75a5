#!/bin/sh
# run.sh runs the tests of LaTeX tables alone: no model server is needed.
# Arguments are passed on to go test. ASSAY_E2E_PAGES is a folder for the PDF
# files.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
"$here/latex.sh"
cd "$here/../.."
ASSAY_E2E_LATEX=on go test -tags e2e -count 1 -timeout 5m -v "$@" ./e2e/latex
