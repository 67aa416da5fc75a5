#!/bin/sh
# bench.sh measures the runner beside wrk: both against the same server, on the
# same machine, in turns. Judge by the ratios; the rates depend on what else the
# machine does. ROUNDS (3) and SECONDS_EACH (5) may be set.
set -eu
cd "$(dirname -- "$0")/../.."
rounds=${ROUNDS:-3}
seconds=${SECONDS_EACH:-5}
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$tmp"' EXIT
CGO_ENABLED=0 go build -o "$tmp/runner" ./bench/runner
"$tmp/runner" body >"$tmp/body.json"
cat >"$tmp/post.lua" <<LUA
local f = io.open("$tmp/body.json", "rb")
wrk.method = "POST"
wrk.body = f:read("*a")
wrk.headers["Content-Type"] = "application/json"
LUA
have_wrk=$(command -v wrk || true)
[ -n "$have_wrk" ] || echo "wrk is not here (apt-get install wrk): the runner is measured alone" >&2

median() { sort -n | awk '{a[NR]=$1} END {print a[int((NR+1)/2)]}'; }
field() { sed "s/.*\"$1\":\([0-9.]*\).*/\1/"; }

printf '%-9s %5s %12s %12s %8s %9s %10s\n' latency c 'runner r/s' 'wrk r/s' 'of wrk' 'of ideal' 'CPU us/r'
for latency in 20ms 0; do
	port=$((20000 + $$ % 20000))
	"$tmp/runner" serve -addr "127.0.0.1:$port" -latency "$latency" >"$tmp/serve.log" &
	server=$!
	for _ in $(seq 1 50); do grep -q listening "$tmp/serve.log" && break; sleep 0.1; done
	url=http://127.0.0.1:$port
	for c in 1 8 64 256; do
		n=$((c * 50 * seconds))
		[ "$latency" = 20ms ] || n=$((4000 * seconds))
		[ "$latency$c" != 01 ] || n=$((1500 * seconds))
		: >"$tmp/r" >"$tmp/w" >"$tmp/cpu" >"$tmp/ratio"
		for _ in $(seq 1 "$rounds"); do
			out=$("$tmp/runner" ask -url "$url" -c "$c" -n "$n")
			r=$(echo "$out" | field requests_per_second)
			echo "$r" >>"$tmp/r"
			echo "$out" | field cpu_us_per_request >>"$tmp/cpu"
			[ -n "$have_wrk" ] || continue
			threads=2
			[ "$c" != 1 ] || threads=1
			w=$(wrk -t "$threads" -c "$c" -d "${seconds}s" -s "$tmp/post.lua" "$url/v1/chat/completions" | sed -n 's/^Requests\/sec: *//p')
			echo "$w" >>"$tmp/w"
			awk "BEGIN {print $r/$w}" >>"$tmp/ratio"
		done
		r=$(median <"$tmp/r")
		ideal=-
		[ "$latency" = 0 ] || ideal=$(awk "BEGIN {printf \"%.3f\", $r/($c/0.02)}")
		printf '%-9s %5s %12.0f %12.0f %8.3f %9s %10.1f\n' "$latency" "$c" "$r" "$(median <"$tmp/w")" "$(median <"$tmp/ratio")" "$ideal" "$(median <"$tmp/cpu")"
	done
	kill "$server"
	wait "$server" 2>/dev/null || :
	server=
done
