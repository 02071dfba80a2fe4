#!/usr/bin/env bash
# Builds a flavour of StarPU from the distribution's own source package and keeps it in the cache:
#   simgrid   simulates machines that are not there: 64 CPU cores and 16 GPUs or more
#             (ESPALIER_SIMGRID_CPUS and ESPALIER_SIMGRID_GPUS raise the 128 and 32 that it serves by default)
#   native    as many CPU workers as this machine has cores, where the packaged library serves fewer
#   cuda      with CUDA workers, where nvcc is found
# usage: build_starpu.sh simgrid|native|cuda      Prints the folder; pkg-config finds it in FOLDER/lib/pkgconfig.
# What is in the cache already is kept: its key is flavour, source version, compiler and SimGrid version.
set -euo pipefail
cd "$(dirname "$0")/../.."
. experiments/setup/common.sh
flavour=${1:-}
case $flavour in simgrid | native | cuda) ;; *) fail "usage: build_starpu.sh simgrid|native|cuda" ;; esac

source_packages=(dpkg-dev g++ make pkg-config libhwloc-dev)
[ "$flavour" != simgrid ] || source_packages+=(libsimgrid-dev libboost-dev)
install_packages "${source_packages[@]}" >&2
if [ "$flavour" = cuda ]; then
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || fail "nvcc is not here: install the CUDA toolkit first"
  cuda_root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
fi

key=$flavour-$(c++ -dumpfullversion)-$(dpkg-query -W -f='${Version}' libstarpu-dev 2>/dev/null || echo none)
simgrid_cpus=${ESPALIER_SIMGRID_CPUS:-128} simgrid_gpus=${ESPALIER_SIMGRID_GPUS:-32}
for n in "$simgrid_cpus" "$simgrid_gpus"; do [[ $n =~ ^[1-9][0-9]{0,4}$ ]] || fail "ESPALIER_SIMGRID_CPUS and ESPALIER_SIMGRID_GPUS are whole numbers, not $n"; done
case $flavour in
  simgrid)
    key+=-simgrid-$(dpkg-query -W -f='${Version}' libsimgrid-dev)
    [ "$simgrid_cpus $simgrid_gpus" = "128 32" ] || key+=-${simgrid_cpus}cpus-${simgrid_gpus}gpus ;;
  native) key+=-$(nproc)cores ;;
  cuda) key+=-cuda$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p') ;;
esac
target=$espalier_cache/starpu/${key//[^A-Za-z0-9._+-]/_}
if [ -e "$target/done" ]; then echo "$target"; exit 0; fi
mkdir -p "$espalier_cache/starpu"
exec 9>"$espalier_cache/starpu/.lock"
flock 9
if [ -e "$target/done" ]; then echo "$target"; exit 0; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch_source: the source package by the apt sources that are set up, also where they name no deb-src
fetch_source() {
  mkdir -p "$work/lists/partial" "$work/source"
  apt-get indextargets --format 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sort -u >"$work/sources.list"
  local apt=(apt-get -q -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/lists"
    -o APT::Sandbox::User=root)
  "${apt[@]}" update >"$work/log" 2>&1 || true
  (cd "$work/source" && "${apt[@]}" source --download-only starpu >>"$work/log" 2>&1) ||
    { tail -n 5 "$work/log" >&2; fail "the source package of StarPU could not be fetched: check the network and the apt sources"; }
  dpkg-source --no-check -x "$work"/source/*.dsc "$work/starpu" >>"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; fail "the source package could not be unpacked"; }
}

echo "StarPU, flavour $flavour: fetching the source" >&2
fetch_source
cd "$work/starpu"
options=(--prefix="$target" --disable-opencl --disable-mpi --disable-build-doc --disable-build-examples
  --disable-build-tests --disable-starpufft --disable-socl --disable-fortran --disable-starpurm --enable-maxbuffers=16)
case $flavour in
  simgrid) options+=(--enable-simgrid --disable-cuda --enable-maxcpus="$simgrid_cpus" --enable-maxcudadev="$simgrid_gpus"
    --enable-maxnodes="$((simgrid_gpus + 8))") ;;
  native) options+=(--disable-cuda --enable-maxcpus="$(($(nproc) > 4 ? $(nproc) : 4))") ;;
  cuda)
    options+=(--enable-cuda --with-cuda-dir="$cuda_root" --enable-maxcpus="$(nproc)")
    # CUDA 13 dropped cudaDeviceProp::computeMode; the attribute says the same and is older than any CUDA served here
    for f in src/drivers/cuda/driver_cuda.c src/drivers/cuda/driver_cuda1.c; do
      [ ! -e "$f" ] || sed -i 's/props\[\([a-z]*\)\]\.computeMode/espalier_compute_mode(\1)/' "$f"
      [ ! -e "$f" ] || ! grep -q espalier_compute_mode "$f" ||
        sed -i '0,/^#include <starpu.h>/s//#include <starpu.h>\n#include <cuda_runtime.h>\nstatic int espalier_compute_mode(int device) { int mode = 0; cudaDeviceGetAttribute(\&mode, cudaDevAttrComputeMode, device); return mode; }/' "$f"
    done ;;
esac
echo "StarPU, flavour $flavour: configuring ($(basename "$(pwd)"), $(sed -n 's/^PACKAGE_VERSION=.\(.*\).$/\1/p' configure))" >&2
export CFLAGS="-O2 -g0 -w" CXXFLAGS="-O2 -g0 -w"
./configure "${options[@]}" >"$work/log" 2>&1 || { tail -n 15 "$work/log" >&2; fail "configuring StarPU failed"; }
echo "StarPU, flavour $flavour: building (some minutes)" >&2
make -j"$(nproc)" >"$work/log" 2>&1 || { grep -E 'error|Error' -A 3 "$work/log" | tail -n 20 >&2; fail "building StarPU failed"; }
make install >"$work/log" 2>&1 || { tail -n 15 "$work/log" >&2; fail "installing StarPU into the cache failed"; }
touch "$target/done"
echo "StarPU, flavour $flavour: ready in $target" >&2
echo "$target"
