# The commands of this project. "make help" lists them.
GO ?= go
OUT ?= demo-out
TOOL = $(GO) tool -modfile=tools/go.mod
VERSION ?= 0.1.0
LDFLAGS = -s -w -X main.version=$(VERSION)

.PHONY: help setup build demo test check fmt lint race e2e e2e-browser e2e-latex tokenizers bench bench-peers bench-runner bench-search bench-tokens golden realdata clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: build ## download the modules and build bin/assay

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/assay ./cmd/assay

demo: setup ## the whole chain on embedded data, into $(OUT)
	./bin/assay demo --out $(OUT)

test: ## format, vet, and every test
	@bad=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); if [ -n "$$bad" ]; then echo "not gofmt-clean: $$bad"; exit 1; fi
	$(GO) vet ./...
	$(GO) test ./...

check: fmt lint race ## what to run before a commit: format, linters, tests with the race detector

fmt:
	$(TOOL) gofumpt -l -w $$(git ls-files '*.go')

lint:
	$(GO) vet ./...
	$(TOOL) golangci-lint run ./...

race:
	$(GO) test -race ./...

e2e: build ## the runner against Ollama and llama.cpp, kept in a cache folder
	bash e2e/run.sh

e2e-browser: ## the report and the viewer in headless Chromium, without a model server
	bash e2e/browser/run.sh

e2e-latex: ## every LaTeX table set by pdfLaTeX and read back, without a model server
	bash e2e/latex/run.sh

bench: ## ten runs of every benchmark, into bench/new.txt
	mkdir -p bench
	$(GO) test -run '^$$' -bench . -benchmem -count 10 ./... | tee bench/new.txt
	@if [ -f bench/base.txt ]; then $(TOOL) benchstat bench/base.txt bench/new.txt; fi

bench-peers: build ## conversion against its peers, interleaved, with a check of equal meaning
	bash bench/peers.sh

bench-stats: ## the bootstrap against numpy, interleaved
	/usr/bin/python3 -B bench/stats/bootstrap.py

bench-search: ## exact search against faiss, numpy and FTS5, interleaved
	/usr/bin/python3 -B bench/dense/search.py

tokenizers: ## fetch the tokenizers of Qwen3 and Llama 3.1, whose tests skip without them (34 MB)
	bash bench/tokens/get.sh

bench-tokens: tokenizers ## token counts against Hugging Face's library, every id compared
	bash bench/tokens/run.sh

bench-runner: ## requests a second and CPU a request, beside wrk on the same server
	bash bench/runner/bench.sh

golden: ## rewrite the golden files; read the diff before you commit it
	$(GO) test ./convert/all ./filter ./plot ./report ./chat ./cmd/assay -run 'Test' -update
	git diff --stat

realdata: ## the whole chain on the real files of ../shared/data, with its table of counts
	$(GO) test ./cmd/assay -run 'TestRealData' -count 1 -v -timeout 30m

clean:
	rm -rf bin demo-out
