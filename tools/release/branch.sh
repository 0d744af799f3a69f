#!/usr/bin/env bash
# Commits the contents of a folder's tarballs to a branch and pushes it: tools/release/branch.sh FOLDER BRANCH
set -euo pipefail

folder=$1
branch=$2
commit=$(git rev-parse --short HEAD)

if git fetch -q --depth=1 origin "$branch" 2> /dev/null; then git checkout -q FETCH_HEAD; else git checkout -q --orphan "$branch"; fi
git rm -rqf --ignore-unmatch .
for tarball in "$folder"/*.tgz; do
  name=$(basename "$tarball" | sed -E 's/^credit-data-(.*)-[0-9]+\.[0-9]+\.[0-9]+.*\.tgz$/\1/')
  mkdir -p "packages/$name"
  tar -xzf "$tarball" -C "packages/$name" --strip-components=1 --exclude=package/dist
done
git add --all --force packages
git -c user.name="github-actions[bot]" -c user.email="github-actions[bot]@users.noreply.github.com" \
  commit -q --allow-empty -m "The packages for Effect 4, generated from $commit"
if [ -n "${GH_TOKEN:-}" ]; then gh auth setup-git; fi
git push -q origin "HEAD:refs/heads/$branch"
