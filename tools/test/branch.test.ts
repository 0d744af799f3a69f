import { assert, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const script = fileURLToPath(new URL("../release/branch.sh", import.meta.url))

/** Runs the script in a new repository, with these tarballs and their files. Returns the files of the pushed branch. */
const release = (
  tarballs: Readonly<Record<string, Readonly<Record<string, string>>>>,
  prepare = (_clone: string) => {}
) => {
  const top = mkdtempSync(join(tmpdir(), "credit-data-branch-"))
  try {
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: top, encoding: "utf8" })
    const clone = join(top, "clone")
    git("init", "-q", "--bare", "origin")
    git("-c", "init.defaultBranch=main", "init", "-q", "clone")
    git("-C", clone, "remote", "add", "origin", join(top, "origin"))
    git(
      "-C",
      clone,
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@a.example",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "first"
    )
    const folder = join(top, "tarballs")
    mkdirSync(folder)
    for (const [name, files] of Object.entries(tarballs)) {
      const content = join(top, "content")
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(content, "package", file)), { recursive: true })
        writeFileSync(join(content, "package", file), text)
        chmodSync(join(content, "package", file), 0o755)
      }
      execFileSync("tar", ["-czf", join(folder, name), "-C", content, "package"])
      rmSync(content, { recursive: true })
    }
    prepare(clone)
    const { status, stderr } = spawnSync(script, [folder, "effect-4"], {
      cwd: clone,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: top, MARK: join(top, "mark") }
    })
    const branch = spawnSync("git", ["-C", join(top, "origin"), "ls-tree", "-r", "--name-only", "effect-4"], {
      encoding: "utf8"
    })
    return {
      status,
      stderr,
      files: branch.stdout.split("\n").filter((file) => file !== ""),
      ran: existsSync(join(top, "mark"))
    }
  } finally {
    rmSync(top, { recursive: true, force: true })
  }
}

const hook = "#!/bin/sh\ntouch \"$MARK\"\n"

describe("the branch with the packages for Effect 4", () => {
  it("contains each tarball's package, without dist", () => {
    const files = { "package.json": "{}", "src/index.ts": "", "dist/index.js": "" }
    const { files: pushed, status, stderr } = release({
      "credit-data-auth-v2-2.0.0.tgz": files,
      "credit-data-core-2.0.0-next.1.tgz": files
    })
    assert.strictEqual(status, 0, stderr)
    assert.deepStrictEqual(
      pushed,
      ["auth-v2", "core"].flatMap((name) => [`packages/${name}/package.json`, `packages/${name}/src/index.ts`])
    )
  })

  for (
    const name of [
      "credit-data-..-1.0.0.tgz",
      "credit-data-a..b-1.0.0.tgz",
      "credit-data--1.0.0.tgz",
      "other-1.0.0.tgz"
    ]
  ) {
    it(`is not changed by a tarball with the name ${name}, and none of its hooks runs`, () => {
      const { files, ran, status, stderr } = release({
        [name]: { ".git/hooks/pre-commit": hook, ".git/hooks/pre-push": hook }
      })
      assert.deepStrictEqual([status, files, ran], [1, [], false])
      assert.include(stderr, name)
    })
  }

  it("is committed and pushed without the hooks of the clone", () => {
    const { ran, status, stderr } = release({ "credit-data-core-2.0.0.tgz": { "package.json": "{}" } }, (clone) => {
      for (const name of ["post-checkout", "pre-commit", "post-commit", "pre-push"]) {
        writeFileSync(join(clone, ".git/hooks", name), hook)
        chmodSync(join(clone, ".git/hooks", name), 0o755)
      }
    })
    assert.strictEqual(status, 0, stderr)
    assert.isFalse(ran)
  })
})
