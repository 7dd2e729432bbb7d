#!/usr/bin/env bash
# Times what a person waits for, on the real binaries: a whole offline run of an example on a fresh home (first) and on the
# same home again (second), a process that only lists learnings, and a hook call, beside `node -e 0` where node is
# installed. Prints the median of N runs (default 9), in seconds, and the ratio to the hook.
#
#   make build && bench/start.sh [N]
set -euo pipefail
cd "$(dirname "$0")/.."
n="${1:-9}"
bin="$PWD/bin"
tmp="$(mktemp -d)"
trap 'rm -rf "$tmp"' EXIT

now() { date +%s.%N; }
median() { sort -n | awk '{a[NR] = $1} END {print (NR % 2) ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2}'; }
took() { # command...
	local t0 t1
	t0="$(now)"
	"$@" >/dev/null 2>&1
	t1="$(now)"
	echo "$t0 $t1" | awk '{printf "%.4f\n", $2 - $1}'
}

event="$tmp/event.json"
printf '%s' '{"hook_event_name": "Stop", "session_id": "s", "cwd": "/", "last_assistant_message": "Done.\n\n[LEARN] testing: never sleep in tests\n"}' >"$event"
hook() { WHETSTONE_HOME="$tmp/hook" "$bin/whetstone-hook" <"$event"; }
none() { WHETSTONE_HOME="$tmp/hook" "$bin/whetstone-hook" <<<'{"hook_event_name": "Notification"}'; }

for i in $(seq "$n"); do
	w="$tmp/w$i"
	mkdir "$w"
	cp examples/go-testing/SKILL.md examples/go-testing/learnings.jsonl "$w"
	export WHETSTONE_HOME="$w/home"
	took "$bin/starter" optimize --skill "$w/SKILL.md" --import "$w/learnings.jsonl" --stage >>"$tmp/first"
	took "$bin/starter" optimize --skill "$w/SKILL.md" --import "$w/learnings.jsonl" --stage >>"$tmp/second"
	took "$bin/starter" learn list >>"$tmp/list"
	took hook >>"$tmp/hooks"
	took none >>"$tmp/none"
	if command -v node >/dev/null; then took node -e 0 >>"$tmp/node"; fi
done
h="$(median <"$tmp/hooks")"
row() { [ -s "$2" ] && awk -v name="$1" -v m="$(median <"$2")" -v h="$h" 'BEGIN {printf "%-46s %8.4f  %7.1f\n", name, m, m / h}' || true; }
printf '%-46s %8s  %7s\n' "median of $n, seconds" "" "/ hook"
row "whole offline run, fresh home" "$tmp/first"
row "the same command again" "$tmp/second"
row "starter learn list" "$tmp/list"
row "hook, capturing" "$tmp/hooks"
row "hook, nothing to do" "$tmp/none"
row "node -e 0" "$tmp/node"
