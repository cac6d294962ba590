#!/bin/sh
# Exit 0: the two devices still differ. 1: they agree. 2: one of them failed to run.
# PIPECTL names the program, PIPECTL_OPTIONS further options of it (--plugin-dir DIR).
# It runs in a home of its own: in the other one the device may be in quarantine by now.
pipectl=${PIPECTL:-pipectl}
cd "$(dirname "$0")" || exit 2
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
home=${PIPECTL_REPRODUCE_HOME:-$out/home}
step() {
	"$pipectl" --home "$home" $PIPECTL_OPTIONS shader run kernel.wgsl --backend "$1" --class integer \
		--dispatch 1,1,1 --trace 'iterate'/17.4 \
		--bind 0:0=in-0-0.bin \
		--bind 0:1=in-0-1.bin \
		--bind 0:2=in-0-2.bin \
		--bind 0:3=in-0-3.bin \
		--bind 0:4=in-0-4.bin \
		--bind 0:5=in-0-5.bin --read 0:5="$out/$2-0-5.bin" >&2
}
step 'mock:wrap=vulkan:0+flip-bit@iterate/17:element=12:bit=30' device || exit 2
step 'cpu:0' reference || exit 2
same=1
cmp "$out/device-0-5.bin" "$out/reference-0-5.bin" || same=0
[ $same = 0 ]
