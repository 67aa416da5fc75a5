#!/bin/sh
# run.sh runs the end-to-end tests: it builds Ollama and installs llama.cpp (once,
# see ollama/build.sh and llamacpp/install.sh), writes the tiny model, serves it
# by Ollama and twice by llama.cpp on free ports of the loopback interface, runs
# "go test -tags e2e ./e2e/..." against them, and stops the servers whatever
# happens.
#
# ASSAY_E2E_CACHE is where both are kept between runs. ASSAY_E2E_LLAMACPP=off
# leaves llama.cpp out, and ASSAY_E2E_LATEX=off the LaTeX tables; their tests are
# skipped then. LaTeX is left out too where it cannot be installed. Arguments are
# passed on to go test: e2e/run.sh -run TestResume
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(dirname -- "$here")
cache=${ASSAY_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay-e2e}
mkdir -p "$cache"
cache=$(CDPATH= cd -- "$cache" && pwd)
began=$(date +%s)

say() { printf 'e2e: %s\n' "$*" >&2; }

work=
servers=
stop() {
	code=$?
	trap - EXIT INT TERM HUP
	# A server leads a process group, in which its runners live too.
	for s in $servers; do kill -TERM "-$s" 2>/dev/null || :; done
	for s in $servers; do
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			kill -0 "-$s" 2>/dev/null || break
			sleep 0.25
		done
		kill -KILL "-$s" 2>/dev/null || :
		wait "$s" 2>/dev/null || :
	done
	for log in "$work"/*-server.log; do
		[ -f "$log" ] || continue
		cp "$log" "$cache/last-$(basename "$log")"
		[ "$code" = 0 ] || { say "failed; the end of $cache/last-$(basename "$log"):"; tail -n 20 "$log" >&2; }
	done
	[ -z "$work" ] || rm -rf "$work"
	[ "$code" != 0 ] || say "passed in $(( $(date +%s) - began )) s; the servers are stopped"
	exit "$code"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

ollama=$("$here/ollama/build.sh" "$cache")
ASSAY_E2E_CHROMIUM=${ASSAY_E2E_CHROMIUM:-$("$here/browser/chromium.sh")}
export ASSAY_E2E_CHROMIUM
ASSAY_E2E_LATEX=${ASSAY_E2E_LATEX:-on}
if [ "$ASSAY_E2E_LATEX" = on ] && ! "$here/latex/latex.sh"; then
	say "LaTeX is left out: its tests are skipped"
	ASSAY_E2E_LATEX=off
fi
export ASSAY_E2E_LATEX
llamacpp=
if [ "${ASSAY_E2E_LLAMACPP:-on}" != off ]; then
	llamacpp=$("$here/llamacpp/install.sh" "$cache")
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/assay-e2e.XXXXXX")
ASSAY_E2E_AXE=${ASSAY_E2E_AXE:-$("$here/browser/axe.sh" "$work/axe")}
export ASSAY_E2E_AXE
cd "$root"
say "building assay and the tiny model"
CGO_ENABLED=0 go build -o "$work/assay" ./cmd/assay
go run ./e2e/tinygguf/mktiny "$work"

# Where setpriv exists, a server dies with this script even on kill -9.
dies=
if setpriv --pdeathsig TERM true 2>/dev/null; then dies='setpriv --pdeathsig TERM'; fi

# start NAME COMMAND… starts a server in the background. It picks the port
# itself, so nobody can take it in between. HOME is where it would keep keys and
# history.
start() {
	name=$1
	shift
	HOME=$work setsid $dies "$@" >"$work/$name-server.log" 2>&1 &
	servers="$servers $!"
}

# address NAME waits for a server and sets $address.
address() {
	address=
	for _ in $(seq 1 240); do
		address=$(sed -n 's/.*Listening on \(127\.0\.0\.1:[0-9]*\).*/\1/p' "$work/$1-server.log" | head -n 1)
		[ -z "$address" ] || break
		kill -0 "${servers##* }" 2>/dev/null || { say "the server $1 ended at once"; exit 1; }
		sleep 0.25
	done
	[ -n "$address" ] || { say "the server $1 did not listen within 60 s"; exit 1; }
	say "$1 serves on $address"
}

start ollama env OLLAMA_HOST=127.0.0.1:0 OLLAMA_MODELS="$work/models" OLLAMA_NO_CLOUD=1 \
	OLLAMA_NUM_PARALLEL=2 OLLAMA_KEEP_ALIVE=30m OLLAMA_MAX_LOADED_MODELS=3 CUDA_VISIBLE_DEVICES=-1 \
	"$ollama" serve
address ollama
ollama_at=$address

# Modules are looked for beside the script, so it stands beside a link to them.
llamacpp_at=
if [ -n "$llamacpp" ]; then
	cp "$here/llamacpp/server.mjs" "$work/server.mjs"
	ln -s "$llamacpp/node_modules" "$work/node_modules"
	for n in 1 2; do
		start "llamacpp-$n" node "$work/server.mjs" "$work/tiny.gguf"
		address "llamacpp-$n"
		llamacpp_at="$llamacpp_at${llamacpp_at:+,}http://$address"
	done
fi

create() { # NAME FRESH MORE
	# A newline cannot stand in a sed replacement; \n can.
	sed -e '/^#/d' -e "s#@GGUF@#$work/tiny.gguf#" -e "s#@FRESH@#$2#" -e "s#@MORE@#$3#" \
		"$here/ollama/Modelfile.in" >"$work/Modelfile"
	HOME="$work" OLLAMA_HOST="$ollama_at" "$ollama" create "$1" -f "$work/Modelfile" >"$work/create.log" 2>&1 ||
		{ say "model $1 was not created:"; cat "$work/create.log" >&2; exit 1; }
}
create tiny '\n' ''
# /v1 cannot ask for a context length, so the model brings it.
create tiny-long '\n' 'PARAMETER num_ctx 16384'
create tiny-cut '\n' 'PARAMETER num_ctx 1024'
create tiny-dice '<|dice|>' ''
create tiny-broken '<|broken|>' ''
create tiny-endless '<|endless|>' ''

say "running the tests"
ASSAY_E2E_BIN="$work/assay" ASSAY_E2E_SERVER="http://$ollama_at" ASSAY_E2E_LLAMACPP="$llamacpp_at" ASSAY_E2E_TINY="$work" \
	go test -tags e2e -count 1 -timeout 15m -v "$@" ./e2e/...
