#!/usr/bin/env bash
# check.sh: everything that has to hold before a change lands.
#   ./check.sh        what every push runs
#   ./check.sh long   the same with the wide enumerations and the high counts,
#                     20,000 seeds of the simulation among them
set -euo pipefail
cd "$(dirname "$0")"

case "${1:-}" in
  "") ;;
  long) export COMITY_LONG=1 ;;
  *) echo "usage: ./check.sh [long]" >&2; exit 2 ;;
esac
# One way to compile for all steps but the race detector's, so that none compiles anew.
export CGO_ENABLED=0
timeout=$([ -n "${COMITY_LONG:-}" ] && echo 120m || echo 10m)

# concurrent lists the packages in which something runs at once, in the code or in its
# tests: in the others there is nothing for the race detector to find. Those that play
# the whole program, and the simulator, are left to `long`: the parts are here. In
# coop/fold it is the images alone, which have a run of their own below, and in
# coop/scope one pointer.
concurrent() {
  go list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r package dir; do
    case "$package" in */cmd/* | */examples/* | */internal/cli | */internal/git | */internal/sim* | */coop/fold | */coop/scope) continue ;; esac
    if grep -qsE 'go func|\.Go\(|^[[:space:]]+go [a-z]|sync\.|atomic\.|t\.Parallel' "$dir"/*.go; then
      echo "$package"
    fi
  done
}

step() { printf '\n== %s (%ds)\n' "$*" "$SECONDS"; }

step gofmt
unformatted=$(gofmt -l $(git ls-files -co --exclude-standard '*.go'))
if [ -n "$unformatted" ]; then
  printf 'not formatted:\n%s\n' "$unformatted" >&2
  exit 1
fi

step go vet
go vet ./...

step staticcheck
go tool -modfile=tools/go.mod staticcheck ./...

step build
go build ./...
# Whether it compiles elsewhere: what the optimizer would make of it takes a third more.
for target in ${COMITY_LONG:+linux/arm64} darwin/arm64 windows/amd64; do
  GOOS=${target%/*} GOARCH=${target#*/} go build -gcflags='all=-N -l' ./...
done

step go test
go test -timeout "$timeout" ./...

step planted bugs of the simulation
COMITY_PLANTS=1 go test -count=1 -timeout "$timeout" -run '^TestPlantedBugsAreFound$' ./internal/sim

step go test -race
if command -v "$(go env CC)" >/dev/null; then
  # Else each program that a test runs, built like the test, ends a second late.
  export GORACE=atexit_sleep_ms=0
  # Tables of each fault, fills up to a bound and long walks do one thing after the other, and
  # would take half of the time.
  tables='TestEveryCrash|TestEveryBitFlipped|EachFailureOfTheDisk|PowerLossAtEach|AtEachOperation|OpenedByWhatItKept|WhatGaveWayIsKept|AtTheBounds?$|InTheirBound$|WatchIsBounded$|AndNoMore$|OfMany$|EventsCrossAMesh|FloodOfBeats'
  if [ -n "${COMITY_LONG:-}" ]; then
    CGO_ENABLED=1 go test -race -short -timeout "$timeout" ./...
  else
    packages=$(concurrent)
    CGO_ENABLED=1 go test -race -short -skip "$tables" -timeout "$timeout" $packages
    CGO_ENABLED=1 go test -race -short -run ImageIsTheState -timeout "$timeout" ./coop/fold
  fi
else
  echo "skipped: no C compiler ($(go env CC)) for the race detector"
fi

step done
