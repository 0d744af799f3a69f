import type { connect } from "@credit-data/promise"
import { clientId, clientSecret, type Make, type MakeCalls } from "../peer.ts"

/** The package as it is published: one bundled file. */
const published: Promise<{ readonly connect: typeof connect }> = import(
  new URL("../../packages/promise/lib/index.js", import.meta.url).href
)

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const open = async (baseUrl: string, base: string) =>
  (await published).connect({
    variables: {
      CREDIT_DATA_ENVIRONMENT: "benchmark",
      CREDIT_DATA_AUDIENCE: "a",
      CREDIT_DATA_BASE_URL: baseUrl,
      CREDIT_DATA_AUTH_V2_URL: base,
      CREDIT_DATA_CLIENT_ID: clientId,
      CREDIT_DATA_CLIENT_SECRET: clientSecret,
      CREDIT_DATA_SCOPES: "data-access:all"
    },
    log: silent
  })

export const make: Make = async (base) => {
  const { close, token } = await open(base, base)
  return { get: token, dispose: close }
}

export const makeCalls: MakeCalls = async (url, path, base) => {
  const { close, dataAccess } = await open(url, base)
  return {
    call: async () => {
      const response = await dataAccess(path)
      await response.text()
      return response.status
    },
    dispose: close
  }
}
