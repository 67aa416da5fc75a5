#!/bin/sh
# run.sh runs the browser tests alone: no model server is needed. Arguments are
# passed on to go test. ASSAY_E2E_SHOTS is a folder for screenshots.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
ASSAY_E2E_CHROMIUM=${ASSAY_E2E_CHROMIUM:-$("$here/chromium.sh")}
export ASSAY_E2E_CHROMIUM
work=$(mktemp -d "${TMPDIR:-/tmp}/assay-browser.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM HUP
# axe-core is fetched for the run, and kept nowhere. Without npm its test is skipped.
if [ -z "${ASSAY_E2E_AXE:-}" ] && command -v npm >/dev/null &&
	npm install --prefix "$work/axe" --no-save --ignore-scripts --no-audit --no-fund --silent axe-core@4.10.3 >&2; then
	ASSAY_E2E_AXE=$work/axe/node_modules/axe-core/axe.min.js
	export ASSAY_E2E_AXE
fi
cd "$here/../.."
CGO_ENABLED=0 go build -o "$work/assay" ./cmd/assay
ASSAY_E2E_BIN="$work/assay" go test -tags e2e -count 1 -timeout 10m -v "$@" ./e2e/browser
