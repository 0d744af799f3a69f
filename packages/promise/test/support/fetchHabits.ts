// What programs rely on in a `fetch`: each row runs over real sockets, with the global `fetch` and with the package's own.

import http from "node:http"
import net, { type Socket } from "node:net"
import { Readable } from "node:stream"
import zlib from "node:zlib"

type Fetch = typeof globalThis.fetch

/** A server on this machine, and how many connections it accepted. */
export interface Served {
  readonly origin: string
  connections: number
  /** Those that are open. */
  readonly sockets: Set<Socket>
}

/** Serves with this handler of requests, or of raw connections, while `use` runs. */
export const serve = async <A>(server: net.Server, use: (served: Served) => Promise<A>): Promise<A> => {
  const served = { origin: "", connections: 0, sockets: new Set<Socket>() }
  // between two calls, a busy machine can take longer than a server keeps a connection
  if (server instanceof http.Server) server.keepAliveTimeout = 0
  server.on("connection", (socket: Socket) => {
    served.connections++
    served.sockets.add(socket.on("error", () => {}))
    socket.on("close", () => served.sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  served.origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
  try {
    return await use(served)
  } finally {
    server.close()
    for (const socket of served.sockets) socket.destroy()
  }
}

/** A server that writes this text, whatever it gets, once per connection. */
export const raw = (text: string | ReadonlyArray<Uint8Array>, end = true) =>
  net.createServer((socket) => {
    socket.once("data", () => {
      for (const part of typeof text === "string" ? [Buffer.from(text, "latin1")] : text) socket.write(part)
      if (end) socket.end()
    })
  })

const handle = (handler: http.RequestListener): http.Server => http.createServer(handler)

/** A server that returns the request as JSON. */
const echo = () =>
  handle((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part)).on("end", () => {
      const { headers, method, url } = request
      response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(parts).toString("latin1") }))
    })
  })

interface Echo {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string | undefined>
  readonly body: string
}

const isEcho = (value: unknown): value is Echo => typeof value === "object" && value !== null && "headers" in value

const echoed = async (response: Response): Promise<Echo> => {
  const value: unknown = await response.json()
  if (!isEcho(value)) throw new Error("The server did not return the request")
  return value
}

const compressed = (coding: string, ...encoders: ReadonlyArray<(body: Uint8Array) => Uint8Array>) => () =>
  handle((_, response) => {
    const body = encoders.reduce<Uint8Array>((bytes, encode) => encode(bytes), Buffer.from("decoded ".repeat(500)))
    response.writeHead(200, { "content-encoding": coding, "content-length": body.byteLength }).end(body)
  })

const readDecoded = async (fetch: Fetch, { origin }: Served) => {
  const response = await fetch(origin)
  const text = await response.text()
  return text === "decoded ".repeat(500) ? `decoded; ${response.headers.get("content-encoding")}` : text.slice(0, 20)
}

/** An error and its causes in a line. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  // the cause of a CallError is what the `fetch` below it rejects with
  if ("reason" in error) return `${error.name} (${String(error.reason)})`
  const text = `${error.name}: ${error.message}`
  if (cause === undefined) return text
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  return `${text} (${typeof code === "string" ? code : describeError(cause)})`
}

/** The name of the error, and what it was: that of the call or of the body. */
const failure = async (attempt: () => Promise<unknown>): Promise<string> => {
  try {
    await attempt()
    return "no failure"
  } catch (error) {
    return describeError(error)
  }
}

const nameOfFailure = async (attempt: () => Promise<unknown>): Promise<string> =>
  (await failure(attempt)).replace(/[:(].*/s, "").trim()

const drip = (...parts: ReadonlyArray<string>) =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve))
      const part = parts[0]
      parts = parts.slice(1)
      if (part === undefined) controller.close()
      else controller.enqueue(Buffer.from(part))
    }
  })

/** With what the types of the DOM do not have. */
const half = (init: RequestInit, more?: object): RequestInit =>
  Object.assign({ method: "POST", duplex: "half", ...init }, more)

const ok = "HTTP/1.1 200 OK\r\n"

const neverEnds = () =>
  handle((request, response) => {
    request.resume()
    response.write("begin")
  })

/** A habit, and how to try it. */
export interface Habit {
  readonly habit: string
  readonly server: () => net.Server
  readonly run: (fetch: Fetch, served: Served) => Promise<string>
  /** What this `fetch` does. */
  readonly expected: string
  /** What the global `fetch` does, if it differs, and why it does. What a call of a connection does, if that is something else. */
  readonly differs?: { readonly global: string; readonly call?: string; readonly why: string }
}

const multipart = () => {
  const form = new FormData()
  form.set("a", "1")
  form.set("file", new File(["content"], "name.txt", { type: "text/plain" }))
  return form
}

const twoParts = async function*() {
  yield "text, "
  yield Buffer.from("bytes")
}

/** Every habit, in the order of the table. */
export const habits: ReadonlyArray<Habit> = [
  {
    habit: "gzip",
    server: compressed("gzip", zlib.gzipSync),
    run: readDecoded,
    expected: "decoded; gzip"
  },
  { habit: "br", server: compressed("br", zlib.brotliCompressSync), run: readDecoded, expected: "decoded; br" },
  {
    habit: "deflate with the header of zlib",
    server: compressed("deflate", zlib.deflateSync),
    run: readDecoded,
    expected: "decoded; deflate"
  },
  {
    habit: "deflate without it",
    server: compressed("deflate", zlib.deflateRawSync),
    run: readDecoded,
    expected: "decoded; deflate"
  },
  {
    habit: "two codings",
    server: compressed("br, GZIP", zlib.brotliCompressSync, zlib.gzipSync),
    run: readDecoded,
    expected: "decoded; br, GZIP"
  },
  {
    habit: "an unknown coding",
    server: compressed("gzip, secret", () => Buffer.from("as it was sent")),
    run: readDecoded,
    expected: "as it was sent"
  },
  {
    habit: "gzip, and no byte of a body",
    server: compressed("gzip", () => Buffer.alloc(0)),
    run: async (fetch, { origin }) => JSON.stringify(await (await fetch(origin)).text()),
    expected: "\"\""
  },
  {
    habit: "a gzip body that is not gzip",
    server: compressed("gzip", () => Buffer.from("not gzip")),
    run: (fetch, { origin }) => failure(async () => (await fetch(origin)).text()),
    expected: "TypeError: terminated (Z_DATA_ERROR)"
  },
  {
    habit: "a gzip body without its end",
    server: compressed("gzip", (body) => zlib.gzipSync(body).subarray(0, -12)),
    run: (fetch, { origin }) => failure(async () => (await fetch(origin)).text()),
    expected: "TypeError: terminated (Z_BUF_ERROR)",
    differs: {
      global: "no failure",
      call: "CallError (Cut)",
      why: "a part of a record must not pass for all of it"
    }
  },
  {
    habit: "the body of HEAD, 204, 205 and 304 with a coding",
    server: () =>
      handle((request, response) => {
        const status = Number(request.url?.slice(1))
        response.writeHead(status, { "content-encoding": "gzip", ...(status === 205 && { "content-length": 0 }) }).end()
      }),
    run: async (fetch, { origin }) => {
      const head = await fetch(`${origin}/200`, { method: "HEAD" })
      const others = await Promise.all([204, 205, 304].map((status) => fetch(`${origin}/${status}`)))
      return [head, ...others].map(({ body }) => body).join()
    },
    expected: ",,,"
  },
  {
    habit: "default headers",
    server: echo,
    run: async (fetch, { origin }) => {
      const { headers } = await echoed(await fetch(origin))
      const { accept, "accept-encoding": encoding, "accept-language": language, "user-agent": agent } = headers
      return [accept, encoding, language, headers["sec-fetch-mode"], agent?.replace(/(?<=data\/).*/, "VERSION")].join(
        "; "
      )
    },
    expected: "*/*; gzip, deflate, br; ; ; node",
    differs: {
      global: "*/*; gzip, deflate; *; cors; node",
      call: "*/*; gzip, deflate, br; ; ; credit-data/VERSION",
      why: "br is decoded too; `accept-language` and `sec-fetch-mode` say nothing to an API"
    }
  },
  {
    habit: "accept-encoding of the caller, and with range",
    server: echo,
    run: async (fetch, { origin }) => {
      const own = await echoed(await fetch(origin, { headers: { "accept-encoding": "br" } }))
      const range = await echoed(await fetch(origin, { headers: { range: "bytes=0-" } }))
      return [own, range].map(({ headers }) => headers["accept-encoding"]).join("; ")
    },
    expected: "br; identity"
  },
  {
    habit: "bodies, with their type and length",
    server: echo,
    run: async (fetch, { origin }) => {
      const bodies: ReadonlyArray<BodyInit> = [
        "téxt\uD800",
        new Uint8Array([65, 66]).subarray(1),
        new Uint8Array([65, 66]).buffer,
        new DataView(new Uint8Array([65, 66, 67]).buffer, 1, 1),
        new URLSearchParams({ a: "1 2" }),
        new Blob(["blob"], { type: "text/csv" }),
        new Blob(["blob"])
      ]
      const sent = await Promise.all(
        bodies.map(async (body) => echoed(await fetch(origin, { method: "POST", body })))
      )
      return sent.map(({ body, headers }) =>
        `${Buffer.from(body, "latin1").toString()} ${headers["content-type"] ?? ""} ${headers["content-length"]}`
      ).join("; ")
    },
    expected:
      "téxt\uFFFD text/plain;charset=UTF-8 8; B  1; AB  2; B  1; a=1+2 application/x-www-form-urlencoded;charset=UTF-8 5; blob text/csv 4; blob  4"
  },
  {
    habit: "FormData",
    server: echo,
    run: async (fetch, { origin }) => {
      const { body, headers } = await echoed(await fetch(origin, { method: "POST", body: multipart() }))
      const type = headers["content-type"] ?? ""
      const isFramed = body.includes(type.split("boundary=")[1] ?? "?")
      return `${type.split(";")[0]}, ${isFramed}, ${Number(headers["content-length"]) === body.length}`
    },
    expected: "multipart/form-data, true, true"
  },
  {
    habit: "a ReadableStream as body",
    server: echo,
    run: async (fetch, { origin }) => {
      const { body, headers } = await echoed(await fetch(origin, half({ body: drip("a", "b") })))
      return `${body}, ${headers["transfer-encoding"]}, ${headers["content-type"] ?? ""}`
    },
    expected: "ab, chunked, "
  },
  {
    habit: "an async iterable, and a stream of Node, as body",
    server: echo,
    run: async (fetch, { origin }) => {
      const sent = [twoParts(), Readable.from([Buffer.from("node")])].map((body) => fetch(origin, half({}, { body })))
      return (await Promise.all(sent.map(async (call) => (await echoed(await call)).body))).join("; ")
    },
    expected: "text, bytes; node"
  },
  {
    habit: "a stream without duplex",
    server: echo,
    run: (fetch, { origin }) => nameOfFailure(() => fetch(origin, { method: "POST", body: drip("a") })),
    expected: "TypeError",
    differs: {
      global: "TypeError",
      call: "no failure",
      why: "`duplex` is set for you"
    }
  },
  {
    habit: "a stream that fails",
    server: echo,
    run: (fetch, { origin }) => {
      const body = new ReadableStream({ pull: () => Promise.reject(new Error("source")) })
      return failure(() => fetch(origin, half({ body })))
    },
    expected: "TypeError: fetch failed (Error: source)"
  },
  {
    habit: "a Request with a text, with a stream, and used",
    server: echo,
    run: async (fetch, { origin }) => {
      const text = new Request(`${origin}/path?a=1#hash`, { method: "put", body: "text", headers: { "x-a": "1" } })
      const sent = await echoed(await fetch(text))
      const streamed = await echoed(await fetch(new Request(origin, half({ body: drip("a", "b") }))))
      const again = await nameOfFailure(() => fetch(text))
      const { body, headers, method, url } = sent
      return [method, url, headers["x-a"], body, headers["content-length"], text.bodyUsed, streamed.body, again].join()
    },
    expected: "PUT,/path?a=1,1,text,4,true,ab,TypeError"
  },
  {
    habit: "a Request, and init that replaces its parts",
    server: echo,
    run: async (fetch, { origin }) => {
      const request = new Request(origin, { method: "POST", body: "old", headers: { "x-old": "1" } })
      const { body, headers } = await echoed(
        await fetch(request, { method: "POST", body: "new", headers: { "x-new": "1" } })
      )
      return [body, headers["x-old"], headers["x-new"]].join()
    },
    expected: "new,,1"
  },
  {
    habit: "methods: post, REPORT, TRACE, a b, connect",
    server: echo,
    run: async (fetch, { origin }) => {
      const methods = ["post", "REPORT", "TRACE", "a b", "connect"].map(async (method) => {
        let sent = ""
        const refused = await nameOfFailure(async () => {
          sent = (await echoed(await fetch(origin, { method }))).method
        })
        return sent === "" ? refused : sent
      })
      return (await Promise.all(methods)).join()
    },
    expected: "POST,REPORT,TypeError,TypeError,TypeError",
    differs: {
      global: "POST,REPORT,TypeError,TypeError,TypeError",
      call: "POST,CallError,CallError,CallError,CallError",
      why: "use GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS"
    }
  },
  {
    habit: "what is wrong with a call",
    server: echo,
    run: async (fetch, { origin }) => {
      const wrong: ReadonlyArray<() => Promise<Response>> = [
        () => fetch("/relative"),
        () => fetch("ftp://127.0.0.1/"),
        () => fetch(origin.replace("//", "//user:password@")),
        () => fetch(origin, { headers: { "a b": "1" } }),
        () => fetch(origin, { headers: { a: "1\n2" } }),
        () => fetch(origin, { headers: { a: "\u{1F600}" } }),
        () => fetch(origin, { headers: { "transfer-encoding": "chunked" } }),
        () => fetch(origin, Object.assign({ method: "GET" }, { body: "text" })),
        () => fetch(origin, { method: "POST", body: "text", headers: { "content-length": "9" } }),
        () => fetch(origin, half({}, { signal: {} }))
      ]
      return (await Promise.all(wrong.map(nameOfFailure))).join()
    },
    expected: "TypeError,".repeat(10).slice(0, -1)
  },
  {
    habit: "status, statusText, url, type, redirected, and headers that come twice",
    server: () =>
      raw(`HTTP/1.1 299 Odd text\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nx: 1\r\nX: 2\r\ncontent-length: 0\r\n\r\n`),
    run: async (fetch, { origin }) => {
      const response = await fetch(`${origin}/a?b=1#c`)
      const { headers, ok, redirected, status, statusText, type, url } = response
      return [
        status,
        ok,
        statusText,
        url.replace(origin, ""),
        type,
        redirected,
        headers.getSetCookie().join(" "),
        headers.get("x")
      ].join("; ")
    },
    expected: "299; true; Odd text; /a?b=1; basic; false; a=1 b=2; 1, 2"
  },
  {
    habit: "a clone",
    server: echo,
    run: async (fetch, { origin }) => {
      const response = await fetch(`${origin}/a`)
      const copy = response.clone().clone()
      const [first, second] = [await echoed(response), await echoed(copy)]
      return [first.url, second.url, copy.url === response.url, copy.type, copy instanceof Response].join()
    },
    expected: "/a,/a,true,basic,true"
  },
  {
    habit: "a byob reader",
    server: () => handle((_, response) => response.end("abcdef")),
    run: async (fetch, { origin }) => {
      const { body } = await fetch(origin)
      const reader = body?.getReader({ mode: "byob" })
      const parts: Array<string> = []
      for (;;) {
        const part = await reader?.read(new Uint8Array(4))
        if (part === undefined || part.done) return parts.join()
        parts.push(Buffer.from(part.value).toString())
      }
    },
    expected: "abcd,ef"
  },
  {
    habit: "a body that ends before its `content-length`",
    server: () => raw(`${ok}content-length: 10\r\n\r\n12345`),
    run: async (fetch, { origin }) => {
      const response = await fetch(origin)
      return failure(() => response.text())
    },
    expected: "TypeError: terminated (ECONNRESET)",
    differs: {
      global: "TypeError: terminated (UND_ERR_SOCKET)",
      call: "CallError (Cut)",
      why: "its `reason` says why"
    }
  },
  {
    habit: "a chunked body without its last chunk",
    server: () => raw(`${ok}transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n`),
    run: async (fetch, { origin }) => {
      const response = await fetch(origin)
      return failure(() => response.text())
    },
    expected: "TypeError: terminated (ECONNRESET)",
    differs: {
      global: "TypeError: terminated (UND_ERR_SOCKET)",
      call: "CallError (Cut)",
      why: "its `reason` says why"
    }
  },
  {
    habit: "a body that ends with its connection",
    server: () => raw(`${ok}\r\nto the end`),
    run: async (fetch, { origin }) => (await fetch(origin)).text(),
    expected: "to the end"
  },
  {
    habit: "103 before the response",
    server: () => raw(`HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${ok}content-length: 2\r\n\r\nok`),
    run: async (fetch, { origin }) => {
      const response = await fetch(origin)
      return `${response.status}, ${response.headers.get("link")}, ${await response.text()}`
    },
    expected: "200, null, ok"
  },
  {
    habit: "101 that nobody asked for",
    server: () => raw("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", false),
    run: (fetch, { origin }) => nameOfFailure(() => fetch(origin)),
    expected: "TypeError"
  },
  {
    habit: "a status above 599",
    server: () => raw("HTTP/1.1 999 Denied\r\ncontent-length: 0\r\n\r\n"),
    run: async (fetch, { origin }) => {
      try {
        return String((await fetch(origin)).status)
      } catch (error) {
        return describeError(error).replace(/(?<=RangeError).*/, ")")
      }
    },
    expected: "TypeError: fetch failed (RangeError)",
    differs: { global: "999", call: "CallError (Other)", why: "`new Response` refuses such a status" }
  },
  {
    habit: "no connection",
    server: () => handle(() => {}),
    run: async (fetch) => {
      const closed = await serve(handle(() => {}), async ({ origin }) => origin)
      return failure(() => fetch(closed))
    },
    expected: "TypeError: fetch failed (ECONNREFUSED)"
  },
  {
    habit: "a name that does not exist",
    server: () => handle(() => {}),
    // on a machine without DNS, the code is another one
    run: async (fetch) => (await failure(() => fetch("http://host.invalid"))).replace("EAI_AGAIN", "ENOTFOUND"),
    expected: "TypeError: fetch failed (ENOTFOUND)"
  },
  {
    habit: "a connection that closes without a response",
    server: () => raw(""),
    run: (fetch, { origin }) => failure(() => fetch(origin)),
    expected: "TypeError: fetch failed (ECONNRESET)",
    differs: {
      global: "TypeError: fetch failed (UND_ERR_SOCKET)",
      call: "CallError (Reset)",
      why: "its `reason` says why"
    }
  },
  {
    habit: "something that is not HTTP",
    server: () => raw("220 mail.example\r\n"),
    run: (fetch, { origin }) => nameOfFailure(() => fetch(origin)),
    expected: "TypeError"
  },
  {
    habit: "an aborted signal: before, while it waits, and while it reads",
    server: neverEnds,
    run: async (fetch, { origin }) => {
      const before = await failure(() => fetch(origin, { signal: AbortSignal.abort() }))
      const silent = await serve(handle(() => {}), ({ origin }) =>
        failure(() => {
          const controller = new AbortController()
          setTimeout(() => controller.abort("stop"), 20)
          return fetch(origin, { signal: controller.signal })
        }))
      const controller = new AbortController()
      const response = await fetch(origin, { signal: controller.signal })
      setTimeout(() => controller.abort(new Error("enough")), 20)
      return [before, silent, await failure(() => response.text())].join("; ")
    },
    expected: "AbortError: This operation was aborted; stop; Error: enough"
  },
  {
    habit: "a signal that is aborted after the headers, when the whole body has come",
    server: () => handle((_, response) => response.end("short")),
    run: async (fetch, { origin }) => {
      const controller = new AbortController()
      const response = await fetch(origin, { signal: controller.signal })
      controller.abort()
      return nameOfFailure(() => response.text())
    },
    expected: "AbortError"
  },
  {
    habit: "a redirect with `manual` and `error`",
    server: () => handle((_, response) => response.writeHead(302, { location: "/next" }).end("body")),
    run: async (fetch, { origin }) => {
      const { headers, redirected, status, type } = await fetch(origin, { redirect: "manual" })
      const error = await failure(() => fetch(origin, { redirect: "error" }))
      return [status, headers.get("location"), type, redirected, error].join("; ")
    },
    expected: "302; /next; basic; false; TypeError: fetch failed (Error: unexpected redirect)"
  },
  {
    habit: "`redirect: \"error\"`",
    server: () => handle((_, response) => response.writeHead(302, { location: "/next" }).end()),
    run: (fetch, { origin }) => nameOfFailure(() => fetch(origin, { redirect: "error" })),
    expected: "TypeError",
    differs: {
      global: "TypeError",
      call: "no failure",
      why: "no redirect is followed, so you get each as the response"
    }
  },
  {
    habit: "`redirect: \"follow\"`",
    server: () =>
      handle((request, response) => {
        if (request.url === "/") response.writeHead(302, { location: "/next" })
        response.end()
      }),
    run: async (fetch, { origin }) => String((await fetch(origin)).status),
    expected: "302",
    differs: { global: "200", why: "a redirect could take the token to another address" }
  },
  {
    habit: "`cache: \"no-store\"`",
    server: echo,
    run: async (fetch, { origin }) =>
      (await echoed(await fetch(origin, { cache: "no-store" }))).headers["cache-control"] ?? "no header",
    expected: "no header",
    differs: { global: "no-cache", why: "set the header `cache-control` instead" }
  },
  {
    habit: "`integrity`",
    server: echo,
    run: (fetch, { origin }) => nameOfFailure(() => fetch(origin, { integrity: "sha256-AAAA" })),
    expected: "no failure",
    differs: { global: "TypeError", why: "hashes of responses are not checked" }
  },
  {
    habit: "changing the headers of a response",
    server: echo,
    run: async (fetch, { origin }) => {
      const { headers } = await fetch(origin)
      return nameOfFailure(async () => headers.set("a", "1"))
    },
    expected: "no failure",
    differs: { global: "TypeError", why: "`new Response` makes headers that can be changed" }
  },
  {
    habit: "a port that browsers block",
    server: echo,
    run: (fetch) => failure(() => fetch("http://127.0.0.1:1")),
    expected: "TypeError: fetch failed (ECONNREFUSED)",
    differs: {
      global: "TypeError: fetch failed (Error: bad port)",
      call: "CallError (Refused)",
      why: "the address is your configuration, and not from a page"
    }
  },
  {
    habit: "a `data:` URL",
    server: echo,
    run: (fetch) => nameOfFailure(() => fetch("data:,text")),
    expected: "TypeError",
    differs: { global: "no failure", call: "CallError", why: "only http and https lead to an API" }
  },
  {
    habit: "`dispatcher`",
    server: echo,
    run: async (fetch, { origin }) => {
      let isUsed = false
      const dispatch = () => {
        isUsed = true
        throw new Error("used")
      }
      const name = await nameOfFailure(() =>
        fetch(origin, Object.assign({ method: "GET" }, { dispatcher: { dispatch } }))
      )
      return isUsed ? "used" : name
    },
    expected: "CallError",
    differs: { global: "used", why: "pass an `agent` or your own `fetch` to `connect`" }
  }
]
