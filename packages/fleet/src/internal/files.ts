import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Variables from "@credit-data/core/Variables"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { isExisting, isMissing, storeError } from "./platformError.ts"
import { isNewer, type Look, maxValueSize, type Service } from "./port.ts"

const Stored = Schema.parseJson(
  Schema.Struct({ fence: Schema.Int, expiresAt: Schema.Number, bytes: Schema.Uint8ArrayFromBase64 })
)
const Lease = Schema.parseJson(
  Schema.Struct({
    id: Schema.String.pipe(Schema.pattern(/^[0-9a-f-]{36}$/)),
    owner: Schema.String,
    expiresAt: Schema.Number
  })
)

/** The files of this store: a value, a lease, the successor of a lease that ended, and what a process wrote when it was killed. */
const ownFile = /^[0-9a-f]{64}\.(value|lease|[0-9a-f-]{36})$/

/** No token lives this long. */
const unusedAfter = Duration.toMillis("7 days")

/** The permission of other users to enter a folder. On Windows, which has other permissions, no folder has these bits. */
const othersMayEnter = 0o011

const invalid = (expected: string) => Effect.fail(Variables.invalid(["directory"], expected))

/** Creates a folder and its parents. Below /proc, the recursive creation of Node never ends. */
const makeFolders = (fs: FileSystem.FileSystem, folder: string): Effect.Effect<void, PlatformError> => {
  const makeOne = Effect.catchIf(fs.makeDirectory(folder, { mode: 0o700 }), isExisting, () => Effect.void)
  const parent = folder.replace(/[\\/]+[^\\/]+[\\/]*$/, "")
  return parent === "" || parent === folder
    ? makeOne
    : Effect.catchIf(makeOne, isMissing, () => Effect.zipRight(makeFolders(fs, parent), makeOne))
}

/** The engine in files. */
export const make = Effect.fnUntraced(function*(
  directory: string
): Effect.fn.Return<Service, ConfigError.ConfigError, FileSystem.FileSystem | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const clock = yield* Effect.clock
  const now = () => clock.unsafeCurrentTimeMillis()
  const makeFolder = makeFolders(fs, directory)
  const { mode } = yield* makeFolder.pipe(
    Effect.zipRight(fs.access(`${directory}/.`, { writable: true })),
    Effect.zipRight(fs.stat(directory)),
    Effect.catchAll((error) => invalid(`Expected a folder that can be created and written: ${storeError(error).code}`))
  )
  // a folder that exists is not changed, because others may use it too
  if ((mode & othersMayEnter) !== 0) {
    const octal = (mode & 0o7777).toString(8).padStart(4, "0")
    return yield* invalid(
      `Expected a folder that only its owner can enter (mode 0700, not ${octal}), or a path where the store can create one`
    )
  }

  const removeUnused = (path: string) =>
    Effect.flatMap(
      fs.stat(path),
      ({ mtime }) =>
        Option.exists(mtime, (written) => now() - written.getTime() > unusedAfter) ? fs.remove(path) : Effect.void
    )
  // no caller waits for it, because the folder may contain the files of many clients
  yield* Effect.forkScoped(Effect.ignore(Effect.flatMap(fs.readDirectory(directory), (names) =>
    Effect.forEach(
      names.filter((name) => ownFile.test(name)),
      (name) => Effect.ignore(removeUnused(`${directory}/${name}`)),
      { discard: true }
    ))))

  const valueFile = (name: string) => `${directory}/${name}.value`
  const leaseFile = (name: string) => `${directory}/${name}.lease`
  const newFile = (name: string) => `${directory}/${name}.${crypto.randomUUID()}`

  /** What a file contains, or none if it is missing or something else. */
  const contentOf = <A, I>(path: string, schema: Schema.Schema<A, I>): Effect.Effect<Option.Option<A>, PlatformError> =>
    fs.readFileString(path).pipe(
      Effect.map(Schema.decodeUnknownOption(schema)),
      Effect.catchIf(isMissing, () => Effect.succeedNone)
    )

  /** Puts a file that was written as a whole in its place. */
  const write = (
    name: string,
    text: string,
    put: (file: string) => Effect.Effect<void, PlatformError>
  ): Effect.Effect<void, PlatformError> => {
    const path = newFile(name)
    const file = fs.writeFileString(path, text, { flag: "wx", mode: 0o600 })
    // the folder may have been deleted
    return Effect.catchIf(file, isMissing, () => Effect.zipRight(makeFolder, file)).pipe(
      Effect.zipRight(put(path)),
      Effect.ensuring(Effect.ignore(fs.remove(path)))
    )
  }

  const look = (name: string): Effect.Effect<Look, PlatformError> =>
    Effect.map(contentOf(valueFile(name), Stored), (stored) => ({
      now: now(),
      value: Option.filter(stored, ({ bytes, expiresAt }) => now() < expiresAt && bytes.length <= maxValueSize)
    }))
  const leaseOf = (name: string) => contentOf(leaseFile(name), Lease)

  const release = (name: string, owner: string) =>
    Effect.flatMap(
      leaseOf(name),
      (lease) =>
        Option.exists(lease, (lease) => lease.owner === owner && now() < lease.expiresAt)
          ? fs.remove(leaseFile(name))
          : Effect.void
    )

  const takeLease = Effect.fnUntraced(
    function*(name: string, { duration, owner, seen }: Parameters<Service["takeLease"]>[1]) {
      const before = yield* look(name)
      if (isNewer(before, seen)) return { ...before, isTaken: false }
      const millis = Duration.toMillis(duration)
      // no lease lasts much longer than it was taken for, so the clock was set back
      const isInForce = ({ expiresAt }: { readonly expiresAt: number }) =>
        now() < expiresAt && expiresAt <= now() + 2 * millis
      let last = yield* leaseOf(name)
      let successor = leaseFile(name)
      // a lease that has ended is never removed: only one process can create the file of its successor
      while (Option.isSome(last) && !isInForce(last.value)) {
        successor = `${directory}/${name}.${last.value.id}`
        const next = yield* contentOf(successor, Lease)
        if (Option.isNone(next)) break
        last = next
      }
      const holder = Option.filter(last, isInForce)
      if (Option.exists(holder, (lease) => lease.owner !== owner)) return { ...before, isTaken: false }
      const text = JSON.stringify({ id: crypto.randomUUID(), owner, expiresAt: now() + millis })
      const isWritten = yield* write(name, text, (file) => {
        // a file that is no lease is in nobody's way
        const create = Effect.catchIf(
          fs.link(file, successor),
          isExisting,
          (error) => Effect.filterOrFail(contentOf(successor, Lease), Option.isNone, () => error)
        )
        return Effect.zipRight(Option.isSome(holder) ? Effect.void : create, fs.rename(file, leaseFile(name)))
      }).pipe(Effect.as(true), Effect.catchIf(isExisting, () => Effect.succeed(false)))
      if (!isWritten) return { ...before, isTaken: false }
      // another process may have published until the lease was taken
      const after = yield* look(name)
      const isTaken = !isNewer(after, seen)
      if (!isTaken) yield* release(name, owner)
      return { ...after, isTaken }
    }
  )

  return {
    read: (name) => Effect.mapError(look(name), storeError),
    takeLease: (name, wanted) => Effect.mapError(takeLease(name, wanted), storeError),
    releaseLease: (name, owner) => Effect.mapError(release(name, owner), storeError),
    publish: (name, { bytes, expiresAt, fence, owner }) =>
      Effect.gen(function*() {
        const isWritten = !isNewer(yield* look(name), fence)
        const text = Schema.encodeSync(Stored)({ bytes, expiresAt, fence })
        if (isWritten) yield* write(name, text, (file) => fs.rename(file, valueFile(name)))
        yield* release(name, owner)
        return isWritten
      }).pipe(Effect.mapError(storeError))
  }
})
