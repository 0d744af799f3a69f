import { StoreContract, TokenStore } from "@credit-data/fleet"
import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Layer, Option, TestClock } from "effect"

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

/** Takes the lease whatever the slots contain. */
const take = (store: TokenStore.Service, owner: string, { above = 0, of = name } = {}) =>
  Effect.map(
    store.takeLease(of, { owner, above, seen: Number.MAX_SAFE_INTEGER, duration }),
    ({ lease }) => lease
  )

describe("a store in files", () => {
  for (const { check, name } of StoreContract.rules) {
    it.scoped(name, () => Effect.flatMap(setUp, ({ store }) => check({ store, pass: TestClock.adjust })))
  }

  const publish = (store: TokenStore.Service, fence: number) =>
    store.publish(name, "Token", { bytes: new Uint8Array([fence]), fence, expiresAt: Date.now() + 3_600_000 })
  const token = (store: TokenStore.Service) =>
    Effect.map(store.read(name), ({ Token }) => Option.getOrUndefined(Option.map(Token, ({ bytes }) => bytes[0])))

  it.scoped("has a folder and files that only their owner can read", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      yield* take(store, "a")
      yield* publish(store, 1)
      yield* store.renewLease(name, { owner: "a", duration })
      const files = yield* fs.readDirectory(directory)
      assert.lengthOf(files, 2)
      assert.strictEqual((yield* fs.stat(directory)).mode & 0o777, 0o700)
      for (const file of files) assert.strictEqual((yield* fs.stat(`${directory}/${file}`)).mode & 0o777, 0o600)
    }))

  it.scoped("is shared by all stores in the same folder", () =>
    Effect.gen(function*() {
      const { make, store } = yield* setUp
      const other = yield* make
      yield* publish(store, 1)
      assert.strictEqual(yield* token(other), 1)
      yield* take(other, "a")
      assert.deepStrictEqual(yield* take(store, "b"), Option.none())
    }))

  it.scoped("keeps one file for each slot and one for the lease", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      for (let fence = 1; fence <= 20; fence++) {
        yield* take(store, "a")
        yield* publish(store, fence)
        yield* store.releaseLease(name, "a")
      }
      assert.deepStrictEqual((yield* fs.readDirectory(directory)).toSorted(), [`${name}.Lease.20`, `${name}.Token.20`])
    }))

  it.scoped("counts a file that is no value as absent, and replaces it", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const far = Date.now() + 1e9
      const texts = [
        "",
        "garbage",
        "null",
        "{}",
        JSON.stringify({ publishedAt: 0, expiresAt: "soon", bytes: "AA==" }),
        JSON.stringify({ publishedAt: 0, expiresAt: far, bytes: "!" }),
        JSON.stringify({ publishedAt: 0, expiresAt: far, bytes: "A".repeat(1_000_000) }),
        JSON.stringify({ bytes: "AA==" })
      ]
      for (const [index, text] of texts.entries()) {
        yield* fs.writeFileString(`${directory}/${name}.Token.${100 + index}`, text)
        assert.isUndefined(yield* token(store))
      }
      const { fence } = Option.getOrThrow(yield* take(store, "a"))
      assert.isTrue(yield* publish(store, fence))
      assert.strictEqual(yield* token(store), fence)
    }))

  it.scoped("does not look at files with other names", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      for (const file of ["README", `${name}.Token`, `${name}.Token.x`, `${name}.Other.1`, "b.Lease.1"]) {
        yield* fs.writeFileString(`${directory}/${file}`, "{}")
      }
      yield* fs.makeDirectory(`${directory}/folder`)
      assert.strictEqual(Option.getOrThrow(yield* take(store, "a")).fence, 1)
    }))

  it.scoped("lets a lease that was only half written end after the time of a lease", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      yield* fs.writeFileString(`${directory}/${name}.Lease.1`, "{\"own")
      assert.deepStrictEqual(yield* take(store, "a"), Option.none())
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(Option.getOrThrow(yield* take(store, "a")).fence, 2)
    }))

  it.scoped("ends a lease when the clock was set back", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      yield* take(store, "a")
      yield* TestClock.setTime(Date.now() - 3_600_000)
      assert.strictEqual(Option.getOrThrow(yield* take(store, "b")).fence, 2)
    }))

  it.scoped("does not read a value when the clock was set back, because its remaining life is unknown", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      yield* publish(store, 1)
      yield* TestClock.setTime(Date.now() - 3_600_000)
      assert.isUndefined(yield* token(store))
    }))

  it.scoped("counts a folder with the name of a value as absent", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      yield* fs.makeDirectory(`${directory}/${name}.Token.5`)
      assert.isUndefined(yield* token(store))
      const { fence } = Option.getOrThrow(yield* take(store, "a"))
      yield* publish(store, fence)
      assert.strictEqual(yield* token(store), fence)
    }))

  it.scoped("removes the files of clients that were not used for a week", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      yield* publish(store, 1)
      const old = new Date(Date.now() - 8 * 24 * 3_600_000)
      yield* fs.utimes(`${directory}/${name}.Token.1`, old, old)
      yield* take(store, "a", { of: "f".repeat(64) })
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [`${"f".repeat(64)}.Lease.1`])
    }))

  it.scoped("removes what a process was writing when it was killed, after a minute", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const abandoned = `${directory}/${name}.Writing.abandoned`
      yield* fs.writeFileString(abandoned, "{")
      yield* take(store, "a")
      assert.isTrue(yield* fs.exists(abandoned))
      yield* TestClock.adjust("90 seconds")
      yield* take(store, "a")
      assert.isFalse(yield* fs.exists(abandoned))
    }))

  it.scoped("makes a deleted folder again", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const uses = [
        Effect.map(store.read(name), () => true),
        Effect.map(take(store, "a"), Option.isSome),
        publish(store, 1)
      ]
      for (const use of uses) {
        yield* fs.remove(directory, { recursive: true })
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

  it.scoped("leaves no lease behind when the disk is full", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const full = yield* over(directory, (fs) => ({
        writeFileString: (path, text, options) =>
          path.includes(".Lease.")
            ? Effect.zipRight(fs.writeFileString(path, "", options), fs.writeFileString(`${directory}/none/file`, text))
            : fs.writeFileString(path, text, options)
      }))
      yield* Effect.flip(take(full, "a"))
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
      assert.isTrue(Option.isSome(yield* take(store, "b")))
    }))

  it.scoped("leaves nothing half-written behind when a file cannot be put in its place", () =>
    Effect.gen(function*() {
      const { directory, fs } = yield* setUp
      const broken = yield* over(directory, (fs) => ({ rename: (_, to) => fs.rename(`${directory}/none`, to) }))
      const { code, reason } = yield* Effect.flip(publish(broken, 1))
      assert.deepStrictEqual({ code, reason }, { code: "NotFound", reason: "Unavailable" })
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    }))

  it.scoped("takes no lease, and writes none, where a value is newer than those it has seen", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      yield* publish(store, 1)
      const { lease } = yield* store.takeLease(name, { owner: "a", above: 0, seen: 0, duration })
      assert.isTrue(Option.isNone(lease))
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [`${name}.Token.1`])
    }))

  it.scoped("does not write a value whose fence is lower than another value's", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      yield* publish(store, 2)
      assert.isFalse(yield* publish(store, 1))
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [`${name}.Token.2`])
    }))

  /** A store to which something happens while it writes a lease. */
  const duringLease = (directory: string, happens: Effect.Effect<unknown, unknown>) =>
    over(directory, (fs) => ({
      writeFileString: (path, text, options) =>
        Effect.zipRight(
          path.includes(".Lease.") ? Effect.orDie(happens) : Effect.void,
          fs.writeFileString(path, text, options)
        )
    }))

  it.scoped("gives its lease back when another process has published while it took it", () =>
    Effect.gen(function*() {
      const { directory, store } = yield* setUp
      const late = yield* duringLease(directory, publish(store, 7))
      const { lease, slots } = yield* late.takeLease(name, { owner: "a", above: 0, seen: 0, duration })
      assert.isTrue(Option.isNone(lease))
      assert.deepStrictEqual(Option.map(slots.Token, ({ fence }) => fence), Option.some(7))
      assert.isTrue(Option.isSome(yield* take(store, "b")))
    }))

  it.scoped("gives way to a lease with a higher fence, even to a lease that has ended", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const late = yield* duringLease(
        directory,
        Effect.zipRight(take(store, "a", { above: 40 }), store.releaseLease(name, "a"))
      )
      assert.isTrue(Option.isNone(yield* take(late, "b")))
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [`${name}.Lease.41`])
    }))

  it.scoped("reports that a value was overtaken while it was written", () =>
    Effect.gen(function*() {
      const { directory, store } = yield* setUp
      const late = yield* over(directory, (fs) => ({
        rename: (from, to) => Effect.zipRight(Effect.orDie(publish(store, 9)), fs.rename(from, to))
      }))
      assert.isFalse(yield* publish(late, 3))
      assert.strictEqual(yield* token(store), 9)
    }))

  it.scoped("leaves a file of another program alone, however old it is", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const file = `${directory}/notes.txt`
      yield* fs.writeFileString(file, "")
      yield* fs.utimes(file, new Date(0), new Date(0))
      yield* take(store, "a")
      assert.isTrue(yield* fs.exists(file))
    }))

  it.scoped("ends values and leases at the millisecond of their end", () =>
    Effect.gen(function*() {
      const { store } = yield* setUp
      const now = yield* Clock.currentTimeMillis
      yield* store.publish(name, "Token", { bytes: new Uint8Array([1]), fence: 1, expiresAt: now + 2_000 })
      yield* take(store, "a")
      yield* TestClock.adjust("1999 millis")
      assert.strictEqual(yield* token(store), 1)
      assert.isTrue(Option.isNone(yield* take(store, "b")))
      yield* TestClock.adjust("1 millis")
      assert.isUndefined(yield* token(store))
      assert.isFalse(yield* store.renewLease(name, { owner: "a", duration }))
      assert.isTrue(Option.isSome(yield* take(store, "b")))
    }))

  it.scoped("accepts a lease that ends up to twice as late as its own, because clocks are set", () =>
    Effect.gen(function*() {
      const { directory, fs, store } = yield* setUp
      const now = yield* Clock.currentTimeMillis
      const write = (expiresAt: number) =>
        fs.writeFileString(`${directory}/${name}.Lease.1`, JSON.stringify({ owner: "x", expiresAt }))
      yield* write(now + 4_000)
      assert.isTrue(Option.isNone(yield* take(store, "a")))
      yield* write(now + 4_001)
      assert.isTrue(Option.isSome(yield* take(store, "a")))
    }))

  it.scoped("never deletes the lease of another process that is in force, even with a higher fence", () =>
    Effect.gen(function*() {
      const { directory, store } = yield* setUp
      let first = true
      // the other process takes its lease after this one has looked
      const late = yield* over(directory, (fs) => ({
        readDirectory: (path) =>
          Effect.tap(fs.readDirectory(path), () => {
            if (!first) return Effect.void
            first = false
            return take(store, "a")
          }).pipe(Effect.orDie)
      }))
      assert.isTrue(Option.isNone(yield* take(late, "b", { above: 57 })))
      assert.isTrue(yield* store.renewLease(name, { owner: "a", duration }))
    }))

  it.scoped("refuses a folder of another user, and accepts a folder of root", () =>
    Effect.gen(function*() {
      const { directory } = yield* setUp
      const ownedBy = (uid: number) =>
        over(directory, (fs) => ({
          stat: (path) =>
            Effect.map(fs.stat(path), (info) => ({ ...info, uid: Option.some(path === directory ? uid : 1_000) }))
        }))
      assert.match(String(yield* Effect.flip(ownedBy(1_001))), /directory.*Expected a folder of this user or of root/)
      yield* ownedBy(0)
      yield* ownedBy(1_000)
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
      // below /proc, where no folder can be either, the recursive creation of Node never ends
      for (const directory of [file, `${file}/a/b`, "/proc/a/b"]) {
        const error = yield* Effect.flip(Layer.build(TokenStore.layerFileSystem({ directory })))
        assert.match(String(error), /directory.*Expected a folder that can be created and written/)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
