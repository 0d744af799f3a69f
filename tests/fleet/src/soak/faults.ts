import { Fault, type Simulator } from "@credit-data/simulator"
import type { startRedis } from "@credit-data/test-support/redisServer"
import { Duration, Effect } from "effect"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import type { Happened } from "./judge.ts"

type Redis = Effect.Effect.Success<ReturnType<typeof startRedis>>

/** The fleet of a soak. */
export interface Fleet {
  readonly names: ReadonlyArray<string>
  readonly signal: (name: string, signal: "SIGSTOP" | "SIGCONT") => Effect.Effect<void>
  /** Kills a process, and starts another one in its place. */
  readonly replace: (name: string) => Effect.Effect<void>
}

/** What can happen. `run` ends when the fault has ended, and takes about the given time. */
export interface Possible {
  readonly name: string
  readonly what: Happened["what"]
  readonly run: (millis: number, who: ReadonlyArray<string>) => Effect.Effect<void>
  /** The affected processes among the processes drawn. Default: all. */
  readonly who?: (drawn: ReadonlyArray<string>) => ReadonlyArray<string>
}

const between = (start: Effect.Effect<unknown>, end: Effect.Effect<unknown>) => (millis: number): Effect.Effect<void> =>
  start.pipe(Effect.zipRight(Effect.sleep(Duration.millis(millis))), Effect.ensuring(Effect.asVoid(end)), Effect.asVoid)

const first = (drawn: ReadonlyArray<string>) => drawn.slice(0, 1)

/** What happens to the processes and their machine. */
export const ofProcesses = ({ names, replace, signal }: Fleet): ReadonlyArray<Possible> => {
  const signalAll = (who: ReadonlyArray<string>, name: "SIGSTOP" | "SIGCONT") =>
    Effect.forEach(who, (each) => signal(each, name), { discard: true })
  const stop = (millis: number, who: ReadonlyArray<string>) =>
    between(signalAll(who, "SIGSTOP"), signalAll(who, "SIGCONT"))(millis)
  return [
    {
      name: "a process is killed",
      what: "Processes",
      who: first,
      run: (_, who) => Effect.forEach(who, replace, { discard: true })
    },
    { name: "a process is stopped", what: "Processes", who: first, run: stop },
    { name: "half of the processes are stopped", what: "Processes", run: stop, who: (drawn) => drawn },
    {
      name: "all cores are busy",
      what: "Processes",
      who: () => names,
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
    { name: "the endpoint closes connections", what: "Connections", run: during(Fault.Reset()) },
    { name: "all tokens are revoked", what: "Tokens", run: () => simulator.revokeTokens }
  ]
}

const eachKey = (body: string) => `EVAL "for _, key in ipairs(redis.call('KEYS', 'credit-data:*')) do ${body} end" 0`

/** What happens to a store on Redis. */
export const ofRedis = ({ command, kill, pause, restart, resume }: Redis): ReadonlyArray<Possible> => {
  const sent = (text: string) => () => Effect.asVoid(command(text))
  return [
    { name: "Redis stands still", what: "Store", run: between(pause, resume) },
    { name: "Redis is killed", what: "Store", run: between(kill, restart) },
    { name: "Redis is emptied", what: "Store", run: sent("FLUSHALL") },
    { name: "Redis closes all connections", what: "Store", run: sent("CLIENT KILL TYPE normal") },
    {
      name: "Redis is full",
      what: "Store",
      run: between(command("CONFIG SET maxmemory 1"), command("CONFIG SET maxmemory 0"))
    },
    {
      name: "Redis is read-only",
      what: "Store",
      run: between(command("REPLICAOF 127.0.0.1 1"), command("REPLICAOF NO ONE"))
    },
    {
      name: "Redis contains garbage",
      what: "Store",
      run: sent(eachKey("redis.call('SET', key, 'garbage', 'PX', 9000)"))
    },
    {
      name: "Redis goes back to older values",
      what: "Store",
      run: between(
        command(eachKey("redis.call('COPY', key, 'old:' .. key, 'REPLACE')")),
        command(
          "EVAL \"for _, key in ipairs(redis.call('KEYS', 'old:*')) do redis.call('RENAME', key, string.sub(key, 5)) end\" 0"
        )
      )
    }
  ]
}

/** What happens to a store in files. */
export const ofFiles = (directory: string): ReadonlyArray<Possible> => [
  {
    name: "the folder is deleted",
    what: "Store",
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
    what: "Store",
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
