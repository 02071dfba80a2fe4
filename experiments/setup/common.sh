# Shared by quickstart, check and the build scripts: what to install, and how to say what is going on.
# Sourced by bash with the repository as the working folder.

espalier_cache=${ESPALIER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/espalier}

build_packages=(g++ cmake ninja-build pkg-config ccache lld
  libstarpu-dev libhwloc-dev libdnnl-dev libonnx-dev libprotobuf-dev protobuf-compiler
  libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libyaml-cpp-dev libeigen3-dev
  libjpeg-dev libpng-dev libwebp-dev libzip-dev libpugixml-dev coinor-libclp-dev coinor-libcbc-dev libjs-chart.js)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev libonnx-testdata)

step_started=$SECONDS
# step TEXT: a line that says what begins, with the seconds since the start
step() { printf '\n[%4d s] %s\n' "$SECONDS" "$*"; step_started=$SECONDS; }
fail() { printf '\n%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "packages are missing and this is neither root nor a system with sudo. As root, run: apt-get install ${missing[*]}"; fi
}

is_installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -q '^installed$'; }

# install_packages NAME...: installs what is missing and says so; nothing when all is there
install_packages() {
  command -v apt-get >/dev/null || fail "this script installs packages with apt-get, which is not here. Needed are: $*"
  missing=()
  local p
  for p in "$@"; do is_installed "$p" || missing+=("$p"); done
  [ ${#missing[@]} -gt 0 ] || { echo "all packages are there"; return 0; }
  echo "installing: ${missing[*]}"
  local log; log=$(mktemp)
  as_root apt-get update -q >"$log" 2>&1 || { tail -n 5 "$log" >&2; fail "the package lists could not be fetched: check the network and the apt sources"; }
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "${missing[@]}" >"$log" 2>&1 ||
    { tail -n 15 "$log" >&2; fail "apt-get could not install the packages (its last lines are above; all of it in $log)"; }
  rm -f "$log"
}

# build PRESET [TARGET...]: configures when needed and builds, showing ninja's progress line
build() {
  local preset=$1; shift
  local log=build/$preset.log
  mkdir -p build
  cmake --preset "$preset" "${cmake_options[@]}" >"$log" 2>&1 || { tail -n 20 "$log" >&2; fail "configuring the preset $preset failed ($log)"; }
  if [ -t 1 ]; then cmake --build --preset "$preset" ${1:+--target "$@"} || fail "building the preset $preset failed"
  else cmake --build --preset "$preset" ${1:+--target "$@"} >>"$log" 2>&1 || { grep -E 'error|FAILED|ninja:' -A 6 "$log" | tail -n 60 >&2; fail "building the preset $preset failed ($log)"; }; fi
}
cmake_options=()
