#!/bin/sh
# chromium.sh prints the path of a Chromium, and installs Debian's package first
# if there is none and this user may.
set -eu
for name in chromium chromium-browser google-chrome; do
	if command -v "$name" 2>/dev/null; then exit 0; fi
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "e2e: no Chromium; install the package chromium, or set ASSAY_E2E_CHROMIUM to one" >&2
	exit 1
fi
{ apt-get install -y --no-install-recommends chromium || { apt-get update && apt-get install -y --no-install-recommends chromium; }; } >&2
command -v chromium
