#!/bin/sh
# run.sh runs the end-to-end tests: it builds Ollama (once, see
# ollama/build.sh), writes the tiny model, serves it on a free port of the
# loopback interface, runs "go test -tags e2e ./e2e/..." against it, and stops
# the server whatever happens.
#
# ASSAY_E2E_CACHE is where Ollama is kept between runs. Arguments are passed
# on to go test: e2e/run.sh -run TestResume
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(dirname -- "$here")
cache=${ASSAY_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay-e2e}
mkdir -p "$cache"
cache=$(CDPATH= cd -- "$cache" && pwd)

say() { printf 'e2e: %s\n' "$*" >&2; }

work=
server=
log=
stop() {
	code=$?
	trap - EXIT INT TERM HUP
	if [ -n "$server" ]; then
		# The server leads a process group, in which its runners live too.
		kill -TERM "-$server" 2>/dev/null || :
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			kill -0 "-$server" 2>/dev/null || break
			sleep 0.25
		done
		kill -KILL "-$server" 2>/dev/null || :
		wait "$server" 2>/dev/null || :
	fi
	if [ -n "$log" ] && [ -f "$log" ]; then
		cp "$log" "$cache/last-server.log"
		[ "$code" = 0 ] || { say "failed; the end of the server's log ($cache/last-server.log):"; tail -n 30 "$log" >&2; }
	fi
	[ -z "$work" ] || rm -rf "$work"
	exit "$code"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

ollama=$("$here/ollama/build.sh" "$cache")

work=$(mktemp -d "${TMPDIR:-/tmp}/assay-e2e.XXXXXX")
log=$work/server.log
cd "$root"
say "building assay and the tiny model"
CGO_ENABLED=0 go build -o "$work/assay" ./cmd/assay
go run ./e2e/tinygguf/mktiny "$work/tiny.gguf"

# The server picks the port itself, so nobody can take it in between. HOME is
# where it would keep keys and history.
start_server() {
	env HOME="$work" OLLAMA_HOST=127.0.0.1:0 OLLAMA_MODELS="$work/models" OLLAMA_NO_CLOUD=1 \
		OLLAMA_NUM_PARALLEL=2 OLLAMA_KEEP_ALIVE=30m OLLAMA_MAX_LOADED_MODELS=3 \
		CUDA_VISIBLE_DEVICES=-1 \
		setsid $dies "$ollama" serve >"$log" 2>&1 &
	server=$!
}
# Where setpriv exists, the server dies with this script even on kill -9.
dies=
if setpriv --pdeathsig TERM true 2>/dev/null; then dies='setpriv --pdeathsig TERM'; fi
start_server

address=
for _ in $(seq 1 240); do
	address=$(sed -n 's/.*Listening on \(127\.0\.0\.1:[0-9]*\).*/\1/p' "$log" | head -n 1)
	[ -z "$address" ] || break
	kill -0 "$server" 2>/dev/null || { say "the server ended at once"; exit 1; }
	sleep 0.25
done
[ -n "$address" ] || { say "the server did not listen within 60 s"; exit 1; }
say "ollama serves on $address"

create() { # NAME FRESH MORE
	# A newline cannot stand in a sed replacement; \n can.
	sed -e '/^#/d' -e "s#@GGUF@#$work/tiny.gguf#" -e "s#@FRESH@#$2#" -e "s#@MORE@#$3#" \
		"$here/ollama/Modelfile.in" >"$work/Modelfile"
	HOME="$work" OLLAMA_HOST="$address" "$ollama" create "$1" -f "$work/Modelfile" >"$work/create.log" 2>&1 ||
		{ say "model $1 was not created:"; cat "$work/create.log" >&2; exit 1; }
}
create tiny '\n' ''
# /v1 cannot ask for a context length, so the model brings it.
create tiny-long '\n' 'PARAMETER num_ctx 16384'
create tiny-dice '<|dice|>' ''
create tiny-broken '<|broken|>' ''
create tiny-endless '<|endless|>' ''

# The test of a job array wants Slurm; without it that test is skipped.
if ! command -v slurmctld >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	say "installing slurm-wlm and munge"
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends slurm-wlm munge; } >"$work/apt.log" 2>&1 ||
		say "they could not be installed: the test of a job array will be skipped"
fi

say "running the tests"
ASSAY_E2E_BIN="$work/assay" ASSAY_E2E_SERVER="http://$address" \
	go test -tags e2e -count 1 -timeout 15m -v "$@" ./e2e/...
