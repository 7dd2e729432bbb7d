# What a person and CI run. `make check` is all of it.

GO      ?= go
BIN     := bin
TOOLS   := $(GO) tool -modfile=tools/go.mod
# Packages that link the embedded Temporal server, or start binaries that do: a race build of it takes as long as everything
# else together, and its own races are not ours to find. Their tests run without the detector; what they drive is raced in
# the other packages, and so does the simulated world, which calculates more than it does at once. The store's property tests and the workflows' long ones run once more without it, at full length.
UNRACED := ./devserver/... ./service/... ./cmd/... ./internal/e2e/... ./internal/simworld/... ./store/... ./workflows/...
RACED   := $(shell $(GO) list ./... | grep -v -e '^whetstone/devserver' -e '^whetstone/service' -e '^whetstone/cmd/' -e '^whetstone/internal/e2e' -e '^whetstone/internal/simworld')
LDFLAGS := -s -w
# Pure Go: the binaries run on any machine of their kind, and the hook starts a millisecond sooner. The race detector needs C.
export CGO_ENABLED := 0
# Short, since a finding is made by chance: longer runs are for a person (make fuzz-short FUZZTIME=5m).
FUZZTIME ?= 2s

.PHONY: build test race check lint fuzz-short tidy workflowcheck clean

build: ## starter, worker and whetstone-hook into bin/
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/...

test: ## all tests
	$(GO) test ./...

race: ## all tests, shuffled, under the race detector but for what drives the server
	CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 30m $(RACED)
	$(GO) test -shuffle=on -timeout 40m $(UNRACED)

lint: ## gofumpt, vet, staticcheck and the rest of .golangci.yml
	$(TOOLS) golangci-lint run ./...

workflowcheck: ## no clock, randomness or environment in workflows
	$(TOOLS) workflowcheck -config workflowcheck.yaml ./workflows

tidy: ## go.mod and go.sum are what the code needs
	$(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff

# The fuzzing engine sometimes ends with "context deadline exceeded" when its time is up. A finding leaves an input behind; a
# failure without one is that, and is run once more.
fuzz-short: ## every fuzz target for a moment
	@set -e; for t in \
		./learning:FuzzParseReply ./skill:FuzzParse ./optimizer:FuzzApply ./optimizer:FuzzParseReflection ./optimizer:FuzzSections ./optimizer:FuzzMergeSections ./optimizer:FuzzSlowPatch \
		./optimizer:FuzzParseSlow ./hook/host:FuzzParse ./hook/guard:FuzzCheck ./install:FuzzEdit \
		./validation:FuzzParseVerdicts ./internal/mdblock:FuzzScan ./internal/linediff:FuzzMerge3 ./store:FuzzSearch \
		./store:FuzzWikiSearch ./wiki:FuzzParseConfig ./research:FuzzExtraction ./research:FuzzParseExtract ./fetch:FuzzCheckURL; do \
		run="$(GO) test $${t%%:*} -run ^$$ -fuzz ^$${t##*:}$$ -fuzztime $(FUZZTIME) -fuzzminimizetime 10x"; \
		$$run || { test -z "$$(git status --porcelain -- "$${t%%:*}/testdata/fuzz")"; $$run; }; \
	done

check: tidy lint workflowcheck race fuzz-short ## what CI runs

clean:
	rm -rf $(BIN)
