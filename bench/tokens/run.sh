#!/usr/bin/env bash
# run.sh compares package tokenizer with Hugging Face's tokenizers (Rust, called
# through Node), for the vocabularies of Qwen3 and Llama 3.1: every id must be
# equal on every text, and the rate in CPU seconds must hold the targets.
#
#   bench/tokens/run.sh [--quick]
#
# Texts are generated: prose of several languages, tool lists and calls, the Go
# files of this project, every character there is, and hostile mixtures. --quick
# takes less of each and one round. Rounds of both sides are interleaved, since
# other work on the machine slows both. "First" is the rate over all texts, met
# for the first time; "warm" that of a second pass. The exit code is 0 if all
# holds, 1 if ids differ or a target is missed, 2 if it could not be measured.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname -- "$(dirname -- "$here")")
say() { printf 'tokens: %s\n' "$*" >&2; }

rounds=3 size=12000000
if [ "${1:-}" = --quick ]; then
	rounds=1 size=1500000
elif [ $# -gt 0 ]; then
	say "\"$1\": want --quick or nothing"
	exit 2
fi

cache=$(bash "$here/get.sh" --oracle) || exit 2
export NODE_BASE=$cache/node TOKENIZERS_PARALLELISM=false
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$root" && CGO_ENABLED=0 go build -o "$work/tokens" ./bench/tokens) || exit 2
for kind in prose tools code random chars; do
	n=$size
	[ "$kind" != random ] || n=1500000
	(cd "$root" && "$work/tokens" texts "$kind" "$n") >"$work/$kind.jsonl" || exit 2
done

# field NAME of a line of JSON.
field() { sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p"; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

fail=0
printf '%-9s %-7s %9s %11s %11s %11s %8s %s\n' model texts MB "HF MB/s" "ours first" "ours warm" ratio ids
for model in qwen3 llama3_1; do
	file=$cache/$model/tokenizer.json
	for kind in prose tools code random chars; do
		rm -f "$work"/theirs.? "$work"/ours.?
		n=$rounds
		case $kind in random | chars) n=1 ;; esac # only their ids matter
		for ((i = 0; i < n; i++)); do
			node "$here/oracle.mjs" "$file" "$work/$kind.jsonl" "$work/theirs" >"$work/theirs.$i" || exit 2
			"$work/tokens" ids "$file" "$work/$kind.jsonl" "$work/ours" >"$work/ours.$i" || exit 2
		done
		ids=equal
		cmp -s "$work/theirs" "$work/ours" || { ids=DIFFERENT fail=1; }
		bytes=$(field bytes <"$work/ours.0")
		theirs=$(cat "$work"/theirs.? | field cpu | median)
		first=$(cat "$work"/ours.? | field cpu | median)
		warm=$(cat "$work"/ours.? | field warm | median)
		awk -v m="$model" -v k="$kind" -v b="$bytes" -v t="$theirs" -v f="$first" -v w="$warm" -v ids="$ids" 'BEGIN {
			mb = b / 1e6
			printf "%-9s %-7s %9.1f %11.2f %11.2f %11.2f %7.1fx %s\n", m, k, mb, mb/t, mb/f, mb/w, t/f, ids
			bad = (k == "prose" || k == "tools" || k == "code") && t / f < 5
			exit bad }' || { say "$model, $kind: below 5 times the rate of Hugging Face's"; fail=1; }
	done
done
exit $fail
