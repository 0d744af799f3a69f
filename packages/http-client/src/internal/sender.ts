import * as Predicate from "effect/Predicate"
import { callFailure } from "./callFailure.ts"

// How the calls of a `fetch` end: by their signal, and when the scope closes.

/** Sends the requests of calls. */
export interface Sender {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Ends the calls in progress, and the bodies that are being read, with this reason. */
  readonly close: (reason: unknown) => void
}

/** A call, until it has failed or its body has ended. */
interface OpenCall {
  readonly url: string
  /** With the token, which an error of the body may quote. */
  readonly headers: RequestInit["headers"]
  readonly abort: (reason?: unknown) => void
  /** Removes the listener of the caller's signal. */
  readonly forget: () => void
  /** Set until there is a response. It would keep the response from being collected. */
  reject: ((reason: unknown) => void) | undefined
  /** Two readers of a clone end at different times. */
  isCloned: boolean
}

/**
 * A `fetch` of the program, whose calls end when the sender closes. Each call has a controller, because a signal that is shared by all
 * calls would collect their listeners. The body of a response that breaks off rejects with what `present` makes of the failure.
 */
export const ofFetch = (fetch: typeof globalThis.fetch, present: (error: unknown) => unknown): Sender => {
  const open = new Set<OpenCall>()
  const calls = new WeakMap<Response, OpenCall>()
  const bodies = new WeakMap<Response, ReadableStream<Uint8Array<ArrayBuffer>>>()
  const end = (call: OpenCall) => {
    call.forget()
    open.delete(call)
  }
  const collected = new FinalizationRegistry<OpenCall>((call) => {
    if (!open.has(call)) return
    end(call)
    // an abort of a clone that no one reads would be a rejection that no one handles; the platform ends it itself
    if (!call.isCloned) call.abort()
  })

  const failureOf = (call: OpenCall | undefined, error: unknown): unknown => {
    const authorization = new Headers(call?.headers).get("authorization") ?? undefined
    return present(callFailure(error, { url: call?.url ?? "", authorization }, "Body"))
  }

  const reading = async <A>(response: Response, content: Promise<A>): Promise<A> => {
    const call = calls.get(response)
    try {
      return await content
    } catch (error) {
      throw failureOf(call, error)
    } finally {
      if (call !== undefined && !call.isCloned) end(call)
    }
  }

  /** Takes the body of the response when it is read first: until then, the response can be read in another way. */
  const tracked = (
    response: Response,
    body: ReadableStream<Uint8Array<ArrayBuffer>>
  ): ReadableStream<Uint8Array<ArrayBuffer>> => {
    const call = calls.get(response)
    let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined
    const stream = new ReadableStream({
      type: "bytes",
      pull: async (controller) => {
        try {
          reader ??= body.getReader()
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          controller.close()
          controller.byobRequest?.respond(0)
        } catch (error) {
          controller.error(failureOf(call, error))
        }
        if (call !== undefined && !call.isCloned) end(call)
      },
      cancel: async (reason) => {
        if (call !== undefined && !call.isCloned) end(call)
        await (reader ?? body).cancel(reason)
      }
    })
    if (call !== undefined) {
      // the response may be collected before its body ends
      collected.unregister(response)
      collected.register(stream, call)
    }
    return stream
  }

  const prototypes = new WeakMap<object, object>()
  const tracking = new WeakSet<object>()

  /** The prototype of what callers get: its readings fail as this sender's calls do. */
  const prototypeOf = (base: object): object => {
    const known = prototypes.get(base)
    if (known !== undefined) return known
    const made: object = Object.create(base, {
      body: {
        configurable: true,
        get(this: Response) {
          const body: Response["body"] = Reflect.get(base, "body", this)
          if (body === null) return null
          const read = bodies.get(this) ?? tracked(this, body)
          bodies.set(this, read)
          return read
        }
      },
      clone: {
        configurable: true,
        value(this: Response) {
          const call = calls.get(this)
          if (call !== undefined) call.isCloned = true
          return track(Reflect.apply(Reflect.get(base, "clone"), this, []), call)
        }
      }
    })
    // a version of Node may lack `bytes`
    for (const name of ["arrayBuffer", "blob", "bytes", "formData", "json", "text"]) {
      const read: unknown = Reflect.get(base, name)
      if (!Predicate.isFunction(read)) continue
      Object.defineProperty(made, name, {
        configurable: true,
        value(this: Response) {
          return reading(this, Reflect.apply(read, this, []))
        }
      })
    }
    prototypes.set(base, made)
    tracking.add(made)
    return made
  }

  const track = (response: Response, call: OpenCall | undefined): Response => {
    // a `fetch` of another library has responses of its own, whose errors remain as they are
    if (response instanceof Response) {
      const base = Object.getPrototypeOf(response)
      // the `fetch` of a test may return a response twice
      if (!tracking.has(base)) Object.setPrototypeOf(response, prototypeOf(base))
    }
    if (call !== undefined) {
      calls.set(response, call)
      collected.register(response, call, response)
    }
    return response
  }

  return {
    fetch: async (url, init) => {
      const controller = new AbortController()
      const signal = init.signal ?? undefined
      const abort = (reason?: unknown) => {
        controller.abort(reason)
        call.reject?.(controller.signal.reason)
      }
      const listener = () => abort(signal?.reason)
      const call: OpenCall = {
        url,
        headers: init.headers,
        abort,
        forget: () => signal?.removeEventListener("abort", listener),
        reject: undefined,
        isCloned: false
      }
      signal?.addEventListener("abort", listener, { once: true })
      open.add(call)
      try {
        const response = await new Promise<Response>((resolve, reject) => {
          // a `fetch` may ignore its signal, and a fake may return no Promise
          call.reject = reject
          Promise.resolve(fetch(url, { ...init, signal: controller.signal })).then(resolve, reject)
        })
        call.reject = undefined
        if (!Predicate.hasProperty(response, "status") || !Predicate.hasProperty(response, "headers")) {
          throw new TypeError("The given fetch returned no Response")
        }
        if (response.body === null) end(call)
        return track(response, call)
      } catch (error) {
        end(call)
        throw error
      }
    },
    close: (reason) => {
      for (const { abort } of open) abort(reason)
      open.clear()
    }
  }
}
