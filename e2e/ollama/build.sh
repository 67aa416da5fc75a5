#!/bin/sh
# build.sh builds Ollama from the Go module proxy into the cache folder $1,
# unless the same recipe has done so before, and prints the binary's path on
# stdout. All talk goes to stderr.
#
# v0.24.0 is the last version that carries its inference engine inside the
# module; later ones start a separate program that is no Go module.
set -eu

version=v0.24.0
cache=$1
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
header=$here/include/miniaudio/miniaudio.h

say() { printf 'e2e: %s\n' "$*" >&2; }

command -v go >/dev/null || { say "go is missing: install Go 1.26 or later from go.dev and run again"; exit 1; }

# What decides the binary. The name holds it, so a change builds anew and two
# checkouts with different recipes can share a cache.
recipe=$( { echo "1 $version -trimpath -s -w"; go env GOOS GOARCH GOVERSION; cat "$header"; } | sha256sum | cut -c1-16)
dir=$cache/ollama-$version-$recipe
bin=$dir/ollama

# Of two runs at once, the second waits for the first's build.
mkdir -p "$dir"
exec 9>"$dir/lock"
if command -v flock >/dev/null && ! flock -n 9; then
	say "another run is building ollama; waiting for it"
	flock 9
fi

# The checksum is written last, so a build that was cut off is no build.
if [ -f "$dir/sha256" ] && (cd "$dir" && sha256sum --check --status sha256); then
	say "ollama $version is built already: $bin"
	echo "$bin"
	exit 0
fi

for tool in gcc g++; do
	command -v "$tool" >/dev/null || { say "$tool is missing: install it (Debian: apt-get install build-essential) and run again"; exit 1; }
done

# Debian's headers replace those that the module archive leaves out.
if [ ! -f /usr/include/nlohmann/json_fwd.hpp ] || [ ! -f /usr/include/stb/stb_image.h ]; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		say "headers are missing: run \"apt-get install nlohmann-json3-dev libstb-dev\" as root and run again"
		exit 1
	fi
	say "installing the Debian packages nlohmann-json3-dev and libstb-dev"
	apt-get update -qq >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nlohmann-json3-dev libstb-dev >/dev/null
fi

say "building ollama $version: once, about 7 minutes of CPU time"
start=$(date +%s)

# A beat, because one C++ file alone can take minutes without a word. It lets
# go of the lock and of stdout, so that neither outlives the build.
( exec 9>&- >&2; while sleep 30 >/dev/null 2>&1; do say "still building, $(( $(date +%s) - start )) s"; done ) &
beat=$!
trap 'kill $beat 2>/dev/null || :' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# A module of its own: the product's go.mod never hears of Ollama. The build
# cache is apart and goes when the build is done: it takes 2 GB, and after a
# build that was cut off it saves what was reached. -v names each package as
# it is compiled.
work=$dir/module
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export GOFLAGS='-mod=mod -buildvcs=false' GOWORK=off GO111MODULE=on CGO_ENABLED=1
export CGO_CPPFLAGS="-I$here/include" GOCACHE="$dir/gocache"
go mod init assay.invalid/e2e 2>/dev/null
go get "github.com/ollama/ollama@$version" >&2
go build -v -trimpath -ldflags '-s -w' -o "$bin.new" github.com/ollama/ollama >&2
mv "$bin.new" "$bin"
(cd "$dir" && sha256sum ollama >sha256.new && mv sha256.new sha256)
cd "$cache"
rm -rf "$work" "$dir/gocache"
say "built ollama $version in $(( $(date +%s) - start )) s: $bin"
echo "$bin"
