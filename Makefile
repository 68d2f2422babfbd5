# A thin door to CMake: every target sets up what it needs. PRESET is one of CMakePresets.json, OPTIONS are for cmake.
PRESET ?= default
JOBS   ?= $(shell nproc)
BUILD  := $(if $(filter default,$(PRESET)),build,build-$(PRESET))
BENCH  ?= --n 512,1024,2048,4096 --baseline native --json
# Without a GPU, and where nothing is built yet, the demonstration leaves CUDA out: a quarter of the time to compile. Tests
# then compile device code fast, in a folder of their own, since no GPU of this machine runs it.
BARE := $(if $(wildcard $(BUILD)/CMakeCache.txt)$(shell nvidia-smi -L 2>/dev/null),,yes)
DEMO := $(if $(BARE),cpu,$(PRESET))
TEST := $(if $(and $(BARE),$(filter default,$(PRESET)),$(or $(CUDACXX),$(shell command -v nvcc))),test,$(PRESET))
DEMO_BUILD := $(if $(filter cpu,$(DEMO)),build-cpu,$(BUILD))
CMAKE_BUILD := cmake --build --preset $(PRESET) -j $(JOBS)
INSTALLED := vernier vernier_cli vernier_manual vernier_blas_preload vernier_cublas_preload vernier_scalapack_preload
CLANG_FORMAT = $(or $(shell command -v clang-format-14),clang-format)
SOURCES = find include src apps python tests bench demo examples tools -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh'

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo:  ## multiply a real matrix: fp64 accuracy out of int8 products, beside OpenBLAS
	@$(MAKE) --no-print-directory configure PRESET=$(DEMO)
	@cmake --build --preset $(DEMO) -j $(JOBS) --target vernier-demo >&2
	@$(DEMO_BUILD)/bin/vernier-demo
	@ls $(DEMO_BUILD)/wheel/*.whl >/dev/null 2>&1 || { echo "demo: now the Python package, a minute; Ctrl-C leaves it out" >&2; \
	  tools/wheel $(DEMO_BUILD) >&2 || echo "demo: no Python package: it needs pip and its index; make wheel tries again" >&2; }

install:  ## library, headers and the program vernier into PREFIX, out of what the demonstration built
	@$(MAKE) --no-print-directory configure PRESET=$(DEMO)
	@cmake --build --preset $(DEMO) -j $(JOBS) --target $(INSTALLED) >&2
	@cmake --install $(DEMO_BUILD) $(if $(PREFIX),--prefix $(PREFIX)) >/dev/null
	@echo "install: $(or $(PREFIX),/usr/local)/bin/vernier"

test:  ## build all that is tested and run every test but those that need a GPU
	@$(MAKE) --no-print-directory build PRESET=$(TEST)
	@ctest --preset $(TEST) -j $(JOBS) -LE gpu

wheel: configure  ## the Python package as a wheel, in build/wheel
	@$(CMAKE_BUILD) --target vernier >&2
	@tools/wheel $(BUILD)

bench: configure  ## speed and error of fp64 and fp32 beside OpenBLAS, one JSON object a line
	@$(CMAKE_BUILD) --target vernier_cli >&2
	@$(BUILD)/bin/vernier bench gemm --contract fp64 $(BENCH)
	@$(BUILD)/bin/vernier bench gemm --type float $(BENCH)

gpu-test: gpu build  ## the tests of the CUDA part, and compute-sanitizer on small ones, on a machine with a GPU
	@ctest --preset $(PRESET) -L gpu --no-tests=error
	@tools/gpu_sanitize $(BUILD)/bin/test_gpu -o $(BUILD)/gpu_sanitizer.json --commit $$(git rev-parse --short HEAD)

gpu-bench: gpu build  ## fp64 on this GPU beside cuBLAS, and the time of each stage, into build/gemm_gpu.json
	@tools/gpu_bench $(BUILD)/bin/vernier-gpu-bench -o $(BUILD)/gemm_gpu.json --commit $$(git rev-parse --short HEAD)

docs:  ## the reference of the public headers, in build/reference/html
	@tools/setup --docs
	@mkdir -p build/reference
	@doxygen docs/Doxyfile
	@echo "docs: build/reference/html/index.html"

format: clang-format  ## format all sources
	@$(SOURCES) | xargs $(CLANG_FORMAT) -i

check-format: clang-format  ## fail where `make format` would change a source
	@$(SOURCES) | xargs $(CLANG_FORMAT) --dry-run --Werror
	@echo "check-format: all sources are formatted"

clean:  ## remove all build folders
	@rm -rf build build-debug build-ci build-cpu build-fuzz build-test build-thread build-install

configure:
	@tools/setup >&2
	@cmake --preset $(PRESET) --log-level=NOTICE $(OPTIONS) >&2

build: configure
	@$(CMAKE_BUILD)

clang-format:
	@tools/setup --format

gpu:
	@nvidia-smi -L 2>/dev/null || { echo "$(MAKECMDGOALS): there is no NVIDIA GPU on this machine" >&2; exit 1; }

.PHONY: help demo install test wheel bench gpu-test gpu-bench docs format check-format clean configure build clang-format gpu
