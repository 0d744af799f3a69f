import { type StoreEngine, TokenStore } from "@credit-data/fleet"
import * as StoreContract from "@credit-data/fleet/StoreContract"
import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Deferred, Duration, Effect, Layer, Option, TestClock } from "effect"

const name = "0123456789abcdef".repeat(4)
const duration = Duration.seconds(2)

/** A store in a new folder. */
const setUp = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const directory = `${yield* fs.makeTempDirectoryScoped()}/tokens`
  const make = Layer.build(TokenStore.layerFileSystem({ directory })).pipe(
    Effect.flatMap((context) => Effect.provide(TokenStore.TokenStore, context)),
    Effect.provide(NodeFileSystem.layer)
  )
  // files have real times
  yield* TestClock.setTime(Date.now())
  return { directory, fs, make, store: yield* make }
}).pipe(Effect.provide(NodeFileSystem.layer))

/** Takes the lease whatever the value is. Returns the fence. */
const take = (store: StoreEngine.Service, owner: string, of = name) =>
  Effect.map(store.takeLease(of, { owner, seen: 5e14, duration }), ({ isTaken }) => isTaken)

describe("a store in files", () => {
  for (const { check, name } of StoreContract.rules) {
    it.scoped(name, () => Effect.flatMap(setUp, ({ store }) => check({ store, pass: TestClock.adjust })))
  }

  const publish = (store: StoreEngine.Service, fence: number) =>
    store.publish(name, { bytes: new Uint8Array([fence]), fence, expiresAt: Date.now() + 3_600_000, owner: "nobody" })
  const value = (store: StoreEngine.Service) =>
    Effect.map(store.read(name), ({ value }) => Option.getOrUndefined(Option.map(value, ({ bytes }) => bytes[0])))
  const [valueFile, leaseFile] = [`${name}.value`, `${name}.lease`]

  it.scoped("has a folder and files that only their owner can read, one for the value and one for the lease", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      for (let fence = 1; fence <= 3; fence++) {
        yield* take(store, "a")
        yield* publish(store, fence)
        yield* take(store, "a")
      }
      const files = yield* fs.readDirectory(directory)
      assert.deepStrictEqual(files.toSorted(), [leaseFile, valueFile])
      assert.strictEqual((yield* fs.stat(directory)).mode & 0o777, 0o700)
      for (const file of files) assert.strictEqual((yield* fs.stat(`${directory}/${file}`)).mode & 0o777, 0o600)
    }))

  it.scoped("is shared by all stores in the same folder", () =>
    Effect.gen(function*() {
      const { make, store } = yield* setUp
      const other = yield* make
      yield* publish(store, 1)
      assert.strictEqual(yield* value(other), 1)
      yield* take(other, "a")
      assert.isFalse(yield* take(store, "b"))
    }))

  it.scoped("counts a file that is no value or no lease as absent, and replaces it", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const far = Date.now() + 1e9
      const texts = [
        "",
        "garbage",
        "null",
        "{}",
        JSON.stringify({ fence: 1, expiresAt: "soon", bytes: "AA==" }),
        JSON.stringify({ fence: 1, expiresAt: far, bytes: "!" }),
        JSON.stringify({ fence: 1, expiresAt: far, bytes: "A".repeat(1_000_000) }),
        JSON.stringify({ fence: 0.5, expiresAt: far, bytes: "AA==" }),
        JSON.stringify({ expiresAt: far, bytes: "AA==" })
      ]
      for (const [index, text] of texts.entries()) {
        yield* fs.writeFileString(`${directory}/${valueFile}`, text)
        yield* fs.writeFileString(`${directory}/${leaseFile}`, text)
        assert.isUndefined(yield* value(store))
        assert.isTrue(yield* take(store, "a"), text)
        assert.isTrue(yield* publish(store, index))
        assert.strictEqual(yield* value(store), index)
        yield* store.releaseLease(name, "a")
      }
    }))

  it.scoped("counts a folder in the place of a file as absent, and replaces it", () =>
    Effect.gen(function*() {
      const { directory, fs, make, store } = yield* setUp
      for (const file of [valueFile, leaseFile]) {
        yield* fs.makeDirectory(`${directory}/${file}/full`, { recursive: true })
      }
      const other = yield* make
      assert.isUndefined(yield* value(store))
      assert.isTrue(yield* take(store, "a"))
      assert.isFalse(yield* take(other, "b"))
      assert.isTrue(yield* publish(store, 1))
      assert.strictEqual(yield* value(other), 1)
    }))

  it.scoped("ends a lease when the clock was set back", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      yield* take(store, "a")
      yield* TestClock.setTime(Date.now() - 3_600_000)
      assert.isTrue(yield* take(store, "b"))
    }))

  it.scoped("removes its own files that were not used for a week, and no others, when it is built", () =>
    Effect.gen(function*() {
      const { directory, fs, make, store } = yield* setUp
      const used = "f".repeat(64)
      yield* take(store, "a", used)
      yield* publish(store, 1)
      const abandoned = `${name}.${crypto.randomUUID()}`
      // the names of what remains come first, so that nothing of it is removed after the last look
      const foreign = ["#notes.txt", `#${leaseFile}`, `${"0".repeat(64)}.value.old`]
      const recent = `${"0".repeat(64)}.value`
      const folder = `${"0".repeat(64)}.lease`
      yield* fs.makeDirectory(`${directory}/${folder}/full`, { recursive: true })
      for (const file of [valueFile, abandoned, ...foreign, recent]) {
        yield* fs.writeFileString(`${directory}/${file}`, "{")
      }
      for (const file of [valueFile, abandoned, ...foreign, folder, recent]) {
        const then = new Date(Date.now() - (file === recent ? 6.9 : 8) * 86_400_000)
        yield* fs.utimes(`${directory}/${file}`, then, then)
      }
      const writing = `${name}.${crypto.randomUUID()}`
      yield* fs.writeFileString(`${directory}/${writing}`, "{")
      yield* make
      const expected = [`${used}.lease`, writing, recent, ...foreign].toSorted()
      yield* Effect.repeat(
        Effect.promise(() => new Promise((resume) => setTimeout(resume, 5))).pipe(
          Effect.zipRight(Effect.orDie(fs.readDirectory(directory)))
        ),
        { until: (files) => files.length === expected.length, times: 400 }
      )
      assert.deepStrictEqual((yield* fs.readDirectory(directory)).toSorted(), expected)
    }))

  it.scoped("makes a deleted folder again", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const uses = [take(store, "a"), publish(store, 1)]
      for (const use of uses) {
        yield* fs.remove(directory, { recursive: true })
        assert.isUndefined(yield* value(store))
        assert.isTrue(yield* use)
        assert.strictEqual((yield* fs.stat(directory)).mode & 0o777, 0o700)
      }
    }))

  it.scoped("reports a folder that cannot be made again", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      yield* fs.remove(directory, { recursive: true })
      yield* fs.writeFileString(directory, "")
      assert.strictEqual((yield* Effect.flip(store.read(name))).reason, "Refused")
      assert.strictEqual((yield* Effect.flip(publish(store, 1))).reason, "Refused")
    }))

  /** A store in the same folder, over a file system with other behaviour. */
  const over = (directory: string, change: (fs: FileSystem.FileSystem) => Partial<FileSystem.FileSystem>) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const context = yield* Effect.provideService(
        Layer.build(TokenStore.layerFileSystem({ directory })),
        FileSystem.FileSystem,
        { ...fs, ...change(fs) }
      )
      return Context.get(context, TokenStore.TokenStore)
    }).pipe(Effect.provide(NodeFileSystem.layer))

  it.scoped("does as much for a request in a folder of 300 clients as in an empty folder, and never lists it", () =>
    Effect.gen(function*() {
      const { directory, store } = yield* setUp
      let operations = 0
      const counted = yield* over(directory, (fs) => {
        const count = <A, E>(effect: Effect.Effect<A, E>) => Effect.zipRight(Effect.sync(() => operations++), effect)
        return {
          link: (...args) => count(fs.link(...args)),
          readDirectory: (...args) => count(fs.readDirectory(...args)),
          readFileString: (...args) => count(fs.readFileString(...args)),
          remove: (...args) => count(fs.remove(...args)),
          rename: (...args) => count(fs.rename(...args)),
          stat: (...args) => count(fs.stat(...args)),
          writeFileString: (...args) => count(fs.writeFileString(...args))
        }
      })
      const request = Effect.gen(function*() {
        operations = 0
        yield* take(counted, "a")
        yield* publish(counted, 1)
        yield* counted.releaseLease(name, "a")
        return operations
      })
      yield* request
      const empty = yield* request
      assert.isAtMost(empty, 16)
      for (let client = 0; client < 300; client++) yield* take(store, "b", client.toString(16).padStart(64, "0"))
      assert.strictEqual(yield* request, empty)
    }))

  it.scoped("leaves no lease behind when the disk is full", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const full = yield* over(directory, (fs) => ({
        writeFileString: (path, text, options) =>
          text === ""
            ? fs.writeFileString(path, text, options)
            : Effect.zipRight(fs.writeFileString(path, "", options), Effect.asVoid(fs.readFileString(directory)))
      }))
      yield* Effect.flip(take(full, "a"))
      yield* Effect.flip(publish(full, 1))
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
      assert.isTrue(yield* take(store, "b"))
    }))

  for (const [systemCode, advice] of [["ENOSPC", /disk .* is full/], ["EROFS", /read-only file system/]] as const) {
    it.scoped(`has advice of its own for ${systemCode}`, () =>
      Effect.gen(function*() {
        const { directory } = yield* setUp
        // the error of another operation, with this code
        const failing = yield* over(directory, (fs) => ({
          writeFileString: () =>
            Effect.asVoid(fs.readFileString(directory)).pipe(
              Effect.tapError(({ cause }) => Effect.sync(() => Object.assign(cause ?? {}, { code: systemCode })))
            )
        }))
        const { code, hint = "", reason } = yield* Effect.flip(publish(failing, 1))
        assert.deepStrictEqual({ code, reason }, { code: systemCode, reason: "Refused" })
        assert.match(hint, advice)
      }))
  }

  it.scoped("puts an older value back if its process was stopped between the look and the write", () =>
    Effect.gen(function*() {
      const { directory, store } = yield* setUp
      const stopped = yield* over(directory, (fs) => ({
        rename: (from, to) => Effect.zipRight(Effect.orDie(publish(store, 2)), fs.rename(from, to))
      }))
      assert.isTrue(yield* publish(stopped, 1))
      assert.strictEqual(yield* value(store), 1)
      assert.isTrue(yield* publish(store, 3))
      assert.isFalse(yield* publish(store, 2))
    }))

  it.scoped("leaves nothing half-written behind when a file cannot be put in its place", () =>
    Effect.gen(function*() {
      const { directory, fs } = yield* setUp
      const broken = yield* over(directory, (fs) => ({ rename: (_, to) => fs.rename(`${directory}/none`, to) }))
      const { code, reason } = yield* Effect.flip(publish(broken, 1))
      assert.deepStrictEqual({ code, reason }, { code: "ENOENT", reason: "Unavailable" })
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    }))

  it.scoped("writes no lease where a value is newer than what its owner has seen", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      yield* publish(store, 1)
      const { isTaken } = yield* store.takeLease(name, { owner: "a", seen: 0, duration })
      assert.isFalse(isTaken)
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [valueFile])
    }))

  it.scoped("gives its lease back when another process has published while it took it", () =>
    Effect.gen(function*() {
      const { directory, store } = yield* setUp
      const late = yield* over(directory, (fs) => ({
        link: (from, to) => Effect.zipRight(Effect.orDie(publish(store, 7)), fs.link(from, to))
      }))
      const { isTaken, value } = yield* late.takeLease(name, { owner: "a", seen: 0, duration })
      assert.isFalse(isTaken)
      assert.deepStrictEqual(Option.map(value, ({ fence }) => fence), Option.some(7))
      assert.isTrue(yield* take(store, "b"))
    }))

  it.scoped("leaves the lease to the process that was faster, at every step", () =>
    Effect.gen(function*() {
      for (const before of ["no lease", "a lease that has ended"]) {
        const { directory, store } = yield* setUp
        if (before !== "no lease") {
          yield* take(store, "old")
          yield* TestClock.adjust("3 seconds")
        }
        let isFirst = true
        const beside = <A, E>(step: Effect.Effect<A, E>) =>
          Effect.gen(function*() {
            assert.strictEqual(yield* Effect.orDie(take(store, "fast")), true)
            isFirst = false
            const done = yield* Effect.exit(step)
            assert.isFalse(yield* Effect.orDie(take(store, "third")), `a third process took the lease after ${before}`)
            return yield* done
          })
        const late = yield* over(directory, (fs) => ({
          link: (from, to) => beside(fs.link(from, to)),
          rename: (from, to) => isFirst ? fs.rename(from, to) : beside(fs.rename(from, to))
        }))
        assert.isFalse(yield* take(late, "late"), before)
        assert.isTrue(yield* take(store, "fast"))
      }
    }))

  it.scoped("leaves the lease to others when the process that was faster gives its own back meanwhile", () =>
    Effect.gen(function*() {
      for (const before of ["no lease", "a lease that has ended"]) {
        const { directory, store } = yield* setUp
        if (before !== "no lease") {
          yield* take(store, "old")
          yield* TestClock.adjust("3 seconds")
        }
        const late = yield* over(directory, (fs) => ({
          link: (from, to) =>
            Effect.gen(function*() {
              yield* Effect.orDie(take(store, "fast"))
              const linked = yield* Effect.exit(fs.link(from, to))
              yield* Effect.orDie(store.releaseLease(name, "fast"))
              return yield* linked
            }),
          rename: (from, to) => Effect.zipRight(Effect.orDie(take(store, "third")), fs.rename(from, to))
        }))
        assert.isFalse(yield* take(late, "late"), before)
        assert.isTrue(yield* take(store, "third"), before)
      }
    }))

  it.scoped("knows who took a lease over and was stopped before it put its own in the place of the ended one", () =>
    Effect.gen(function*() {
      const { directory, store } = yield* setUp
      yield* take(store, "old")
      yield* TestClock.adjust("3 seconds")
      const isStopped = yield* Deferred.make<void>()
      const stopped = yield* over(directory, () => ({
        rename: () => Effect.zipRight(Deferred.succeed(isStopped, undefined), Effect.never)
      }))
      yield* Effect.fork(take(stopped, "stopped"))
      yield* Deferred.await(isStopped)
      assert.isFalse(yield* take(store, "b"))
      yield* TestClock.adjust("3 seconds")
      assert.isTrue(yield* take(store, "b"))
      assert.isFalse(yield* take(store, "c"))
    }))

  it.scoped("ends values and leases at the millisecond of their end", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      const now = yield* Clock.currentTimeMillis
      yield* store.publish(name, { bytes: new Uint8Array([1]), fence: 1, expiresAt: now + 2_000, owner: "" })
      yield* take(store, "a")
      yield* TestClock.adjust("1999 millis")
      assert.strictEqual(yield* value(store), 1)
      assert.isFalse(yield* take(store, "b"))
      yield* TestClock.adjust("1 millis")
      assert.isUndefined(yield* value(store))
      assert.isTrue(yield* take(store, "b"))
    }))

  it.scoped("accepts a lease that ends up to twice as late as its own, because clocks are set", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const now = yield* Clock.currentTimeMillis
      const write = (expiresAt: number) =>
        fs.writeFileString(
          `${directory}/${leaseFile}`,
          JSON.stringify({ id: crypto.randomUUID(), owner: "x", expiresAt })
        )
      yield* write(now + 4_000)
      assert.isFalse(yield* take(store, "a"))
      yield* write(now + 4_001)
      assert.isTrue(yield* take(store, "a"))
    }))

  it.scoped("refuses a folder that other users can enter, and leaves it unchanged", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const build = Layer.build(TokenStore.layerFileSystem({ directory }))
      for (const mode of [0o755, 0o710, 0o701, 0o777]) {
        yield* fs.chmod(directory, mode)
        assert.include(
          String(yield* Effect.flip(build)),
          `only its owner can enter (mode 0700, not 0${mode.toString(8)})`
        )
        assert.strictEqual((yield* fs.stat(directory)).mode & 0o777, mode)
      }
      // Windows shows folders with this mode
      for (const mode of [0o700, 0o766]) {
        yield* fs.chmod(directory, mode)
        yield* build
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scoped("creates the parents of its folder, all for its owner only", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const parent = yield* fs.makeTempDirectoryScoped()
      const directory = `${parent}/a//b/c/`
      yield* Layer.build(TokenStore.layerFileSystem({ directory }))
      for (const folder of [`${parent}/a`, `${parent}/a/b`, directory]) {
        assert.strictEqual((yield* fs.stat(folder)).mode & 0o777, 0o700)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scoped("cannot be built where no folder can be", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      for (const directory of [file, `${file}/a/b`]) {
        const error = yield* Effect.flip(Layer.build(TokenStore.layerFileSystem({ directory })))
        assert.match(String(error), /directory.*Expected a folder that can be created and written/)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
