import { Fault, type Simulator } from "@credit-data/simulator"
import { startRedis } from "@credit-data/test-support/redisServer"
import { relay } from "@credit-data/test-support/relay"
import { Duration, Effect, Scope } from "effect"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import type { Happened } from "./judge.ts"

/** The fleet of a soak. */
export interface Fleet {
  readonly signal: (name: string, signal: "SIGSTOP" | "SIGCONT") => Effect.Effect<void>
  /** Kills a process, and starts another one in its place. */
  readonly replace: (name: string) => Effect.Effect<void>
}

/** What can happen. `run` ends when the fault has ended, and takes about the given time. */
export interface Possible {
  readonly name: string
  readonly what: Happened["what"]
  /** Happens as the last of its succession, because only the processes can repair their connections, and another fault could do so. */
  readonly isLast?: true
  /** `drawn` is half of the processes, in any order. */
  readonly run: (millis: number, drawn: ReadonlyArray<string>) => Effect.Effect<void>
}

const between = (start: Effect.Effect<unknown>, end: Effect.Effect<unknown>) => (millis: number): Effect.Effect<void> =>
  start.pipe(Effect.zipRight(Effect.sleep(Duration.millis(millis))), Effect.ensuring(Effect.asVoid(end)), Effect.asVoid)

/** What happens to the processes and their machine. */
export const ofProcesses = ({ replace, signal }: Fleet): ReadonlyArray<Possible> => {
  const signalAll = (who: ReadonlyArray<string>, name: "SIGSTOP" | "SIGCONT") =>
    Effect.forEach(who, (each) => signal(each, name), { discard: true })
  const stop = (millis: number, who: ReadonlyArray<string>) =>
    between(signalAll(who, "SIGSTOP"), signalAll(who, "SIGCONT"))(millis)
  return [
    {
      name: "a process is killed",
      what: "Other",
      run: (_, drawn) => Effect.forEach(drawn.slice(0, 1), replace, { discard: true })
    },
    { name: "a process is stopped", what: "Other", run: (millis, drawn) => stop(millis, drawn.slice(0, 1)) },
    { name: "half of the processes are stopped", what: "Other", run: stop },
    {
      name: "all cores are busy",
      what: "Other",
      run: (millis) =>
        Effect.scoped(Effect.zipRight(
          Effect.forEach(
            Array.from({ length: 2 * availableParallelism() }),
            () =>
              Effect.acquireRelease(
                Effect.sync(() => spawn(process.execPath, ["--eval", "for (;;) ;"])),
                (child) => Effect.sync(() => child.kill("SIGKILL"))
              )
          ),
          Effect.sleep(Duration.millis(millis))
        ))
    }
  ]
}

/** What happens to the token endpoint. */
export const ofEndpoint = (simulator: Simulator.Service): ReadonlyArray<Possible> => {
  const during = (fault: Fault.Fault) =>
    between(simulator.failTokenRequests(fault, { times: 10_000 }), simulator.clearFaults)
  return [
    { name: "the endpoint returns 503", what: "Endpoint", run: during(Fault.Response({ status: 503 })) },
    { name: "the endpoint takes 3 s", what: "Endpoint", run: during(Fault.Delay({ duration: "3 seconds" })) },
    { name: "the endpoint closes connections", what: "Endpoint", run: during(Fault.Reset()) },
    { name: "all tokens are revoked", what: "Tokens", run: () => simulator.revokeTokens }
  ]
}

const eachKey = (body: string) => `EVAL "for _, key in ipairs(redis.call('KEYS', 'credit-data:*')) do ${body} end" 0`

/** A store on Redis, behind an address that leads to another server when the first is demoted. The file has the address and the password. */
export const startRedisStore = Effect.fnUntraced(function*(file: string) {
  let server = yield* startRedis()
  let password = ""
  const { freeze, leadTo, port } = yield* relay(server.port)
  const scope = yield* Effect.scope
  const writeAddress = Effect.sync(() => {
    // written as a whole, because a process can read it meanwhile
    writeFileSync(`${file}.new`, `redis://${password === "" ? "" : `:${password}@`}127.0.0.1:${port}`)
    renameSync(`${file}.new`, file)
  })
  const command = (text: string) =>
    Effect.suspend(() => server.command(password === "" ? text : `AUTH ${password}\r\n${text}`))
  const sent = (text: string) => () => Effect.asVoid(command(text))
  const present = (of: (redis: typeof server) => Effect.Effect<unknown>) => Effect.suspend(() => of(server))
  const possible: ReadonlyArray<Possible> = [
    {
      name: "Redis stands still",
      what: "Other",
      run: between(present(({ pause }) => pause), present(({ resume }) => resume))
    },
    {
      name: "Redis is killed",
      what: "Other",
      run: between(present(({ kill }) => kill), present(({ restart }) => restart))
    },
    { name: "Redis is emptied", what: "Other", run: sent("FLUSHALL") },
    { name: "Redis closes all connections", what: "Other", run: sent("CLIENT KILL TYPE normal") },
    { name: "all connections to Redis are half-open", what: "Other", run: between(freeze, Effect.void) },
    {
      // at first it requires none, and later another one
      name: "Redis requires a password",
      what: "Other",
      isLast: true,
      run: between(
        Effect.gen(function*() {
          const next = randomUUID()
          yield* command(`CONFIG SET requirepass ${next}`)
          password = next
          // it requires the password after a restart too
          yield* command("CONFIG REWRITE")
          yield* writeAddress
          yield* command("CLIENT KILL TYPE normal")
        }),
        Effect.void
      )
    },
    {
      name: "the master of Redis is demoted, and its connections stay",
      what: "Other",
      isLast: true,
      run: between(
        Effect.gen(function*() {
          const next = yield* startRedis({ settings: password === "" ? [] : [`requirepass ${password}`] })
          yield* command(`REPLICAOF 127.0.0.1 ${next.port}`)
          yield* leadTo(next.port)
          server = next
        }).pipe(Effect.provideService(Scope.Scope, scope)),
        Effect.void
      )
    },
    {
      name: "Redis is full",
      what: "Other",
      run: between(command("CONFIG SET maxmemory 1"), command("CONFIG SET maxmemory 0"))
    },
    {
      name: "Redis is read-only",
      what: "Other",
      run: between(command("REPLICAOF 127.0.0.1 1"), command("REPLICAOF NO ONE"))
    },
    {
      name: "Redis contains garbage",
      what: "Other",
      run: sent(eachKey("redis.call('SET', key, 'garbage', 'PX', 9000)"))
    },
    {
      name: "Redis goes back to older values",
      what: "Other",
      run: between(
        command(eachKey("redis.call('COPY', key, 'old:' .. key, 'REPLACE')")),
        command(
          "EVAL \"for _, key in ipairs(redis.call('KEYS', 'old:*')) do redis.call('RENAME', key, string.sub(key, 5)) end\" 0"
        )
      )
    }
  ]
  yield* writeAddress
  return possible
})

/** What happens to a store in files. */
export const ofFiles = (directory: string): ReadonlyArray<Possible> => [
  {
    name: "the folder is deleted",
    what: "Other",
    run: () =>
      Effect.sync(() => {
        if (!existsSync(directory)) return
        // the processes write to the folder under its old name meanwhile, so it would not become empty
        const renamed = `${directory}-${randomUUID()}`
        renameSync(directory, renamed)
        rmSync(renamed, { recursive: true })
      })
  },
  {
    name: "the files contain garbage",
    what: "Other",
    run: () =>
      Effect.sync(() => {
        try {
          for (const file of readdirSync(directory)) writeFileSync(join(directory, file), "garbage")
        } catch {
          // the folder was deleted, or a process has renamed the file
        }
      })
  }
]
