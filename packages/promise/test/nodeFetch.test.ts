import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { run, script } from "@credit-data/test-support/childProcess"
import { AccessTokens } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import { createHash, randomBytes } from "node:crypto"
import { getEventListeners } from "node:events"
import http from "node:http"
import https from "node:https"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import zlib from "node:zlib"
import type { Connection } from "../src/Connection.ts"
import { makeNodeFetch } from "../src/internal/nodeFetch.ts"
import { open } from "../src/internal/open.ts"
import { plain } from "../src/internal/plain.ts"
import { describeError, habits, raw, serve } from "./support/fetchHabits.ts"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

const turn = () => new Promise((resolve) => setTimeout(resolve, 5))

/** Waits until the condition is true. The time limit of the test ends the wait. */
const until = async (condition: () => boolean) => {
  while (!condition()) await turn()
}

const deferred = <A>() => {
  let resolve: (value: A) => void = () => {}
  const promise = new Promise<A>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const withFetch = async <A>(use: (fetch: typeof globalThis.fetch, close: () => void) => Promise<A>): Promise<A> => {
  const { close, fetch } = makeNodeFetch()
  try {
    return await use(fetch, close)
  } finally {
    close()
  }
}

const large = randomBytes(2_000_000)

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const rejection = (promise: Promise<unknown>) => promise.then(() => "no failure", describeError)

const streaming = (init: RequestInit): RequestInit => Object.assign({ method: "POST", duplex: "half" }, init)

/** A body without an end, how much of it was read, and why its reader stopped. */
const endless = (part = 65_536) => {
  const seen: { read: number; cancelled?: unknown } = { read: 0 }
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      seen.read += part
      controller.enqueue(new Uint8Array(part))
    },
    cancel: (reason) => {
      seen.cancelled = reason
    }
  }, { highWaterMark: 0 })
  return { body, seen }
}

/** A `fetch` whose calls each have a connection to the origin of their URL, or to this one. */
const withConnections = async (origin: string, use: (fetch: typeof globalThis.fetch) => Promise<string>) => {
  const connections: Array<Connection> = []
  try {
    return await use(async (input, init) => {
      const url = new URL(String(input))
      const { close, sender } = makeNodeFetch()
      const baseUrl = url.protocol === "http:" ? url.origin : origin
      const supply = AccessTokens.layerTest({ environment: { baseUrl } })
      const connection = await open({ supply, sender: sender(plain), release: close })
      connections.push(connection)
      return connection.dataAccess(input, init)
    })
  } finally {
    for (const { close } of connections) await close()
  }
}

describe("each habit of fetch", () => {
  for (const { differs, expected, habit, run, server } of habits) {
    it(`is as documented: ${habit}`, async () => {
      const own = await withFetch((fetch) => serve(server(), (served) => run(fetch, served)))
      const global = await serve(server(), (served) => run(globalThis.fetch, served))
      assert.deepStrictEqual([own, global], [expected, differs?.global ?? expected])
    })
    if (differs === undefined) continue
    it(`is as documented for a call of a connection: ${habit}`, () =>
      serve(server(), async (served) => {
        const call = await withConnections(served.origin, (fetch) => run(fetch, served))
        assert.strictEqual(call, differs.call ?? expected)
      }))
  }
})

describe("connections", () => {
  const endings: Record<string, (response: Response) => Promise<unknown>> = {
    "that are read": (response) => response.text(),
    "of which only the first part is read": async (response) => {
      const reader = response.body?.getReader()
      await reader?.read()
    },
    "that are not read": turn,
    "that are cancelled": async (response) => response.body?.cancel(),
    "that are cloned and read": async (response) => [await response.clone().text(), await response.text()]
  }
  for (const [name, end] of Object.entries(endings)) {
    it(`one connection is enough for small responses ${name}`, () =>
      withFetch((fetch) => {
        const server = http.createServer((request, response) => {
          if (request.url === "/gzip") response.setHeader("content-encoding", "gzip").end(zlib.gzipSync("small"))
          else if (request.url === "/late") {
            response.writeHead(200).write("small", () => setImmediate(() => response.end()))
          } // Node closes the connection after a response to HEAD that has no length
          else if (request.method === "HEAD") response.setHeader("content-length", 5).end()
          else response.writeHead(Number(request.url?.slice(1))).end("small")
        })
        return serve(server, async (served) => {
          for (let i = 0; i < 3; i++) {
            for (const path of ["200", "204", "404", "gzip", ...(name === "that are cancelled" ? [] : ["late"])]) {
              const response = await fetch(`${served.origin}/${path}`)
              await end(response)
            }
            await fetch(`${served.origin}/200`, { method: "HEAD" })
          }
          assert.strictEqual(served.connections, 1)
        })
      }))
  }

  it("close ends the idle connections at once, and those in use when their call has ended", () =>
    withFetch((fetch, close) => {
      const { promise, resolve } = deferred<http.ServerResponse>()
      const server = http.createServer((request, response) => {
        if (request.url === "/slow") resolve(response)
        else response.end()
      })
      return serve(server, async ({ origin, sockets }) => {
        const slow = fetch(`${origin}/slow`)
        const waiting = await promise
        await (await fetch(origin)).text()
        assert.strictEqual(sockets.size, 2)
        close()
        await until(() => sockets.size === 1)
        waiting.end("complete")
        assert.strictEqual(await (await slow).text(), "complete")
        await until(() => sockets.size === 0)
      })
    }))

  it("a response that nobody can read any more closes its connection, even if it is cloned or has a signal", () =>
    withFetch((fetch) => {
      const server = http.createServer((_, response) => response.end(large))
      return serve(server, async ({ origin, sockets }) => {
        const { signal } = new AbortController()
        // a function of its own, because a frame keeps its last values
        const drop = async () => {
          await fetch(origin)
          await fetch(origin, { signal })
          const cloned = await fetch(origin, { signal })
          cloned.clone()
          const { body } = await fetch(origin)
          await body?.getReader().read()
        }
        await drop()
        await until(() => {
          collectGarbage()
          return sockets.size === 0
        })
        assert.deepStrictEqual(getEventListeners(signal, "abort"), [])
      })
    }))

  it("a body that somebody reads is never collected", () =>
    withFetch((fetch) => {
      const { promise, resolve } = deferred<http.ServerResponse>()
      const server = http.createServer((_, response) => {
        response.write("first")
        resolve(response)
      })
      return serve(server, async ({ origin }) => {
        const text = fetch(origin).then((response) => response.text())
        const kept = await fetch(origin).then(({ body }) => body)
        const response = await promise
        for (let i = 0; i < 4; i++) {
          collectGarbage()
          await turn()
        }
        response.end(", last")
        assert.strictEqual(await text, "first, last")
        assert.isNotNull(kept)
        await kept?.cancel()
      })
    }))

  it("the body alone keeps its connection", () =>
    withFetch((fetch) =>
      serve(http.createServer((_, response) => response.end(large)), async ({ origin }) => {
        const { body } = await fetch(origin)
        for (let i = 0; i < 4; i++) {
          collectGarbage()
          await turn()
        }
        assert.strictEqual((await new Response(body).bytes?.() ?? large).byteLength, large.byteLength)
      })
    ))

  it("calls http.request as it is at the time of the call, so that instrumentations see it", () =>
    withFetch((fetch) =>
      serve(http.createServer((_, response) => response.end()), async ({ origin }) => {
        const { request } = http
        const paths: Array<unknown> = []
        http.request = (...args: ReadonlyArray<unknown>) => {
          paths.push(args)
          return Reflect.apply(request, http, args)
        }
        try {
          await fetch(`${origin}/seen`)
        } finally {
          http.request = request
        }
        assert.strictEqual(paths.length, 1)
      })
    ))

  it("a call continues in the context of its caller", () =>
    withFetch((fetch) =>
      serve(http.createServer((_, response) => response.end("ok")), async ({ origin }) => {
        const tenants = new AsyncLocalStorage<number>()
        const seen = await Promise.all(Array.from({ length: 10 }, (_, tenant) =>
          tenants.run(tenant, async () => {
            await (await fetch(origin)).text()
            await (await fetch(origin)).text()
            return tenants.getStore()
          })))
        assert.deepStrictEqual(seen, Array.from({ length: 10 }, (_, tenant) => tenant))
      })
    ))

  it("sends with the given agent, and close leaves it alone", () =>
    serve(http.createServer((_, response) => response.end("ok")), async ({ origin, sockets }) => {
      const agent = new http.Agent({ keepAlive: true })
      const { close, fetch } = makeNodeFetch({ agent })
      await (await fetch(origin)).text()
      await turn()
      close()
      await turn()
      assert.strictEqual(Object.values(agent.freeSockets).flat().length, 1)
      assert.match(await rejection(fetch("https://127.0.0.1/")), /^TypeError: fetch failed \(ERR_INVALID_PROTOCOL\)$/)
      agent.destroy()
      await until(() => sockets.size === 0)
    }))
})

describe("a signal", () => {
  it("has no listener left after hundreds of calls", () =>
    withFetch((fetch) =>
      serve(http.createServer((request, response) => response.end(request.url)), async ({ origin }) => {
        const { signal } = new AbortController()
        const call = async () => (await fetch(origin, { signal })).text()
        for (let i = 0; i < 300; i++) await call()
        await Promise.all(Array.from({ length: 10 }, call))
        await (await fetch(origin, { signal })).body?.cancel()
        await fetch(origin, { signal, method: "HEAD" })
        await rejection(fetch("http://127.0.0.1:1", { signal }))
        assert.deepStrictEqual(getEventListeners(signal, "abort"), [])
      })
    ))

  it("ends a call at every moment, with its own reason, and closes the connection", () =>
    withFetch((fetch) => {
      const server = http.createServer((_, response) => response.write("begin"))
      return serve(server, async ({ origin, sockets }) => {
        for (let turns = 0; turns < 30; turns++) {
          const controller = new AbortController()
          const reason = new Error("enough")
          const call = fetch(origin, { signal: controller.signal }).then((response) => response.text())
          const failure = call.then(() => "no failure", (error: unknown) => error)
          for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve))
          controller.abort(reason)
          assert.strictEqual(await failure, reason)
          assert.deepStrictEqual(getEventListeners(controller.signal, "abort"), [])
        }
        await until(() => sockets.size === 0)
      })
    }))

  it("ends a call that waits for a connection of a given agent", () =>
    serve(http.createServer(() => {}), async ({ origin }) => {
      const agent = new http.Agent({ maxSockets: 1 })
      const { fetch } = makeNodeFetch({ agent })
      const controller = new AbortController()
      const first = rejection(fetch(origin, { signal: controller.signal }))
      const second = rejection(fetch(origin, { signal: AbortSignal.timeout(20) }))
      assert.match(await second, /^TimeoutError/)
      controller.abort("stop")
      assert.strictEqual(await first, "stop")
    }))
})

describe("the body of a request", () => {
  it("is read as fast as the server takes it, and no longer after an abort", () =>
    withFetch((fetch) =>
      serve(http.createServer(() => {}), async ({ origin }) => {
        const { body, seen } = endless()
        const controller = new AbortController()
        const call = rejection(fetch(origin, streaming({ body, signal: controller.signal })))
        let before = -1
        await until(() => {
          const isStill = seen.read > 0 && seen.read === before
          before = seen.read
          return isStill
        })
        assert.isBelow(seen.read, 20_000_000)
        controller.abort("stop")
        assert.strictEqual(seen.cancelled, "stop")
        assert.strictEqual(await call, "stop")
      })
    ))

  it("is cancelled if there is no connection", () =>
    withFetch(async (fetch) => {
      const { body, seen } = endless()
      assert.match(await rejection(fetch("http://127.0.0.1:1", streaming({ body }))), /ECONNREFUSED/)
      assert.match(String(seen.cancelled), /ECONNREFUSED/)
    }))

  it("is cancelled if the signal is aborted before", () =>
    withFetch(async (fetch) => {
      const { body, seen } = endless()
      const signal = AbortSignal.abort("stop")
      assert.strictEqual(await rejection(fetch("http://127.0.0.1:1", streaming({ body, signal }))), "stop")
      assert.deepStrictEqual(seen, { read: 0, cancelled: "stop" })
    }))

  it("is cancelled if the connection breaks", () =>
    withFetch((fetch) =>
      serve(
        net.createServer((socket) => void socket.once("data", () => socket.resetAndDestroy())),
        async ({ origin }) => {
          const { body, seen } = endless()
          assert.match(
            await rejection(fetch(origin, streaming({ body }))),
            /^TypeError: fetch failed \((ECONNRESET|EPIPE)\)/
          )
          assert.match(String(seen.cancelled), /ECONNRESET|EPIPE/)
        }
      )
    ))

  it("is cancelled if the response ends before it, and its connection is not used again", () =>
    withFetch((fetch) =>
      serve(raw("HTTP/1.1 413 Too large\r\ncontent-length: 9\r\n\r\ntoo large", false), async ({ origin, sockets }) => {
        const { body, seen } = endless()
        const response = await fetch(origin, streaming({ body }))
        assert.deepStrictEqual([response.status, await response.text()], [413, "too large"])
        await until(() => seen.cancelled !== undefined && sockets.size === 0)
      })
    ))

  it("never looks complete to the server if it was stopped", () =>
    withFetch((fetch) => {
      const { promise, resolve } = deferred<string>()
      const server = net.createServer((socket) => {
        let sent = ""
        socket.on("data", (part: Buffer) => {
          if (sent === "") socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nearly")
          sent += part.toString()
        })
        socket.on("close", () => resolve(sent))
      })
      return serve(server, async ({ origin }) => {
        const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
        const writer = writable.getWriter()
        const written = rejection(writer.write(Buffer.from("one")))
        const response = await fetch(origin, streaming({ body: readable }))
        assert.strictEqual(await response.text(), "early")
        assert.isFalse((await promise).endsWith("0\r\n\r\n"))
        await written
        assert.match(await rejection(writer.closed), /The response ended before the request/)
      })
    }))

  it("can be sent while the response is read", () =>
    withFetch((fetch) =>
      serve(http.createServer((request, response) => void request.pipe(response)), async ({ origin }) => {
        const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
        const writer = writable.getWriter()
        void writer.write(Buffer.from("one"))
        const response = await fetch(origin, streaming({ body: readable }))
        const reader = response.body?.getReader()
        assert.strictEqual(Buffer.from((await reader?.read())?.value ?? []).toString(), "one")
        void writer.write(Buffer.from("two"))
        assert.strictEqual(Buffer.from((await reader?.read())?.value ?? []).toString(), "two")
        await writer.close()
        assert.isTrue((await reader?.read())?.done)
      })
    ))

  it("arrives whole, as bytes, as a blob and as a stream", () =>
    withFetch((fetch) =>
      serve(
        http.createServer((request, response) => void request.pipe(createHash("sha256")).pipe(response)),
        async ({ origin }) => {
          const bodies = [large, new Blob([large]), new Blob([large]).stream()]
          for (const body of bodies) {
            const response = await fetch(origin, streaming({ body }))
            assert.strictEqual(Buffer.from(await response.arrayBuffer()).toString("hex"), digest(large))
          }
        }
      )
    ))

  it("is not read on after an abort, whatever its iterator returns", () =>
    withFetch((fetch) =>
      serve(http.createServer((request) => void request.resume()), async ({ origin }) => {
        const returns = [undefined, () => ({ done: true }), () => Promise.reject(new Error("busy"))]
        for (const end of returns) {
          let reads = 0
          const next = async () => {
            reads++
            await turn()
            return { done: false, value: Buffer.from("part") }
          }
          const body: unknown = { [Symbol.asyncIterator]: () => ({ next, return: end }) }
          const controller = new AbortController()
          const init = Object.assign(streaming({ signal: controller.signal }), { body })
          const call = rejection(fetch(origin, init))
          await until(() => reads > 2)
          controller.abort("stop")
          assert.strictEqual(await call, "stop")
          const read = reads
          await turn()
          await turn()
          await turn()
          assert.isAtMost(reads, read + 1)
        }
      })
    ))

  it("can be bytes of another realm", () =>
    withFetch((fetch) =>
      serve(http.createServer((request, response) => void request.pipe(response)), async ({ origin }) => {
        const bytes: Uint8Array<ArrayBuffer> = runInNewContext("new Uint8Array([111, 107])")
        const stream = new ReadableStream({
          start: (controller) => {
            controller.enqueue(bytes)
            controller.close()
          }
        })
        for (const body of [bytes, bytes.buffer, stream]) {
          assert.strictEqual(await (await fetch(origin, streaming({ body }))).text(), "ok")
        }
      })
    ))

  it("is not sent if its sender has closed while it was read", () =>
    serve(http.createServer((_, response) => response.end()), async (served) => {
      const { close, sender } = makeNodeFetch()
      const calls = sender((error) => error)
      const body = new FormData()
      body.set("field", "value")
      const call = rejection(calls.fetch(served.origin, { method: "POST", body }))
      calls.close("closed")
      assert.strictEqual(await call, "closed")
      await rejection(calls.fetch(`${served.origin}/later`, {}))
      await turn()
      assert.strictEqual(served.connections, 1)
      close()
    }))

  it("fails if it has another length than its header names", () =>
    withFetch((fetch) =>
      serve(http.createServer((request) => void request.resume()), async ({ origin }) => {
        for (const length of ["3", "5"]) {
          const body = new Blob(["four"]).stream()
          const call = fetch(origin, streaming({ body, headers: { "content-length": length } }))
          assert.match(await rejection(call), /^TypeError: fetch failed \(ERR_HTTP_CONTENT_LENGTH_MISMATCH\)/)
        }
      })
    ))
})

describe("the body of a response", () => {
  it("arrives whole in every framing", () =>
    withFetch((fetch) => {
      const server = http.createServer((request, response) => {
        if (request.url === "/length") response.setHeader("content-length", large.byteLength).end(large)
        else if (request.url === "/gzip") response.setHeader("content-encoding", "gzip").end(zlib.gzipSync(large))
        else {
          for (let i = 0; i < large.byteLength; i += 7_777) response.write(large.subarray(i, i + 7_777))
          response.end()
        }
      })
      return serve(server, async ({ origin }) => {
        for (const path of ["length", "gzip", "chunked"]) {
          const [first, second] = [await fetch(`${origin}/${path}`), await fetch(`${origin}/${path}`)]
          assert.strictEqual(digest(new Uint8Array(await first.arrayBuffer())), digest(large), path)
          const copy = second.clone()
          const both = await Promise.all(
            [second, copy].map(async (response) => new Uint8Array(await response.arrayBuffer()))
          )
          assert.deepStrictEqual(both.map(digest), [digest(large), digest(large)], path)
        }
      })
    }))

  it("is not read ahead of its reader", () =>
    withFetch((fetch) => {
      let written = 0
      const server = http.createServer((_, response) => {
        const write = () => {
          do written += 65_536
          while (response.write(new Uint8Array(65_536)))
        }
        write()
        response.on("drain", write)
      })
      return serve(server, async ({ origin, sockets }) => {
        const response = await fetch(origin)
        let before = -1
        await until(() => {
          const isStill = written === before
          before = written
          return isStill
        })
        assert.isBelow(written, 20_000_000)
        await response.body?.cancel()
        await until(() => sockets.size === 0)
      })
    }))

  it("rejects if it ends in the middle of an element of its reader", () =>
    withFetch((fetch) => {
      const { promise, resolve } = deferred<http.ServerResponse>()
      const server = http.createServer((_, response) => {
        response.write("abc")
        resolve(response)
      })
      return serve(server, async ({ origin }) => {
        const reader = (await fetch(origin)).body?.getReader({ mode: "byob" })
        assert.strictEqual((await reader?.read(new Uint16Array(10)))?.value?.length, 1)
        const rest = rejection(Promise.resolve(reader?.read(new Uint16Array(10))))
        const response = await promise
        response.end()
        assert.match(await rest, /^TypeError: .*Partial read/)
      })
    }))

  it("rejects with the cause if the connection is reset in its middle", () =>
    withFetch((fetch) => {
      const server = http.createServer((_, response) => {
        response.write("begin", () => setTimeout(() => response.socket?.resetAndDestroy(), 20))
      })
      return serve(server, async ({ origin }) => {
        const response = await fetch(origin)
        assert.match(await rejection(response.text()), /^TypeError: terminated \(ECONNRESET\)/)
      })
    }))
})

/** A process that prints what each of these URLs returns. */
const fetchAll = (env: Readonly<Record<string, string>>, ...urls: ReadonlyArray<string>) =>
  Effect.runPromise(run(script(fileURLToPath(new URL("support/fetchAll.ts", import.meta.url)), ...urls), { env }))

describe("a process", () => {
  it("ends by itself, although its connections are kept and a body is not read", () =>
    serve(http.createServer((_, response) => response.end("ok")), async ({ origin }) => {
      assert.deepStrictEqual(await fetchAll({}, origin, origin), { exitCode: 0, stdout: "ok\nok\n", stderr: "" })
    }))

  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  const readsProxy = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)
  // an older version reads no proxy, and a skipped test would say nothing
  if (readsProxy) {
    it("uses the proxy of its environment, but not for an address of this machine", () => {
      const proxy = http.createServer((request, response) => response.end(`through the proxy: ${request.url}`))
      return serve(
        proxy,
        (proxied) =>
          serve(http.createServer((_, response) => response.end("direct")), async ({ origin }) => {
            const env = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxied.origin, http_proxy: proxied.origin }
            const urls = ["http://api.invalid/a", origin, origin.replace("127.0.0.1", "localhost")]
            // Node 22 warns that the variable is experimental
            const { stdout } = await fetchAll(env, ...urls)
            assert.strictEqual(stdout, "through the proxy: http://api.invalid/a\ndirect\ndirect\n")
            const excluded = await fetchAll({ ...env, NO_PROXY: "api.invalid" }, "http://api.invalid/a")
            assert.match(excluded.stdout, /ENOTFOUND|EAI_AGAIN/)
          })
      )
    })
  }
})

describe("TLS", () => {
  it.effect("trusts the authority of the agent, and sends its certificate", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const host = "localhost"
      const server = yield* makeCertificate({ host, days: 1, authority })
      const client = yield* makeCertificate({ host: "client", days: 1, authority })
      yield* Effect.promise(async () => {
        const requestsCertificate = { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: true }
        const listener = https.createServer(requestsCertificate, (_, response) => response.end("secret"))
        await serve(listener, async ({ origin }) => {
          const url = origin.replace("http://127.0.0.1", "https://localhost")
          const agent = new https.Agent({ keepAlive: true, ca: authority.cert, ...client })
          const { fetch } = makeNodeFetch({ agent })
          assert.strictEqual(await (await fetch(url)).text(), "secret")
          agent.destroy()
          const own = makeNodeFetch()
          assert.match(
            await rejection(own.fetch(url)),
            /^TypeError: fetch failed \([A-Z_]*(SIGNATURE|CERT|ISSUER)[A-Z_]*\)/
          )
          own.close()
          const folder = await mkdtemp(join(tmpdir(), "authority-"))
          await writeFile(join(folder, "ca.pem"), authority.cert)
          const { stdout } = await fetchAll({ NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") }, url)
          await rm(folder, { recursive: true })
          // the server is known, and asks for the client's certificate
          assert.match(stdout, /fetch failed \((ERR_SSL_|ECONNRESET)/)
        })
      })
    }))
})
