import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Variables from "@credit-data/core/Variables"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Lease as TakenLease, Service, Slot, Slots, StoredValue } from "../TokenStore.ts"
import { highestOf } from "./fences.ts"
import { decodeJson } from "./json.ts"
import { maxValueSize } from "./memory.ts"
import { isExisting, isMissing, storeError } from "./platformError.ts"

// Each file is `<name>.<kind>.<fence>`. Only the file with the highest fence of its kind counts, so a process that was stopped and
// wakes up cannot overwrite anything: it writes a file that no process reads. The lease with the next fence is created
// exclusively, so only one process gets it.

type Kind = Slot | "Lease"

type Wanted = Parameters<Service["takeLease"]>[1]

interface File {
  readonly kind: Kind
  readonly fence: number
  readonly path: string
}

/** `publishedAt` shows that the clock was set back. */
const Value = Schema.Struct({ publishedAt: Schema.Number, expiresAt: Schema.Number, bytes: Schema.String })
const Lease = Schema.Struct({ expiresAt: Schema.Number, owner: Schema.String })

const fileName = /^([0-9a-f]{64})\.(Token|Failure|Lease)\.([1-9]\d{0,14})$/

const kindOf = (text: string | undefined): Kind => text === "Token" || text === "Failure" ? text : "Lease"

/** The size of the largest value in its file: base64, in JSON. */
const maxFileSize = Math.ceil(maxValueSize / 3) * 4 + 100

/** A file that a process was writing when it was killed is removed after this time. */
const abandonedAfter = Duration.toMillis("1 minute")
const halfWritten = /^[0-9a-f]{64}\.Writing\./

/** The name of no entry. */
const noName = "0".repeat(64)

/** The user id of root. On Windows, which has none, it is the user id of all files. */
const root = 0

/** No token lives this long. */
const unusedAfter = Duration.toMillis("7 days")

const highest = (files: ReadonlyArray<File>, kind: Kind): File | undefined =>
  files.reduce<File | undefined>(
    (found, file) => file.kind === kind && (found === undefined || file.fence > found.fence) ? file : found,
    undefined
  )

/**
 * The permission of users other than the owner to enter a folder. On Windows, which has other permissions, no folder has these bits.
 */
const othersMayEnter = 0o011

/** The path of the folder that has this one. */
const parentOf = (folder: string): string => folder.replace(/[\\/]+[^\\/]+[\\/]*$/, "")

/** Creates a folder and its parents. Below /proc, the recursive creation of Node never ends. */
const makeFolders = (fs: FileSystem.FileSystem, folder: string): Effect.Effect<void, PlatformError> => {
  const makeOne = Effect.catchIf(fs.makeDirectory(folder, { mode: 0o700 }), isExisting, () => Effect.void)
  const parent = parentOf(folder)
  return parent === "" || parent === folder
    ? makeOne
    : Effect.catchIf(makeOne, isMissing, () => Effect.zipRight(makeFolders(fs, parent), makeOne))
}

export const make = Effect.fnUntraced(function*(
  { directory }: { readonly directory: string }
): Effect.fn.Return<Service, ConfigError.ConfigError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const clock = yield* Effect.clock
  const now = () => clock.unsafeCurrentTimeMillis()
  const makeFolder = makeFolders(fs, directory)
  const pathOf = (name: string, kind: Kind | "Writing", suffix: string) => `${directory}/${name}.${kind}.${suffix}`
  const remove = (path: string) => Effect.ignore(fs.remove(path))

  /** The user of this process, as a file shows it that the process writes. */
  const user = Effect.suspend(() => {
    const path = pathOf(noName, "Writing", crypto.randomUUID())
    return fs.writeFileString(path, "", { flag: "wx", mode: 0o600 }).pipe(
      Effect.zipRight(fs.stat(path)),
      Effect.map(({ uid }) => uid),
      Effect.ensuring(remove(path))
    )
  })
  const prepared = makeFolder.pipe(
    Effect.zipRight(fs.access(directory, { readable: true, writable: true })),
    Effect.zipRight(Effect.all({ folder: fs.stat(directory), user }))
  )
  const { folder, user: self } = yield* Effect.mapError(
    prepared,
    (error) =>
      Variables.invalid(["directory"], `Expected a folder that can be created and written: ${storeError(error).code}`)
  )
  // not tightened, because it may be the folder of other programs too
  if ((folder.mode & othersMayEnter) !== 0) {
    return yield* Effect.fail(Variables.invalid(
      ["directory"],
      `Expected a folder that only its owner can enter (mode 0700, not ${
        (folder.mode & 0o7777).toString(8).padStart(4, "0")
      }), or a path where the store can create one`
    ))
  }

  // another user could read and replace what is in it
  const owner = Option.getOrElse(folder.uid, () => root)
  if (owner !== root && owner !== Option.getOrElse(self, () => root)) {
    return yield* Effect.fail(
      Variables.invalid(
        ["directory"],
        "Expected a folder of this user or of root, or a path where the store can create one"
      )
    )
  }

  const list = (name: string): Effect.Effect<ReadonlyArray<File>, PlatformError> =>
    fs.readDirectory(directory).pipe(
      // the folder was deleted
      Effect.catchIf(isMissing, () => Effect.as(makeFolder, [])),
      Effect.map((names) =>
        names.flatMap((each) => {
          const [, of, kind, fence] = fileName.exec(each) ?? []
          return of === name ? [{ kind: kindOf(kind), fence: Number(fence), path: `${directory}/${each}` }] : []
        })
      )
    )

  /** The text of a file, or none if it has gone in the meantime or is too large. */
  const text = (path: string): Effect.Effect<Option.Option<string>, PlatformError> =>
    Effect.gen(function*() {
      const { size, type } = yield* fs.stat(path)
      return type !== "File" || size > maxFileSize ? Option.none() : Option.some(yield* fs.readFileString(path))
    }).pipe(Effect.catchIf(isMissing, () => Effect.succeed(Option.none())))

  /** Writes a file as a whole, and replaces a file with the same name. */
  const write = Effect.fnUntraced(function*(name: string, path: string, content: object) {
    const writing = pathOf(name, "Writing", crypto.randomUUID())
    yield* fs.writeFileString(writing, JSON.stringify(content), { flag: "wx", mode: 0o600 }).pipe(
      Effect.zipRight(fs.rename(writing, path)),
      Effect.onError(() => remove(writing))
    )
  })

  const stored = Effect.fnUntraced(function*(file: File | undefined) {
    const value = file === undefined ? Option.none() : Option.flatMap(yield* text(file.path), decodeJson(Value))
    if (file === undefined || Option.isNone(value)) return Option.none<StoredValue>()
    const { bytes, expiresAt, publishedAt } = value.value
    const remaining = expiresAt - now()
    const content = Option.filter(
      Either.getRight(Encoding.decodeBase64(bytes)),
      (bytes) => bytes.length <= maxValueSize
    )
    return remaining > 0 && now() >= publishedAt
      ? Option.map(content, (bytes) => ({ bytes, fence: file.fence, remaining: Duration.millis(remaining) }))
      : Option.none<StoredValue>()
  })

  /** Whether a lease is in force. One that was being written when its owner was killed counts from the time of its file. */
  const isInForce = Effect.fnUntraced(function*(file: File, duration: Duration.Duration) {
    const content = yield* text(file.path)
    if (Option.isNone(content)) return false
    const lease = decodeJson(Lease)(content.value)
    const expiresAt = Option.isSome(lease)
      ? lease.value.expiresAt
      : Option.match((yield* fs.stat(file.path)).mtime, {
        onNone: () => 0,
        onSome: (written) => written.getTime() + Duration.toMillis(duration)
      })
    // no lease lasts longer than this, so the clock was set back
    return now() < expiresAt && expiresAt <= now() + 2 * Duration.toMillis(duration)
  }, Effect.catchIf(isMissing, () => Effect.succeed(false)))

  /** The lease of this owner, if it counts and is in force. */
  const own = Effect.fnUntraced(function*(name: string, owner: string) {
    const file = highest(yield* list(name), "Lease")
    if (file === undefined) return undefined
    const lease = Option.flatMap(yield* text(file.path), decodeJson(Lease))
    return Option.isSome(lease) && lease.value.owner === owner && now() < lease.value.expiresAt ? file : undefined
  })

  /** Removes what is not used any more: half-written files, and the files of clients whose secret was rotated. */
  const removeUnused = Effect.flatMap(fs.readDirectory(directory), (names) =>
    Effect.forEach(
      names.filter((each) => halfWritten.test(each) || fileName.test(each)),
      (each) =>
        Effect.flatMap(fs.stat(`${directory}/${each}`), ({ mtime }) => {
          const life = halfWritten.test(each) ? abandonedAfter : unusedAfter
          return Option.exists(mtime, (written) => now() - written.getTime() > life)
            ? remove(`${directory}/${each}`)
            : Effect.void
        }),
      { discard: true }
    )).pipe(Effect.ignore)

  const slotsOf = (files: ReadonlyArray<File>): Effect.Effect<Slots, PlatformError> =>
    Effect.all({ Token: stored(highest(files, "Token")), Failure: stored(highest(files, "Failure")) })

  const read = (name: string) => Effect.flatMap(list(name), slotsOf)

  const createLease = Effect.fnUntraced(function*(
    name: string,
    files: ReadonlyArray<File>,
    { above, duration, owner }: Wanted
  ) {
    const last = highest(files, "Lease")
    if (last !== undefined && (yield* isInForce(last, duration))) return Option.none()
    const fence = Math.max(above, ...files.map((file) => file.fence), 0) + 1
    const takenAt = now()
    const lease = { owner, expiresAt: takenAt + Duration.toMillis(duration) }
    const path = pathOf(name, "Lease", String(fence))
    yield* fs.writeFileString(path, JSON.stringify(lease), { flag: "wx", mode: 0o600 }).pipe(
      // a full disk leaves an empty file
      Effect.tapError((error) => isExisting(error) ? Effect.void : remove(path))
    )
    const others = (yield* list(name)).filter((file) => file.kind === "Lease" && file.fence !== fence)
    // processes that have seen different fences can create leases at the same time
    const rivals = yield* Effect.filter(
      others,
      (file) => file.fence > fence ? Effect.succeed(true) : isInForce(file, duration)
    )
    if (rivals.length > 0) {
      yield* remove(path)
      return Option.none()
    }
    yield* Effect.forEach(others, ({ path }) => remove(path), { discard: true })
    yield* removeUnused
    return Option.some({ fence, takenAt })
  }, Effect.catchIf(isExisting, () => Effect.succeed(Option.none<TakenLease>())))

  const releaseLease = Effect.fnUntraced(function*(name: string, owner: string) {
    const file = yield* own(name, owner)
    // the file remains, so that the next lease has a higher fence
    if (file !== undefined) yield* write(name, file.path, { owner, expiresAt: 0 })
  })

  const takeLease = Effect.fnUntraced(function*(name: string, wanted: Wanted) {
    const files = yield* list(name)
    const before = yield* slotsOf(files)
    if (highestOf(before) > wanted.seen) return { slots: before, lease: Option.none<TakenLease>() }
    const lease = yield* createLease(name, files, wanted)
    if (Option.isNone(lease)) return { slots: before, lease }
    // another process may have published until the lease was taken
    const slots = yield* read(name)
    if (highestOf(slots) <= wanted.seen) return { slots, lease }
    yield* releaseLease(name, wanted.owner)
    return { slots, lease: Option.none<TakenLease>() }
  })

  return {
    read: (name) => Effect.mapError(read(name), storeError),
    takeLease: (name, wanted) => Effect.mapError(takeLease(name, wanted), storeError),
    renewLease: (name, { duration, owner }) =>
      Effect.gen(function*() {
        const file = yield* own(name, owner)
        if (file === undefined) return false
        yield* write(name, file.path, { owner, expiresAt: now() + Duration.toMillis(duration) })
        return true
      }).pipe(Effect.mapError(storeError)),
    releaseLease: (name, owner) => Effect.mapError(releaseLease(name, owner), storeError),
    publish: (name, slot, { bytes, expiresAt, fence }) =>
      Effect.gen(function*() {
        const isOvertaken = Effect.map(list(name), (files) => (highest(files, slot)?.fence ?? 0) > fence)
        if (yield* isOvertaken) return false
        const path = pathOf(name, slot, String(fence))
        yield* write(name, path, {
          publishedAt: now(),
          expiresAt,
          bytes: Encoding.encodeBase64(bytes)
        })
        const files = (yield* list(name)).filter(({ kind }) => kind === slot)
        yield* Effect.forEach(files.filter((file) => file.fence < fence), ({ path }) => remove(path), { discard: true })
        return !files.some((file) => file.fence > fence)
      }).pipe(Effect.mapError(storeError))
  }
})
