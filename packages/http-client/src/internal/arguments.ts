import { connectionHeaders, isMethod, refusals, unsendableHeader, userAgent } from "@credit-data/core/Internal"
import * as Predicate from "effect/Predicate"
import { refused } from "./callFailure.ts"
import { isReadableAgain, joined } from "./framing.ts"

// What the caller of a `fetch` passes.

/** A `Request`, even of another realm or another implementation of `fetch`. */
type RequestLike =
  & Pick<Request, "arrayBuffer" | "body" | "headers" | "method" | "signal" | "url">
  & Partial<Pick<Request, "bodyUsed">>

const isRequestLike = (input: unknown): input is RequestLike =>
  Predicate.hasProperty(input, "url") && Predicate.hasProperty(input, "method") &&
  Predicate.hasProperty(input, "headers") && Predicate.hasProperty(input, "signal") &&
  Predicate.hasProperty(input, "arrayBuffer")

const isUrl = (input: unknown): input is URL => Predicate.hasProperty(input, "href") && Predicate.isString(input.href)

/** What is sent, apart from the token. */
export interface Arguments {
  readonly url: string
  readonly method: string
  readonly headers: SentHeaders
  readonly body: BodyInit | null | undefined
  readonly signal: AbortSignal | undefined
  /** Whether the body can be sent a second time. */
  readonly canBeSentAgain: boolean
  /** The options that only the `fetch` knows. */
  readonly init: RequestInit | undefined
}

/** The `Request` of a signal: the signal of a `Request` that was collected is never aborted. */
const owners = new WeakMap<AbortSignal, RequestLike>()

const isPair = (value: unknown): value is readonly [unknown, unknown] => Array.isArray(value) && value.length === 2

const entriesOf = (given: unknown): ReadonlyArray<readonly [string, string]> =>
  Array.from(Predicate.isIterable(given) ? given : Object.entries(given ?? {}), (pair: unknown) => {
    if (!isPair(pair)) throw new TypeError("Expected each header to be a name and a value")
    return [String(pair[0]), String(pair[1])] as const
  })

type SentHeaders = Readonly<Record<string, string>>

const ownHeaders: SentHeaders = { "user-agent": userAgent }

/**
 * The headers that belong to the request, and not to a connection of the caller, by their names in lower case. The platform sets the length
 * of the body. A record costs less than `Headers`, which every `fetch` would copy.
 */
const headersOf = (given: HeadersInit | undefined): SentHeaders => {
  if (given === undefined) return ownHeaders
  const headers = new Map<string, string>(Object.entries(ownHeaders))
  const seen = new Set<string>()
  for (const [name, value] of entriesOf(given)) {
    const refusedName = unsendableHeader(name, value)
    if (refusedName !== undefined) throw refused("Encode", refusals.header(refusedName))
    const key = name.toLowerCase()
    if (connectionHeaders.has(key) || key === "content-length") continue
    headers.set(key, seen.has(key) ? `${headers.get(key)}, ${value}` : value)
    seen.add(key)
  }
  return Object.fromEntries(headers)
}

/** Bodies of a `Request` up to this size are read into memory, so that they have a length and can be sent again. */
const mostBuffered = 1024 * 1024

/** The bytes of a short body, or a long body as a stream. */
const buffered = async (
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal | undefined
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>> => {
  const reader = body.getReader()
  const abort = () => void reader.cancel(signal?.reason).catch(() => undefined)
  signal?.addEventListener("abort", abort, { once: true })
  const chunks: Array<Uint8Array<ArrayBuffer>> = []
  let size = 0
  try {
    while (size <= mostBuffered) {
      const { done, value } = await reader.read()
      signal?.throwIfAborted()
      if (done) return joined(chunks)
      chunks.push(value)
      size += value.length
    }
  } finally {
    signal?.removeEventListener("abort", abort)
  }
  return new ReadableStream({
    pull: async (controller) => {
      const chunk = chunks.shift()
      if (chunk !== undefined) return controller.enqueue(chunk)
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason)
  }, { highWaterMark: 0 })
}

/** Rejects with the reason of the signal, whatever the promise does. */
const unlessAborted = <A>(promise: Promise<A>, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
  })
}

const bodyOf = async (request: RequestLike, signal: AbortSignal | undefined): Promise<BodyInit | undefined> => {
  const { body } = request
  if (body === null) return undefined
  if (request.bodyUsed === true) throw new TypeError("The body of the Request was read already")
  return body instanceof ReadableStream
    ? await buffered(body, signal)
    : await unlessAborted(request.arrayBuffer().then((bytes) => new Uint8Array(bytes)), signal)
}

const optionsOf = (
  url: string,
  from: {
    readonly method: string
    readonly headers: HeadersInit | undefined
    readonly signal: AbortSignal | undefined
  },
  body: BodyInit | null | undefined,
  init: RequestInit | undefined
): Arguments => {
  // `Request` leaves `patch` in lower case
  const method = from.method.toUpperCase()
  if (!isMethod(method)) throw refused("Encode", refusals.method(from.method))
  const hasBody = body !== undefined && body !== null
  if (hasBody && (method === "GET" || method === "HEAD")) {
    throw refused("Encode", `A ${method} has no body, so nothing was sent. Send the content with POST`)
  }
  const canBeSentAgain = isReadableAgain(body)
  if (!canBeSentAgain && (method === "DELETE" || method === "OPTIONS")) {
    throw refused("Encode", refusals.unframed(method))
  }
  return { url, method, headers: headersOf(from.headers), body, signal: from.signal, canBeSentAgain, init }
}

const fromRequest = async (input: RequestLike, init: RequestInit | undefined): Promise<Arguments> => {
  const signal = init?.signal === undefined ? input.signal : init.signal ?? undefined
  if (signal === input.signal) owners.set(signal, input)
  signal?.throwIfAborted()
  const body = init?.body === undefined ? await bodyOf(input, signal) : init.body
  const from = { method: init?.method ?? input.method, headers: init?.headers ?? [...input.headers], signal }
  return optionsOf(input.url, from, body, init)
}

/** Throws what is wrong with the arguments of a `fetch`. Only the body of a `Request` takes time. */
export const parse = (input: unknown, init: RequestInit | undefined): Arguments | Promise<Arguments> => {
  if (isRequestLike(input)) return fromRequest(input, init)
  if (!Predicate.isString(input) && !isUrl(input)) throw new TypeError("Expected a URL or a Request")
  const signal = init?.signal ?? undefined
  signal?.throwIfAborted()
  const from = { method: init?.method ?? "GET", headers: init?.headers, signal }
  return optionsOf(Predicate.isString(input) ? input : input.href, from, init?.body, init)
}
