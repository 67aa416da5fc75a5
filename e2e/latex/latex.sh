#!/bin/sh
# latex.sh sees to it that pdflatex and pdftotext are there with the packages
# that the tables need: it installs Debian's packages (50 MB to fetch, 150 MB on
# the disk) if they are missing and this user may.
set -eu
there() { command -v pdflatex && command -v pdftotext && kpsewhich booktabs.sty && kpsewhich cmap.sty; } >/dev/null 2>&1
if there; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "e2e: no pdflatex; install the packages texlive-latex-recommended and poppler-utils" >&2
	exit 1
fi
install() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends texlive-latex-recommended poppler-utils; }
{ install || { apt-get update && install; }; } >&2
there
