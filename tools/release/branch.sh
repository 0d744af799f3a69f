#!/usr/bin/env bash
# Commits the contents of a folder's tarballs to a branch and pushes it: tools/release/branch.sh FOLDER BRANCH
set -euo pipefail

folder=$1
branch=$2

# this job has a token, which no hook may use
git() { command git -c core.hooksPath=/dev/null "$@"; }

name_of() {
  [[ $(basename "$1") =~ ^credit-data-([a-z0-9]+(-[a-z0-9]+)*)-[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?\.tgz$ ]] && echo "${BASH_REMATCH[1]}"
}
for tarball in "$folder"/*.tgz; do
  name_of "$tarball" > /dev/null || { echo "This is not the name of a package's tarball: $tarball" >&2; exit 1; }
done

commit=$(git rev-parse --short HEAD)

if git fetch -q --depth=1 origin "$branch" 2> /dev/null; then git checkout -q FETCH_HEAD; else git checkout -q --orphan "$branch"; fi
git rm -rqf --ignore-unmatch .
for tarball in "$folder"/*.tgz; do
  name=$(name_of "$tarball")
  mkdir -p "packages/$name"
  tar -xzf "$tarball" -C "packages/$name" --strip-components=1 --exclude=package/dist
done
git add --all --force packages
git -c user.name="github-actions[bot]" -c user.email="github-actions[bot]@users.noreply.github.com" \
  commit -q --allow-empty -m "The packages for Effect 4, generated from $commit"
if [ -n "${GH_TOKEN:-}" ]; then gh auth setup-git; fi
git push -q origin "HEAD:refs/heads/$branch"
