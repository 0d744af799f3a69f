import { callFailure, refused, type Sender } from "@credit-data/http-client/Internal"
import { identity } from "effect/Function"
// the default exports, because an instrumentation replaces `request` there
import http from "node:http"
import https from "node:https"
import { Duplex, pipeline, Readable } from "node:stream"
import { types } from "node:util"
import zlib from "node:zlib"

/** A `fetch` over `node:http` and `node:https`. It follows no redirect: the caller gets the response that has the `location`. */
export interface NodeFetch {
  readonly fetch: typeof globalThis.fetch
  /** Sends the calls of a connection. Reading a body that breaks off rejects with what `present` makes of the failure. */
  readonly sender: (present: (error: unknown) => unknown) => Sender
  /** Closes the connections that no call uses, and each other one as soon as its call has ended. Leaves a given agent alone. */
  readonly close: () => void
}

/** A short time, so that a call seldom uses a connection that its server is just closing. */
const idleTimeout = 4_000

/** `Response` has no body with these statuses. */
const nullBodyStatuses: ReadonlySet<number> = new Set([204, 205, 304])

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The methods that need no check and no other case. */
const plainMethods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])

/** Each one can multiply the size of the body. */
const maxCodings = 5

const fetchFailed = (cause: unknown) => new TypeError("fetch failed", { cause })

const terminated = (cause: unknown) => new TypeError("terminated", { cause })

const ignore = () => {}

/** The variables of the proxy, if this version of Node reads them and is told to. No proxy gets the requests to this machine. */
const proxyEnv = (): { readonly proxyEnv?: NodeJS.ProcessEnv } => {
  const agent: http.Agent & { readonly options?: { readonly proxyEnv?: NodeJS.ProcessEnv } } = http.globalAgent
  const env = agent.options?.proxyEnv
  if (env === undefined) return {}
  const excluded = [env["no_proxy"] ?? env["NO_PROXY"], "localhost", "127.0.0.1-127.255.255.255", "::1", "[::1]"]
  return { proxyEnv: { ...env, no_proxy: excluded.filter(Boolean).join(",") } }
}

/** A body of a request whose length is not known. */
interface Chunks {
  readonly next: () => Promise<IteratorResult<unknown, unknown>>
  readonly cancel: (reason: unknown) => void
  /** Whether a part may be a string. */
  readonly strings?: boolean
  /** Whether the first part can be all of it, so that its length can be sent. */
  readonly mayBeWhole?: boolean
}

/** The body of a request. */
interface Content {
  readonly type?: string | undefined
  readonly length?: number | undefined
  readonly whole?: string | Uint8Array | Promise<Uint8Array>
  readonly chunks?: Chunks
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value

const fromStream = (stream: ReadableStream<unknown>, mayBeWhole = false): Chunks => {
  const reader = stream.getReader()
  return { next: () => reader.read(), cancel: (reason) => void reader.cancel(reason).catch(ignore), mayBeWhole }
}

const fromIterable = (iterable: AsyncIterable<unknown>): Chunks => {
  const iterator = iterable[Symbol.asyncIterator]()
  const end = async () => {
    // the iterator of a stream of Node would wait for the part that is being read
    if (iterable instanceof Readable) iterable.destroy()
    else await iterator.return?.()
  }
  return {
    next: () => iterator.next(),
    cancel: () => void end().catch(ignore),
    strings: true
  }
}

/** What to send for the `body` of a call, with the content type that the global `fetch` gives it. */
const contentOf = (body: unknown, duplex: unknown, mayBeWhole = false): Content => {
  if (typeof body === "string") {
    return { type: "text/plain;charset=UTF-8", length: Buffer.byteLength(body), whole: body }
  }
  if (ArrayBuffer.isView(body)) {
    return { length: body.byteLength, whole: new Uint8Array(body.buffer, body.byteOffset, body.byteLength) }
  }
  // `instanceof` knows nothing of other realms, such as that of a test runner
  if (types.isAnyArrayBuffer(body)) return { length: body.byteLength, whole: new Uint8Array(body) }
  if (body instanceof URLSearchParams) {
    return { ...contentOf(String(body), duplex), type: "application/x-www-form-urlencoded;charset=UTF-8" }
  }
  if (body instanceof Blob) {
    return { type: body.type === "" ? undefined : body.type, length: body.size, chunks: fromStream(body.stream()) }
  }
  if (body instanceof FormData) {
    const form = new Response(body)
    return {
      type: form.headers.get("content-type") ?? undefined,
      whole: form.arrayBuffer().then((bytes) => new Uint8Array(bytes))
    }
  }
  if (body instanceof ReadableStream || isAsyncIterable(body)) {
    if (duplex === undefined) throw new TypeError("RequestInit: duplex option is required when sending a body.")
    return { chunks: body instanceof ReadableStream ? fromStream(body, mayBeWhole) : fromIterable(body) }
  }
  return contentOf(String(body), duplex)
}

/** Sends a body part by part, as fast as the connection takes it. */
class Upload {
  ended = false
  wake: () => void = ignore

  readonly request: http.ClientRequest
  readonly chunks: Chunks
  /** Whether the headers have the length. */
  readonly sized: boolean

  constructor(request: http.ClientRequest, chunks: Chunks, sized: boolean) {
    this.request = request
    this.chunks = chunks
    this.sized = sized
    // a body that does not have this length fails
    if (sized) Object.assign(request, { strictContentLength: true })
  }

  async run(): Promise<void> {
    const { chunks, request } = this
    let part = await this.next()
    if (chunks.mayBeWhole === true && !this.sized && part !== undefined) {
      // the body of a `Request` that was made from a string ends with its first part, and its length is sent
      const first = part
      const second = this.next()
      const isWhole = await Promise.race([
        second.then((next) => next === undefined),
        new Promise<boolean>((resolve) => setImmediate(resolve, false))
      ])
      if (isWhole && !request.destroyed) request.setHeader("content-length", first.byteLength)
      if (!isWhole && !request.destroyed) request.setHeader("transfer-encoding", "chunked")
      await this.write(first)
      part = await second
    } else if (!this.sized && !request.destroyed) request.setHeader("transfer-encoding", "chunked")
    // an iterator can go on after its `return`
    while (part !== undefined && !this.ended) {
      await this.write(part)
      part = await this.next()
    }
    // a body that was stopped must not look complete
    if (this.ended) return
    this.ended = true
    request.end()
  }

  async next(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.chunks.next()
    if (done === true) return undefined
    if (types.isUint8Array(value)) return value
    if (this.chunks.strings === true && typeof value === "string") return Buffer.from(value)
    throw new TypeError("Received non-Uint8Array chunk")
  }

  async write(part: Uint8Array): Promise<void> {
    const { request } = this
    if (request.destroyed || request.write(part)) return
    await new Promise<void>((resolve) => {
      this.wake = resolve
      request.once("drain", resolve)
    })
  }

  /** Stops the source and the request when one of them has failed, or the response has ended first. */
  stop(reason: unknown): void {
    if (this.ended) return
    this.ended = true
    this.wake()
    this.chunks.cancel(reason)
    this.request.destroy()
  }
}

/** The decoder of `deflate`, which some servers send without the header of zlib. */
async function* inflate(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = source[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done === true) return
  const isRaw = ((first.value[0] ?? 0) & 15) !== 8
  const all = async function*() {
    yield first.value
    for await (const chunk of { [Symbol.asyncIterator]: () => iterator }) yield chunk
  }
  yield* pipeline(all, isRaw ? zlib.createInflateRaw() : zlib.createInflate(), ignore)
}

const decoderOf = (coding: string): (() => Duplex) | undefined => {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return () => zlib.createGunzip()
    case "deflate":
      return () => Duplex.from(inflate)
    case "br":
      return () => zlib.createBrotliDecompress()
    default:
      return undefined
  }
}

/** The decoders of a body in their order. There is none if any coding is not known: the caller gets the body as it was sent. */
const decodersOf = (contentEncoding: string): ReadonlyArray<() => Duplex> => {
  const codings = contentEncoding.split(",").map((coding) => coding.trim().toLowerCase()).toReversed()
  if (codings.length > maxCodings) {
    throw new Error(`The response has more than ${maxCodings} content codings`)
  }
  const decoders: Array<() => Duplex> = []
  for (const coding of codings) {
    const decoder = decoderOf(coding)
    if (decoder === undefined) return []
    decoders.push(decoder)
  }
  return decoders
}

const decode = (body: Readable, decoders: ReadonlyArray<() => Duplex>): Readable => {
  const chain = decoders.map((make) => make())
  const last = chain.at(-1)
  if (last === undefined) return body
  pipeline([body, ...chain], ignore)
  return last
}

/** A chunk that a stream can take the memory of: other chunks may share that of a `Buffer`. */
const owned = (chunk: Buffer<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  chunk.byteLength === chunk.buffer.byteLength ? chunk : new Uint8Array(chunk)

/** Closes the connection of a response whose body nobody can read any more. */
const dropped = new FinalizationRegistry<Body>((body) => body.release())

/**
 * The body of a response. The connection and the signal refer to it, so it refers to its stream only while somebody reads: a
 * response that the program has dropped is collected, and its connection is closed.
 */
class Body {
  readonly type = "bytes"
  readonly message: http.IncomingMessage
  /** The decoded body. */
  readonly source: Readable
  readonly call: Call
  /** What the reader gets if the connection fails. */
  failure: unknown
  /** All of the body, if it had come before the response was given and needs no decoder. */
  whole: Buffer<ArrayBuffer> | null | undefined
  isDone = false
  /** Set while a read waits. */
  reading: ReadableByteStreamController | undefined
  stream: WeakRef<ReadableByteStreamController> | undefined

  constructor(message: http.IncomingMessage, decoders: ReadonlyArray<() => Duplex>, call: Call) {
    this.message = message
    this.call = call
    let body: Readable = message
    if (message.complete) {
      const bytes: Buffer<ArrayBuffer> | null = message.read()
      // its connection is free after `end`, which comes when there is nothing left to read
      message.resume()
      // an empty body needs no decoder, and decoders refuse it
      if (bytes === null || decoders.length === 0) this.whole = bytes
      else body = Readable.from([bytes])
    }
    this.source = this.whole === undefined ? decode(body, decoders) : message
    if (this.whole !== undefined) return
    this.source.on("readable", () => this.deliver())
    this.source.on("end", () => this.close())
    this.source.on("error", (error) => this.break(error))
    this.source.on("close", () => this.break(message.errored))
  }

  // the stream calls `start`, `pull` and `cancel`

  start(controller: ReadableByteStreamController): void {
    // nothing can end it
    if (this.whole !== undefined && this.call.signal === undefined) return this.call.settle()
    this.stream = new WeakRef(controller)
    dropped.register(controller, this, this)
  }

  pull(controller: ReadableByteStreamController): void {
    this.reading = controller
    if (this.whole === undefined) return this.deliver()
    if (this.whole !== null) controller.enqueue(owned(this.whole))
    this.close()
  }

  cancel(): void {
    this.release()
  }

  /** Passes on what has come, if somebody waits for it, or if the connection is free then. */
  deliver(): void {
    const { message, source } = this
    const isRest = source === message && message.complete
    if (this.isDone || (this.reading === undefined && !isRest)) return
    const controller = this.reading ?? this.stream?.deref()
    const chunk: Buffer<ArrayBuffer> | null = source.read()
    if (chunk !== null) {
      this.reading = undefined
      controller?.enqueue(owned(chunk))
    }
    if (isRest && chunk !== null) source.read()
  }

  close(): void {
    if (this.isDone) return
    const controller = this.settle()
    try {
      controller?.close()
      controller?.byobRequest?.respond(0)
    } catch {
      // the body ended in the middle of an element that the reader wants, so the stream has failed by itself
    }
  }

  /** The connection has failed. */
  break(cause: unknown): void {
    if (this.isDone) return
    this.failure = this.call.failureOf(terminated(cause))
    this.fail(this.failure)
  }

  fail(reason: unknown): void {
    if (this.isDone) return
    this.settle()?.error(reason)
    this.destroy()
  }

  /** Ends the use of the connection without a reader. */
  release(): void {
    if (this.isDone) return
    this.settle()
    this.destroy()
  }

  settle(): ReadableByteStreamController | undefined {
    const controller = this.reading ?? this.stream?.deref()
    this.isDone = true
    this.reading = undefined
    this.call.settle()
    if (this.stream !== undefined) dropped.unregister(this)
    return controller
  }

  destroy(): void {
    const { message, source } = this
    if (source !== message) source.destroy()
    // if all of it is here, its connection can be used again
    if (message.complete) message.resume()
    else message.destroy()
  }
}

/** How a response is read. A version of Node may lack `bytes`. */
const readings = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"]

/** Made by the first call, because `Response` loads all of the global `fetch`. */
const makeResponseClass = () => {
  /** `Response` has no option for its `url` and its `type`. */
  class NodeResponse extends Response {
    override readonly url: string
    readonly #content: Body | undefined

    constructor(stream: ReadableStream | null, init: ResponseInit, url: string, content?: Body) {
      super(stream, init)
      this.url = url
      this.#content = content
    }

    override get type(): ResponseType {
      return "basic"
    }

    override clone(): Response {
      // no new response around the body of the copy: Node cancels the body of a copy that is collected
      const copy = super.clone()
      Object.setPrototypeOf(copy, NodeResponse.prototype)
      return Object.defineProperty(copy, "url", { value: this.url, enumerable: true })
    }

    static {
      for (const name of readings) {
        const read: unknown = Reflect.get(Response.prototype, name)
        if (typeof read !== "function") continue
        const value = async function(this: NodeResponse) {
          try {
            return await Reflect.apply(read, this, [])
          } catch (error) {
            // its stack names the line that reads, and not only where the connection failed
            if (#content in this && error instanceof Error && error === this.#content?.failure) {
              Error.captureStackTrace(error)
            }
            throw error
          }
        }
        Object.defineProperty(this.prototype, name, { value, configurable: true, writable: true })
      }
    }
  }
  return Object.defineProperty(NodeResponse, "name", { value: "Response" })
}

let responseClass: ReturnType<typeof makeResponseClass> | undefined

/** The calls of a `fetch` or of a sender. */
interface Calls {
  /** Those that have not failed, and whose body has not ended. */
  readonly open: Set<Call>
  /** What reading a body rejects with after its connection has failed. */
  readonly failureOf: (error: unknown, url: string) => unknown
}

/** One call. Its connection refers to it, so it drops the promise, and with it the response, as soon as there is one. */
class Call {
  request: http.ClientRequest | undefined
  upload: Upload | undefined
  body: Body | undefined
  signal: AbortSignal | undefined
  url = ""
  isRedirectRefused = false
  readonly #calls: Calls
  #resolve: ((response: Response) => void) | undefined
  #reject: ((reason: unknown) => void) | undefined

  constructor(calls: Calls, resolve: (response: Response) => void, reject: (reason: unknown) => void) {
    this.#calls = calls
    this.#resolve = resolve
    this.#reject = reject
    calls.open.add(this)
  }

  /** Whether it has neither a response nor a failure. */
  get isWaiting(): boolean {
    return this.#reject !== undefined
  }

  failureOf(error: unknown): unknown {
    return this.#calls.failureOf(error, this.url)
  }

  listen(signal: AbortSignal): void {
    signal.addEventListener("abort", this)
    this.signal = signal
  }

  /** The listener of the signal. */
  handleEvent(): void {
    this.abort(this.signal?.reason)
  }

  abort(reason: unknown): void {
    this.body?.fail(reason)
    this.upload?.stop(reason)
    if (this.reject(reason)) this.request?.destroy()
  }

  /** Nothing can end it from now on. */
  settle(): void {
    this.#calls.open.delete(this)
    this.signal?.removeEventListener("abort", this)
  }

  reject(reason: unknown): boolean {
    const reject = this.#reject
    if (reject === undefined) return false
    this.#resolve = this.#reject = undefined
    this.settle()
    reject(reason)
    return true
  }

  fail(error: unknown): void {
    this.upload?.stop(error)
    this.reject(fetchFailed(error))
  }

  send(request: http.ClientRequest): void {
    this.request = request
    request.on("response", (message) => {
      // all of a small body is here after the parser has run
      queueMicrotask(() => this.receive(message))
    })
    request.on("error", (error) => this.fail(error))
    request.on("close", () => {
      if (this.isWaiting || this.upload?.ended === false) {
        this.fail(request.errored ?? new Error("The connection was closed"))
      }
    })
  }

  receive(message: http.IncomingMessage): void {
    if (!this.isWaiting) return void message.destroy()
    try {
      const response = this.respond(message)
      if (this.upload?.ended === false) message.once("end", () => this.endUpload())
      // the connection is free before the caller goes on, so that its next call uses it
      else if (message.complete) return void message.once("end", () => this.resolve(response))
      this.resolve(response)
    } catch (error) {
      message.destroy()
      this.fail(error)
    }
  }

  resolve(response: Response): void {
    const resolve = this.#resolve
    this.#resolve = this.#reject = undefined
    resolve?.(response)
  }

  respond(message: http.IncomingMessage): Response {
    const status = message.statusCode ?? 0
    if (this.isRedirectRefused && redirectStatuses.has(status)) throw new Error("unexpected redirect")
    const init = { status, statusText: message.statusMessage ?? "" }
    const NodeResponse = responseClass ??= makeResponseClass()
    const isWithoutBody = nullBodyStatuses.has(status) || this.request?.method === "HEAD"
    if (!isWithoutBody) {
      const coding = message.headers["content-encoding"]
      this.body = new Body(message, coding === undefined ? [] : decodersOf(coding), this)
    }
    const stream = this.body === undefined ? null : new ReadableStream(this.body, { highWaterMark: 0 })
    const response = new NodeResponse(stream, init, this.url, this.body)
    // not in `init`, which would check and copy them once more
    const { rawHeaders } = message
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      response.headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "")
    }
    if (isWithoutBody) {
      this.settle()
      if (message.complete) message.resume()
      else message.destroy()
    }
    return response
  }

  /** The server has responded without waiting for the rest of the request. */
  endUpload(): void {
    this.upload?.stop(new Error("The response ended before the request"))
  }
}

const methodOf = (method: string): string =>
  // `Request` refuses the same methods as `fetch`, and writes them alike
  plainMethods.has(method) ? method : new Request("http://localhost", { method }).method

const parse = (text: string): URL => {
  try {
    return new URL(text)
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${text}`, { cause })
  }
}

const urlOf = (input: unknown): URL => {
  const url = parse(String(input))
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${url.origin}`)
  }
  return url
}

/** What HTTP/1.1 decides for each connection, so that callers cannot set it. */
const checkHeader = (name: string, value: string): void => {
  switch (name) {
    case "connection": {
      const token = value.toLowerCase()
      if (token === "close" || token === "keep-alive") return
      break
    }
    case "expect":
    case "keep-alive":
    case "transfer-encoding":
    case "upgrade":
      break
    default:
      return
  }
  throw fetchFailed(new TypeError(`invalid ${name} header`))
}

const headersOf = (given: HeadersInit | undefined): Record<string, string> => {
  const headers: Record<string, string> = {}
  new Headers(given).forEach((value, name) => {
    checkHeader(name, value)
    headers[name] = value
  })
  headers["accept"] ??= "*/*"
  headers["user-agent"] ??= "node"
  headers["accept-encoding"] ??= headers["range"] === undefined ? "gzip, deflate, br" : "identity"
  return headers
}

/** The length of a body, which a wrong header would hide: the connection would wait for the rest, or lose its frame. */
const setLength = (headers: Record<string, string>, length: number): void => {
  const given = headers["content-length"]
  if (given !== undefined && Number(given) !== length) {
    throw new TypeError(`The header content-length is ${given}, and the body has ${length} bytes`)
  }
  headers["content-length"] = String(length)
}

/**
 * Makes a `fetch` over `node:http` and `node:https`. The given agent sends everything, so it must be of the protocol of the URLs.
 *
 * @internal
 */
export const makeNodeFetch = (options: { readonly agent?: http.Agent | undefined } = {}): NodeFetch => {
  const settings = { keepAlive: true, timeout: idleTimeout, ...proxyEnv() }
  const own = options.agent === undefined
    ? { http: new http.Agent(settings), https: new https.Agent(settings) }
    : undefined

  const start = (call: Call, input: unknown, init: RequestInit): void => {
    if ("dispatcher" in init && init.dispatcher !== undefined) {
      throw refused(
        "Encode",
        "A dispatcher has no effect, because this fetch sends over node:http: pass an agent, or your own fetch, as an option of the connection"
      )
    }
    const given = input instanceof Request ? input : undefined
    const url = urlOf(given?.url ?? input)
    const method = methodOf(init.method ?? given?.method ?? "GET")
    const headers = headersOf(init.headers ?? given?.headers)
    const body: unknown = init.body ?? given?.body ?? undefined
    if (body !== undefined && (method === "GET" || method === "HEAD")) {
      throw new TypeError("Request with GET/HEAD method cannot have body.")
    }
    const signal = init.signal === undefined ? given?.signal : init.signal ?? undefined
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw new TypeError("Expected signal to be an instance of AbortSignal")
    }
    const isSecure = url.protocol === "https:"
    if (!isSecure && url.protocol !== "http:") throw fetchFailed(new Error("unknown scheme"))
    const isGiven = body !== undefined && body === given?.body
    if (isGiven && given.bodyUsed) throw new TypeError("The body of the Request has been used")
    const content: Content = body === undefined
      ? {}
      : contentOf(body, isGiven ? "half" : "duplex" in init ? init.duplex : undefined, isGiven)
    if (content.type !== undefined) headers["content-type"] ??= content.type
    if (signal?.aborted === true) {
      content.chunks?.cancel(signal.reason)
      throw signal.reason
    }
    if (signal !== undefined) call.listen(signal)
    call.url = url.hash === "" ? url.href : url.href.slice(0, -url.hash.length)
    call.isRedirectRefused = (init.redirect ?? given?.redirect) === "error"

    const open = (length: number | undefined): http.ClientRequest => {
      if (length !== undefined) setLength(headers, length)
      const to = {
        protocol: url.protocol,
        hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
        port: url.port,
        path: `${url.pathname}${url.search}`,
        method,
        headers,
        agent: options.agent ?? (isSecure ? own?.https : own?.http)
      }
      const request = isSecure ? https.request(to) : http.request(to)
      call.send(request)
      return request
    }

    try {
      const { chunks, length, whole } = content
      if (chunks !== undefined) {
        const request = open(length)
        const upload = call.upload = new Upload(request, chunks, headers["content-length"] !== undefined)
        upload.run().catch((error: unknown) => call.fail(error))
      } else if (whole instanceof Promise) {
        whole.then((bytes) => {
          if (call.isWaiting) open(bytes.byteLength).end(bytes)
        }).catch((error: unknown) => call.fail(error))
      } else if (whole !== undefined) open(length).end(whole)
      else {
        delete headers["content-length"]
        open(method === "POST" || method === "PUT" ? 0 : undefined).end()
      }
    } catch (error) {
      content.chunks?.cancel(error)
      call.fail(error)
    }
  }

  const send = (calls: Calls, input: unknown, init: RequestInit): Promise<Response> =>
    new Promise((resolve, reject) => {
      const call = new Call(calls, resolve, reject)
      try {
        start(call, input, init)
      } catch (error) {
        call.reject(error)
      }
    })

  const ofFetch: Calls = { open: new Set(), failureOf: identity }
  return {
    fetch: (input, init = {}) => send(ofFetch, input, init),
    sender: (present) => {
      const calls: Calls = {
        open: new Set(),
        failureOf: (error, url) => present(callFailure(error, { url, authorization: undefined }, "Body"))
      }
      return {
        fetch: (url, init) => send(calls, url, init),
        close: (reason) => {
          for (const call of calls.open) call.abort(reason)
        }
      }
    },
    close: () => {
      if (own === undefined) return
      for (const agent of [own.http, own.https]) {
        agent.maxFreeSockets = 0
        for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
      }
    }
  }
}
