// What a library is measured by.

/** A supply of tokens, set up as the documentation of the library describes. */
export interface Supply {
  readonly get: () => Promise<string>
  readonly dispose: () => Promise<void>
}

/** Authenticated calls of a business API. A call returns its status when its body has been read. */
interface Calls {
  readonly call: () => Promise<number>
  readonly dispose: () => Promise<void>
}

/** Makes a supply. It adds the path `/oauth2/token` to the base. */
export type Make = (base: string) => Promise<Supply>

/** Makes calls in the way of the library's users. */
export type MakeCalls = (url: string, path: string, base: string) => Promise<Calls>

export const clientId = "id"
export const clientSecret = "secret"
export const nothing = () => Promise.resolve()

interface TokenResponse {
  readonly access_token: string
  readonly expires_in: number
}

export const isTokenResponse = (value: unknown): value is TokenResponse =>
  typeof value === "object" && value !== null && "access_token" in value && "expires_in" in value

/** Calls over the global `fetch`, for a library that only supplies tokens. */
export const overFetch = (make: Make): MakeCalls => async (url, path, base) => {
  const { dispose, get } = await make(base)
  return {
    call: async () => {
      const response = await fetch(url + path, { headers: { authorization: `Bearer ${await get()}` } })
      await response.text()
      return response.status
    },
    dispose
  }
}

/** The code that users of a library without a cache write: one request for all callers, renewed at 90 % of the lifetime. */
export const keeping = (request: () => Promise<{ readonly text: string; readonly seconds: number }>): Supply => {
  let token: Promise<string> | undefined
  let until = 0
  return {
    get: () => {
      if (token !== undefined && performance.now() < until) return token
      until = Infinity
      token = request().then(({ seconds, text }) => {
        until = performance.now() + seconds * 900
        return text
      })
      token.catch(() => {
        until = 0
      })
      return token
    },
    dispose: nothing
  }
}
