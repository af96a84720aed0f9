# Tidemark: everything that is done with the source tree. `make` alone prints the list.

SWIFT ?= swift
# Added to every compilation, for example SWIFT_FLAGS="-Xswiftc -warnings-as-errors".
SWIFT_FLAGS ?=
# Narrows `make test`, for example TEST_FLAGS="--filter TidemarkReportsTests".
TEST_FLAGS ?=
# For `make soak`, for example SOAK_FLAGS="--days 120 --users 20000".
SOAK_FLAGS ?=
# For `make bench`, for example BENCH_FLAGS="--rounds 5 --no-slopes" or BENCH_FLAGS=--smoke.
BENCH_FLAGS ?=
# For `make count-instructions`, for example COUNT_FLAGS=--update.
COUNT_FLAGS ?=

# Tests are compiled with optimisation (the property tests run thousands of streams) and may see internals. Those flags make other
# modules than a release build does, so tests have a build directory of their own and neither build undoes the other.
TEST_BUILD := -c release -Xswiftc -enable-testing --scratch-path .build/tests $(SWIFT_FLAGS)
TIDEMARK := .build/release/tidemark
RUN_TESTS := $(SWIFT) test --skip-build --disable-xctest $(TEST_BUILD)

.PHONY: help setup build build-tests demo test simulate chaos soak bench count-instructions test-newest conformance sanitize fuzz lint format clean
.DEFAULT_GOAL := help

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the Debian packages that are missing
	@scripts/setup

build: setup ## Build the release binary, .build/release/tidemark
	$(SWIFT) build -c release $(SWIFT_FLAGS)

build-tests: setup ## Build the tests without running them
	$(SWIFT) build --build-tests $(TEST_BUILD)

demo: build ## Build, then process a sample stream on an embedded broker and print the report
	$(TIDEMARK) demo

# Dictionaries have the same order in every run, so that a seed that fails in the simulation fails again.
test simulate: export SWIFT_DETERMINISTIC_HASHING := 1

test: build build-tests ## Run all tests; those of a real broker wherever there is one
	TIDEMARK_BINARY=$(abspath $(TIDEMARK)) scripts/with-broker --registry $(RUN_TESTS) $(TEST_FLAGS)

simulate: export TIDEMARK_SEEDS ?= 5000
simulate: build-tests ## Simulate TIDEMARK_SEEDS seeds from TIDEMARK_FIRST_SEED on, 5000 from 1 unless given
	$(RUN_TESTS) --filter SimulationTests

chaos: build build-tests ## Let processes and brokers fail at random for TIDEMARK_CHAOS_MINUTES, 2 unless given
	TIDEMARK_BINARY=$(abspath $(TIDEMARK)) Tests/chaos/run $(RUN_TESTS)

soak: build ## Run through months of events while users come and go; show what memory and topics hold
	TIDEMARK_BINARY=$(abspath $(TIDEMARK)) scripts/soak $(SOAK_FLAGS)

bench: build ## Measure in turns with other programs that do the same work, as far as they are here
	TIDEMARK_BINARY=$(abspath $(TIDEMARK)) scripts/bench $(BENCH_FLAGS)

count-instructions: build ## Count the instructions of a replay and compare them with those in benchmarks/instructions.json
	TIDEMARK_BINARY=$(abspath $(TIDEMARK)) scripts/count-instructions $(COUNT_FLAGS)

test-newest: export TIDEMARK_BINARY := $(abspath $(TIDEMARK))
test-newest: export TIDEMARK_CHAOS_MINUTES ?= 1
test-newest: build build-tests ## Run the tests of a real broker and a short chaos on the newest librdkafka
	scripts/with-newest-librdkafka scripts/with-broker --registry $(RUN_TESTS) --filter 'IntegrationTests|TidemarkKafkaTests'
	scripts/with-newest-librdkafka Tests/chaos/run $(RUN_TESTS)

conformance: build-tests ## Run the conformance suite alone
	$(RUN_TESTS) --filter ConformanceTests

sanitize: setup ## Run the unit tests under AddressSanitizer, then under ThreadSanitizer
	SWIFT=$(SWIFT) scripts/sanitize $(TEST_FLAGS)

fuzz: export FUZZ_SECONDS ?= 60
fuzz: setup ## Let libFuzzer look for records that the decoders cannot cope with, for FUZZ_SECONDS
	SWIFT=$(SWIFT) scripts/fuzz $(FUZZ_SECONDS)

lint: ## Check formatting and the state of the tree
	$(SWIFT) format lint --strict --recursive --parallel Sources Tests Package.swift
	scripts/check-tree
	@! command -v python3 >/dev/null || { scripts/embed-schemas --check && scripts/check-schemas; }

format: ## Format all Swift files in place
	$(SWIFT) format --in-place --recursive --parallel Sources Tests Package.swift

clean: ## Remove everything that was built
	rm -rf .build
