#!/usr/bin/env bash
# How a wiki grows: N seeds (default 10000) through the real binary, the embedded server and an executable source that states
# three new things about each. It prints the time for each tenth of the pages, the memory of the process at each, and the
# size of the first execution's history, which must stay below 4 MiB. Usage: bench/growth.sh [N]
set -euo pipefail
cd "$(dirname "$0")/.."
n="${1:-10000}"
make build >/dev/null
bin="$PWD/bin"
home="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$home"' EXIT
export WHETSTONE_HOME="$home"
mkdir -p "$home/fetchers"
cat > "$home/fetchers/gen" <<'SCRIPT'
#!/bin/sh
read -r q
id=$(printf %s "$q" | sed 's/.*specimen \([0-9]*\).*/\1/')
w=$(printf %s "$id" | md5sum | cut -c1-24)
a=$(printf %s "$w" | cut -c1-8); b=$(printf %s "$w" | cut -c9-16); c=$(printf %s "$w" | cut -c17-24)
printf '{"documents":[{"url":"https://example.org/%s","title":"Specimen %s","text":"Specimen %s was found in the valley of %s by a surveyor. The mass of specimen %s is %s grams after cleaning with %s. Specimen %s contains the mineral %s in its outer layer."}]}' "$id" "$id" "$id" "v$a" "$id" "$id" "s$b" "$id" "m$c"
SCRIPT
chmod +x "$home/fetchers/gen"
printf '{"remote": false}' > "$home/fetchers/gen.json"
"$bin/starter" wiki init growth --title Growth >/dev/null
seq 1 "$n" | sed 's/^/specimen /' | "$bin/starter" wiki seed growth --from -
"$bin/starter" wiki research growth --fetchers gen --max-pages "$n" --max-depth 0 --parallel 8 --json > "$home/result.json" 2>"$home/err" &
pid=$!
start=$SECONDS last=$SECONDS tenth=$((n / 10)) mark=$tenth
printf '%8s %10s %14s %10s\n' pages seconds ms/page RSS_MiB
while kill -0 "$pid" 2>/dev/null; do
	done_="$("$bin/starter" wiki list --json | sed 's/.*"seeds_done":\([0-9]*\).*/\1/')"
	if [ "$done_" -ge "$mark" ]; then
		rss=$(awk '/VmRSS/ {print int($2/1024)}' "/proc/$pid/status" 2>/dev/null || echo 0)
		printf '%8d %10d %14d %10d\n' "$done_" "$((SECONDS - start))" "$(((SECONDS - last) * 1000 / tenth))" "$rss"
		last=$SECONDS mark=$((mark + tenth))
	fi
	sleep 1
done
wait "$pid" || { cat "$home/err"; exit 1; }
run="$(sed 's/.*"run_id":"\([^"]*\)".*/\1/' "$home/result.json")"
printf 'history of the first execution, as JSON: %d bytes\n' "$("$bin/starter" runs history "$run" | wc -c)"
sed 's/"errors".*//' "$home/result.json"; echo
