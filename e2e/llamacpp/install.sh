#!/bin/sh
# install.sh puts llama.cpp, as the npm package node-llama-cpp carries it, into
# the cache folder $1, unless the same recipe has done so before, and prints the
# folder's path on stdout. All talk goes to stderr.
#
# The engine for this machine comes prebuilt in a package of its own. Optional
# packages, which hold those for other machines and graphics cards (650 MB), and
# install scripts are left out.
set -eu

version=3.21.1
cache=$1
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)

say() { printf 'e2e: %s\n' "$*" >&2; }

for tool in node npm; do
	command -v "$tool" >/dev/null || { say "$tool is missing: install Node.js 20 or later with npm and run again, or set ASSAY_E2E_LLAMACPP=off to leave llama.cpp out"; exit 1; }
done
case $(uname -s)-$(uname -m) in
Linux-x86_64) engine=linux-x64 ;;
Linux-aarch64) engine=linux-arm64 ;;
Darwin-arm64) engine=mac-arm64-metal ;;
Darwin-x86_64) engine=mac-x64 ;;
*) say "there is no prebuilt llama.cpp for $(uname -s) on $(uname -m): set ASSAY_E2E_LLAMACPP=off to leave it out"; exit 1 ;;
esac

# What decides the content. The name holds it, as with Ollama.
recipe=$( { echo "1 $engine $version"; cat "$here/package.json"; } | sha256sum | cut -c1-16)
dir=$cache/llamacpp-$version-$recipe
mkdir -p "$dir"
exec 9>"$dir/lock"
if command -v flock >/dev/null && ! flock -n 9; then
	say "another run is installing llama.cpp; waiting for it"
	flock 9
fi

# The mark is written last, so an installation that was cut off is none.
if [ ! -f "$dir/done" ]; then
	say "installing llama.cpp (node-llama-cpp $version, 83 MB)"
	rm -rf "$dir/node_modules"
	cp "$here/package.json" "$dir/package.json"
	(cd "$dir" && npm install --omit=optional --ignore-scripts --no-audit --no-fund --no-package-lock --no-save --loglevel=error \
		"node-llama-cpp@$version" "@node-llama-cpp/$engine@$version" >&2)
	: >"$dir/done"
fi
echo "$dir"
