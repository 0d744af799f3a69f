import * as Variables from "@credit-data/core/Variables"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type Look, maxValueSize, type Service, type Wanted } from "../StoreEngine.ts"
import { decodeValue, encodeValue } from "./format.ts"
import { isExisting, isFolder, isMissing, storeError } from "./platformError.ts"
import { fenceIn } from "./fence.ts"

const Lease = Schema.parseJson(
  Schema.Struct({
    id: Schema.String.pipe(Schema.pattern(/^[0-9a-f-]{36}$/)),
    owner: Schema.String,
    expiresAt: Schema.Number
  })
)

const decodeLease = Schema.decodeUnknownOption(Lease)

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

  const pathOf = (name: string, kind: string) => `${directory}/${name}.${kind}`

  /** Removes what is at a path. A folder can be in the place of a file. */
  const remove = (path: string) => fs.remove(path, { recursive: true })

  const removeUnused = Effect.gen(function*() {
    for (const file of yield* fs.readDirectory(directory)) {
      if (!ownFile.test(file)) continue
      const { mtime } = yield* fs.stat(`${directory}/${file}`)
      const isUnused = Option.exists(mtime, (written) => now() - written.getTime() > unusedAfter)
      if (isUnused) yield* remove(`${directory}/${file}`)
    }
  })
  // no caller waits for it, because the folder may contain the files of many clients
  yield* Effect.forkScoped(Effect.ignore(removeUnused))

  /** A folder in the place of a file has no text. */
  const textOf = (path: string) => Effect.catchIf(fs.readFileString(path), isFolder, () => Effect.succeed(""))

  /** What a file contains, or none if it is missing or something else. */
  const contentOf = <A>(
    path: string,
    decode: (text: string) => Option.Option<A>
  ): Effect.Effect<Option.Option<A>, PlatformError> =>
    textOf(path).pipe(
      Effect.map(decode),
      Effect.catchIf(isMissing, () => Effect.succeedNone)
    )

  /** Puts a file in the place of what is at a path. */
  const replace = (file: string, path: string) => {
    const rename = fs.rename(file, path)
    return Effect.catchIf(rename, isFolder, () => Effect.zipRight(remove(path), rename))
  }

  /** Puts a file that was written as a whole in its place. */
  const write = (
    name: string,
    text: string,
    put: (file: string) => Effect.Effect<void, PlatformError>
  ): Effect.Effect<void, PlatformError> => {
    const path = pathOf(name, crypto.randomUUID())
    const file = fs.writeFileString(path, text, { flag: "wx", mode: 0o600 })
    // the folder may have been deleted
    return Effect.catchIf(file, isMissing, () => Effect.zipRight(makeFolder, file)).pipe(
      Effect.zipRight(put(path)),
      Effect.ensuring(Effect.ignore(fs.remove(path)))
    )
  }

  const look = (name: string): Effect.Effect<Look, PlatformError> =>
    Effect.map(contentOf(pathOf(name, "value"), (text) => Option.fromNullable(decodeValue(text))), (stored) => ({
      now: now(),
      value: Option.filter(stored, ({ bytes, expiresAt }) => now() < expiresAt && bytes.length <= maxValueSize)
    }))

  /** Puts a lease in the place of one that has ended, or prolongs it. Returns whether the owner has it, and no other process. */
  const claim = Effect.fnUntraced(function*(name: string, owner: string, millis: number) {
    // no lease lasts much longer than it was taken for, so the clock was set back
    const isInForce = ({ expiresAt }: typeof Lease.Type) => now() < expiresAt && expiresAt <= now() + 2 * millis
    let path = pathOf(name, "lease")
    let lease = yield* contentOf(path, decodeLease)
    // a lease that has ended is never removed: only one process can create the file of its successor
    while (Option.isSome(lease) && !isInForce(lease.value)) {
      path = pathOf(name, lease.value.id)
      lease = yield* contentOf(path, decodeLease)
    }
    if (Option.exists(lease, (holder) => holder.owner !== owner)) return false
    // a faster process may have given its lease back, and a third one taken its own; a file that is no lease is in nobody's way
    const create = (file: string) =>
      Effect.catchIf(fs.link(file, path), isExisting, (error) =>
        textOf(path).pipe(
          Effect.filterOrFail((text) => Option.isNone(decodeLease(text)), () => error),
          Effect.catchIf(isMissing, () => Effect.fail(error))
        ))
    const text = JSON.stringify({ id: crypto.randomUUID(), owner, expiresAt: now() + millis })
    return yield* write(
      name,
      text,
      (file) => Effect.zipRight(Option.isSome(lease) ? Effect.void : create(file), replace(file, pathOf(name, "lease")))
    ).pipe(
      Effect.as(true),
      Effect.catchIf(isExisting, () => Effect.succeed(false))
    )
  })

  const release = (name: string, owner: string) =>
    Effect.flatMap(
      contentOf(pathOf(name, "lease"), decodeLease),
      (lease) =>
        Option.exists(lease, (lease) => lease.owner === owner && now() < lease.expiresAt)
          ? fs.remove(pathOf(name, "lease"))
          : Effect.void
    )

  const takeLease = Effect.fnUntraced(function*(name: string, { duration, owner, seen }: Wanted) {
    const before = yield* look(name)
    const isClaimed = fenceIn(before) <= seen && (yield* claim(name, owner, Duration.toMillis(duration)))
    if (!isClaimed) return { ...before, isTaken: false }
    // another process may have published until the lease was taken
    const after = yield* look(name)
    const isTaken = fenceIn(after) <= seen
    if (!isTaken) yield* release(name, owner)
    return { ...after, isTaken }
  })

  const publish = Effect.fnUntraced(
    function*(name: string, { bytes, expiresAt, fence, owner }: Parameters<Service["publish"]>[1]) {
      const isWritten = fenceIn(yield* look(name)) <= fence
      const text = encodeValue({ bytes, expiresAt, fence })
      if (isWritten) yield* write(name, text, (file) => replace(file, pathOf(name, "value")))
      yield* release(name, owner)
      return isWritten
    }
  )

  return {
    read: (name) => Effect.mapError(look(name), storeError),
    takeLease: (name, wanted) => Effect.mapError(takeLease(name, wanted), storeError),
    releaseLease: (name, owner) => Effect.mapError(release(name, owner), storeError),
    publish: (name, value) => Effect.mapError(publish(name, value), storeError)
  }
})
