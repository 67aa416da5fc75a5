#!/usr/bin/env bash
# peers.sh measures "assay convert" against other ways to do the same work, in
# interleaved rounds, checks that the outputs mean the same, and says which
# targets hold:
#
#   bench/peers.sh [--quick] [CASE…]      cases: xlam toucan zst memory cores parquet
#
# Without a case all are run, which takes a few minutes. --quick runs one round
# and leaves jq out. The exit code is 0 if every target holds, 1 if one does not
# or outputs differ, and 2 if the measurement could not be made.
#
# The corpora are generated, and the peers are the programs of ../shared/perf
# (or $ASSAY_PERF), run where they are. All that is written goes to
# $ASSAY_BENCH_CACHE, else to assay-bench in the user's cache folder: about
# 2.5 GB while it runs. Debian packages and one npm package are installed if
# they are missing.
#
# Costs are CPU seconds of whole processes, medians of the rounds, so other work
# on the machine matters little; only the case cores compares wall clock, and
# needs two idle cores. "First" is what must hold, "goal" where we are going.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname -- "$here")
say() { printf 'bench-peers: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

quick=
wanted=()
for arg in "$@"; do
	case $arg in
	--quick) quick=1 ;;
	xlam | toucan | zst | memory | cores | parquet) wanted+=("$arg") ;;
	*) die "\"$arg\": want --quick, xlam, toucan, zst, memory, cores or parquet" ;;
	esac
done
[ ${#wanted[@]} -gt 0 ] || wanted=(xlam toucan zst memory cores parquet)
wants() { case " ${wanted[*]} " in *" $1 "*) ;; *) return 1 ;; esac; }
rounds=3
[ -z "$quick" ] || rounds=1

# --- what is needed ---------------------------------------------------------

perf=${ASSAY_PERF:-$root/../shared/perf}
if [ ! -f "$perf/py/race.py" ] || [ ! -f "$perf/gen/main.go" ]; then
	die "no generators and peers in $perf: put the folder shared/perf beside the folder of this project, or set ASSAY_PERF to where it is"
fi
perf=$(cd -- "$perf" && pwd)
python=/usr/bin/python3 # not another one in PATH: the packages below belong to Debian's

packages=()
for pair in python3-zstandard: python3-ujson: zstd:zstd jq:jq nodejs:node npm:npm; do
	name=${pair%%:*} program=${pair#*:}
	if [ -n "$program" ]; then
		command -v "$program" >/dev/null || packages+=("$name")
	else
		[ -x "$python" ] && "$python" -c "import ${name#python3-}" 2>/dev/null || packages+=("$name")
	fi
done
if [ ${#packages[@]} -gt 0 ]; then
	[ "$(id -u)" = 0 ] || die "not installed: ${packages[*]}; as root: apt-get install ${packages[*]}"
	say "installing ${packages[*]}"
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"; } >&2 ||
		die "apt-get could not install ${packages[*]}"
fi
command -v go >/dev/null || die "no go in PATH: the generator and the comparator are Go programs"

cache=${ASSAY_BENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay-bench}
mkdir -p "$cache"
cache=$(cd -- "$cache" && pwd)
free=$(df -Pk "$cache" | awk 'NR == 2 { print int($4 / 1024) }')
[ "$free" -ge 3000 ] || die "$free MiB free in $cache, want 3000; set ASSAY_BENCH_CACHE to a folder with more room"
work=$(mktemp -d "$cache/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The settings that ship are measured, not those of this shell.
unset GOGC GOMEMLIMIT GODEBUG GOMAXPROCS GOEXPERIMENT

export DUCK_BASE=$cache/node
duck=@duckdb/node-api@1.5.5-r.1
if [ ! -d "$DUCK_BASE/node_modules/@duckdb/node-api" ]; then
	say "installing $duck"
	mkdir -p "$DUCK_BASE"
	npm install --silent --no-audit --no-fund --prefix "$DUCK_BASE" "$duck" >&2 || die "npm could not install $duck"
fi

assay=${ASSAY_BIN:-$root/bin/assay}
if [ ! -x "$assay" ]; then
	say "building assay"
	assay=$work/assay
	(cd "$root" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$assay" ./cmd/assay) || die "assay does not build"
fi
known=" $("$assay" sources --json | jq -r '.[].name' | tr '\n' ' ') "
for source in apigen toucan; do
	case $known in *" $source "*) ;; *) die "$assay knows no source $source, only:$known" ;; esac
done
(cd "$root" && go build -o "$work/same" ./bench/same) || die "the comparator does not build"
(cd "$perf" && go build -o "$work/gen" ./gen) || die "the generator does not build"

# --- corpora ----------------------------------------------------------------

data=$cache/data-$(cksum <"$perf/gen/main.go" | cut -d' ' -f1)
mkdir -p "$data"

# corpus KIND MB NAME makes data/NAME unless it is there.
corpus() {
	[ ! -f "$data/$3" ] || return 0
	say "generating $3"
	"$work/gen" -kind "$1" -mb "$2" -out "$work/$3" >&2
	mv "$work/$3" "$data/$3"
}

# zst NAME makes data/NAME.zst unless it is there.
zst() {
	[ ! -f "$data/$1.zst" ] || return 0
	zstd -q -3 -c "$data/$1" >"$work/zst"
	mv "$work/zst" "$data/$1.zst"
}

# parquet FROM TO makes data/TO unless it is there.
parquet() {
	[ ! -f "$data/$2" ] || return 0
	say "writing $2"
	node "$here/parquet.mjs" "$data/$1" "$work/$2" 4096
	mv "$work/$2" "$data/$2"
}

bytes() { stat -c %s "$1"; }
lines() { wc -l <"$1"; }

# --- races and verdicts -----------------------------------------------------

table=$work/table
verdicts=$work/verdicts
: >"$verdicts"
failed=0

# race TITLE ROUNDS BYTES ITEMS NAME=COMMAND… runs the commands and keeps the
# table for the functions below. Commands are read by a shell: quote with q.
race() {
	printf '\n## %s\n\n' "$1"
	shift
	"$python" -B "$perf/py/race.py" "$@" | tee "$table"
}
q() { printf '%q' "$1"; }

# column NAME N prints column N of the row NAME of the last table.
column() { awk -F' *[|] *' -v name="$1" -v n="$2" '$2 == name { print $n; found = 1 } END { exit !found }' "$table"; }
wall() { column "$1" 3; }
cpu() { column "$1" 4; }
rss() { column "$1" 9; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / (b > 0 ? b : 0.001) }'; }

# verdict ROW WHAT HAVE UNIT OP FIRST GOAL notes whether HAVE meets the target;
# OP is >= or <=, or ~ where HAVE may be off FIRST per cent from 1.
verdict() {
	local row=$1 what=$2 have=$3 unit=$4 op=$5 first=$6 goal=$7 result
	result=$(awk -v have="$have" -v op="$op" -v first="$first" -v goal="$goal" '
		function holds(x) {
			if (op == ">=") return have >= x
			if (op == "<=") return have <= x
			return have >= 1 - x / 100 && have <= 1 + x / 100
		}
		BEGIN { print holds(first + 0) ? (holds(goal + 0) ? "PASS, goal" : "PASS") : "FAIL" }')
	[ "$result" != FAIL ] || failed=1
	case $op in '~') first="1 ± $first %" goal="1 ± $goal %" ;; *) first="$op $first$unit" goal="$op $goal$unit" ;; esac
	printf '| %s | %s | %s | %s | %s | %s |\n' "$row" "$what" "$have$unit" "$first" "$goal" "$result" >>"$verdicts"
}

# agree WHAT PEER OURS checks that two interchange files mean the same.
agree() {
	printf '%s: ' "$1"
	"$work/same" "$2" "$3" || { failed=1; say "$1: the outputs differ, so the figures compare nothing"; }
}

# identical WHAT A B checks that two files hold the same bytes.
identical() {
	if cmp -s "$2" "$3"; then
		printf '%s: byte for byte\n' "$1"
	else
		failed=1
		say "$1: the outputs differ"
	fi
}

py="$python -B $(q "$perf/py/convert.py")"
# to SOURCE IN OUT [OPTION…] prints the command of ours.
to() { printf '%s convert %s %s --to sharegpt -o %s %s' "$(q "$assay")" "$1" "$(q "$2")" "$(q "$3")" "${*:4}"; }

printf '# assay against its peers\n\n%s processors, load %s, %s\n' "$(nproc)" "$(cut -d' ' -f1-3 </proc/loadavg)" \
	"$(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo)"
printf 'Ratios of CPU seconds, medians of %s. MB are 10^6 bytes of input, uncompressed.\n' "$([ "$rounds" = 1 ] && echo 'one round' || echo "$rounds rounds")"

# --- cases ------------------------------------------------------------------

if wants xlam; then
	corpus xlam 60 xlam-60.jsonl
	in=$data/xlam-60.jsonl
	cases=(
		"python json=$py xlam $(q "$in") $(q "$work/py")"
		"python ujson=$py xlam $(q "$in") $(q "$work/ujson") --ujson"
		"node=node $(q "$perf/py/convert.mjs") $(q "$in") $(q "$work/node")"
		"duckdb, less work=node $(q "$perf/py/duck.mjs") $(q "$in") $(q "$work/duck") 1 qaoa"
		"cat=cat $(q "$in") >$(q "$work/cat")"
		"assay=$(to apigen "$in" "$work/ours" --workers 1)"
	)
	[ -n "$quick" ] || cases+=("jq=jq -c -f $(q "$perf/py/convert.jq") $(q "$in") >$(q "$work/jq")")
	race 'xlam-like JSONL to interchange form, one worker' "$rounds" "$(bytes "$in")" "$(lines "$in")" "${cases[@]}"
	verdict 1 'xlam-like, Python ÷ assay, CPU' "$(ratio "$(cpu 'python json')" "$(cpu assay)")" × '>=' 4 10
	echo
	agree 'python json and assay' "$work/py" "$work/ours"
	identical 'python json and node' "$work/py" "$work/node"
	[ -n "$quick" ] || identical 'python json and jq' "$work/py" "$work/jq"
	printf 'python json and ujson: '
	"$python" -B "$perf/py/convert.py" --check xlam "$work/py" "$work/ujson" 3000
	echo 'duckdb leaves the parameters as they are, so its output is not compared.'
	rm -f "$work"/{py,ujson,node,duck,cat,ours,jq}
fi

if wants toucan; then
	corpus toucan 60 toucan-60.jsonl
	in=$data/toucan-60.jsonl
	race 'Toucan-like JSONL to interchange form, one worker' "$rounds" "$(bytes "$in")" "$(lines "$in")" \
		"python json=$py toucan $(q "$in") $(q "$work/py")" \
		"python ujson=$py toucan $(q "$in") $(q "$work/ujson") --ujson" \
		"cat=cat $(q "$in") >$(q "$work/cat")" \
		"assay=$(to toucan "$in" "$work/ours" --workers 1)"
	verdict 2 'Toucan-like, Python ÷ assay, CPU' "$(ratio "$(cpu 'python json')" "$(cpu assay)")" × '>=' 2.5 4.5
	echo
	agree 'python json and assay' "$work/py" "$work/ours"
	printf 'python json and ujson: '
	"$python" -B "$perf/py/convert.py" --check toucan "$work/py" "$work/ujson" 1000
	rm -f "$work"/{py,ujson,cat,ours}
fi

if wants zst; then
	for pair in xlam:apigen toucan:toucan; do
		kind=${pair%:*} source=${pair#*:}
		corpus "$kind" 60 "$kind-60.jsonl"
		zst "$kind-60.jsonl"
		plain=$data/$kind-60.jsonl in=$data/$kind-60.jsonl.zst
		race "$kind-like, from .zst to .zst, one worker" "$rounds" "$(bytes "$plain")" "$(lines "$plain")" \
			"python json=$py $kind $(q "$in") $(q "$work/py.zst")" \
			"zstd pipe=zstd -q -dc $(q "$in") | zstd -q -1 -c >$(q "$work/pipe.zst")" \
			"assay=$(to "$source" "$in" "$work/ours.zst" --workers 1)"
		verdict 3 "$kind-like .zst to .zst, Python ÷ assay, CPU" "$(ratio "$(cpu 'python json')" "$(cpu assay)")" × '>=' 2.5 4.5
		echo
		printf 'assay at %s of the rate of the zstd pipe; sizes: python %s, pipe %s, assay %s bytes\n' \
			"$(ratio "$(cpu 'zstd pipe')" "$(cpu assay)")" "$(bytes "$work/py.zst")" "$(bytes "$work/pipe.zst")" "$(bytes "$work/ours.zst")"
		zstd -q -d "$work/py.zst" -o "$work/py"
		zstd -q -d "$work/ours.zst" -o "$work/ours"
		agree 'python json and assay' "$work/py" "$work/ours"
		rm -f "$work"/{py,ours,pipe}{,.zst}
	done
fi

if wants memory; then
	corpus array 300 array-300.json
	corpus xlam 30 xlam-30.jsonl
	corpus xlam 300 xlam-300.jsonl
	in=$data/array-300.json
	load='import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))'
	race 'One JSON array of 300 MB: peak memory' 1 "$(bytes "$in")" "$(lines "$in")" \
		"python json.load=$python -B -c $(q "$load") $(q "$in")" \
		"assay=$(to apigen "$in" "$work/ours" --workers 1)"
	verdict 4 'array of 300 MB, peak RSS' "$(rss assay)" ' MiB' '<=' 96 48
	array=$(cpu assay)
	rm -f "$work/ours"
	race 'JSONL of 30 and 300 MB: peak memory (rates are of 300 MB)' "$rounds" "$(bytes "$data/xlam-300.jsonl")" "$(lines "$data/xlam-300.jsonl")" \
		"assay, 300 MB=$(to apigen "$data/xlam-300.jsonl" "$work/ours" --workers 1)" \
		"assay, 30 MB=$(to apigen "$data/xlam-30.jsonl" "$work/less" --workers 1)"
	verdict 5 'JSONL of 300 MB, peak RSS' "$(rss 'assay, 300 MB')" ' MiB' '<=' 96 48
	verdict 5 'peak RSS, 300 MB ÷ 30 MB' "$(ratio "$(rss 'assay, 300 MB')" "$(rss 'assay, 30 MB')")" '' '~' 10 10
	printf '\nThe array is read at %s of the rate of JSONL.\n' "$(ratio "$(cpu 'assay, 300 MB')" "$array")"
	rm -f "$work"/{ours,less}
fi

if wants cores; then
	corpus xlam 300 xlam-300.jsonl
	in=$data/xlam-300.jsonl
	race 'The second core (wall clock), xlam-like JSONL' "$rounds" "$(bytes "$in")" "$(lines "$in")" \
		"one core=GOMAXPROCS=1 $(to apigen "$in" "$work/one" --workers 1)" \
		"two cores, one worker=GOMAXPROCS=2 $(to apigen "$in" "$work/both" --workers 1)" \
		"two cores=GOMAXPROCS=2 $(to apigen "$in" "$work/two" --workers 2)"
	verdict 7 'second core, wall' "$(ratio "$(wall 'one core')" "$(wall 'two cores')")" × '>=' 1.4 1.7
	echo
	identical 'one and two workers' "$work/one" "$work/two"
	rm -f "$work"/{one,both,two}
fi

if wants parquet; then
	corpus xlam 60 xlam-60.jsonl
	corpus xlam 300 xlam-300.jsonl
	parquet xlam-60.jsonl xlam-60.parquet
	parquet xlam-300.jsonl xlam-300.parquet
	plain=$data/xlam-300.jsonl in=$data/xlam-300.parquet
	race 'Parquet (row groups of 4,096) to interchange form, one worker' "$rounds" "$(bytes "$plain")" "$(lines "$plain")" \
		"duckdb, to plain JSONL=node $(q "$perf/py/duck.mjs") $(q "$in") $(q "$work/duck") 1 fromparquet" \
		"assay=$(to apigen "$in" "$work/ours" --workers 1)"
	verdict 6 'Parquet, DuckDB ÷ assay, CPU' "$(ratio "$(cpu 'duckdb, to plain JSONL')" "$(cpu assay)")" × '>=' 1 2
	echo
	rm -f "$work"/{duck,ours}
	"$assay" convert apigen "$data/xlam-60.jsonl" --to sharegpt -o "$work/lines" 2>/dev/null
	"$assay" convert apigen "$data/xlam-60.parquet" --to sharegpt -o "$work/ours" 2>/dev/null
	agree 'JSONL and Parquet of 60 MB' "$work/lines" "$work/ours"
	rm -f "$work"/{lines,ours}
fi

# --- the end ----------------------------------------------------------------

printf '\n## Targets\n\n| row | what | measured | first | goal | |\n|---|---|---|---|---|---|\n'
sort -s -n -t'|' -k2,2 "$verdicts"
[ "$failed" = 0 ] || say 'a target is missed, or outputs differ: see above'
exit "$failed"
