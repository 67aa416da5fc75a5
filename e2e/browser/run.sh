#!/bin/sh
# run.sh runs the browser tests alone: no model server is needed. Arguments are
# passed on to go test. ASSAY_E2E_SHOTS is a folder for screenshots.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
ASSAY_E2E_CHROMIUM=${ASSAY_E2E_CHROMIUM:-$("$here/chromium.sh")}
export ASSAY_E2E_CHROMIUM
work=$(mktemp -d "${TMPDIR:-/tmp}/assay-browser.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM HUP
ASSAY_E2E_AXE=${ASSAY_E2E_AXE:-$("$here/axe.sh" "$work/axe")}
export ASSAY_E2E_AXE
cd "$here/../.."
CGO_ENABLED=0 go build -o "$work/assay" ./cmd/assay
ASSAY_E2E_BIN="$work/assay" go test -tags e2e -count 1 -timeout 10m -v "$@" ./e2e/browser
