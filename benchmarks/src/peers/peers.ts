import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { effect4 } from "../effect4.ts"
import * as effect3 from "../line/line.ts"
import * as azure from "./libraries/azure.ts"
import * as badgateway from "./libraries/badgateway.ts"
import * as ballatech from "./libraries/ballatech.ts"
import * as effectCache from "./libraries/effectCache.ts"
import * as msal from "./libraries/msal.ts"
import * as openid from "./libraries/openid.ts"
import * as promise from "./libraries/promise.ts"
import * as simple from "./libraries/simple.ts"
import * as undici from "./libraries/undici.ts"
import type { Make, MakeCalls } from "./peer.ts"

/** A library that obtains tokens. */
export interface Peer {
  readonly name: string
  /** The package whose version was measured. */
  readonly installed?: string
  /** How it is set up, and the code that was written around it. */
  readonly note: string
  /** What these packages do and it does not. */
  readonly leavesOut: string
  readonly make: Make
  readonly makeCalls: MakeCalls
}

/** The names of these packages: on Effect 3, on Effect 4, and without Effect. */
export const us = "@credit-data"
export const us4 = "@credit-data, Effect 4"
export const usPromise = "@credit-data/promise"

const ours: ReadonlyArray<Peer> = [
  {
    name: us,
    note: "`AuthV2.layer`, and a Promise from `runPromise` of an Effect runtime; calls over `FetchHttpClient`",
    leavesOut: "",
    make: effect3.makeSupply,
    makeCalls: (...where) => Promise.resolve(effect3.makeCalls(...where))
  },
  {
    name: us4,
    note: "the same, on Effect 4",
    leavesOut: "",
    make: async (base) => (await effect4).makeSupply(base),
    makeCalls: async (...where) => (await effect4).makeCalls(...where)
  },
  {
    name: usPromise,
    note: "`connect`, its `token` and its `dataAccess`, as it is published; calls over its own `node:http`",
    leavesOut: "",
    make: promise.make,
    makeCalls: promise.makeCalls
  }
]

/** It was written again, so it is not compared with the lowest and the highest figures of the others. */
export const ballatechName = "@ballatech/effect-oauth-client, rebuilt"

export const peers: ReadonlyArray<Peer> = [
  ...ours,
  {
    name: "Effect's Cache",
    installed: "effect",
    note:
      "our own code around `Cache.makeWith` of Effect 3: 90 % of the lifetime, and failures are kept for a second; " +
      "calls over `FetchHttpClient`",
    leavesOut: "renewal in the background, pauses that grow, `Retry-After`, a replacement after a 401",
    make: effectCache.make,
    makeCalls: effectCache.makeCalls
  },
  {
    name: ballatechName,
    note:
      "its way of caching, rebuilt by us with its defaults ([the file](../src/peers/libraries/rebuilt.ts)): `cachedInvalidateWithTTL` for an " +
      "hour, renewed five minutes before the token expires. A 401 drops the token, and the call is sent once more; " +
      "calls over `FetchHttpClient`",
    leavesOut:
      "renewal in the background, and pauses: a failure is kept as long as a token, for an hour. The call that is sent " +
      "again has the rejected token; the next call has a new one",
    make: ballatech.make,
    makeCalls: ballatech.makeCalls
  },
  {
    name: "@badgateway/oauth2-client",
    installed: "@badgateway/oauth2-client",
    note:
      "`OAuth2Fetch.getAccessToken`, and its `fetch`, which requests a token after a 401 and sends the call once more",
    leavesOut: "a margin before a token expires, a pause after a failure",
    make: badgateway.make,
    makeCalls: badgateway.makeCalls
  },
  {
    name: "simple-oauth2",
    installed: "simple-oauth2",
    note:
      "keeps no token: our own code around it shares a request, and renews at 90 % of the lifetime; calls over `fetch`",
    leavesOut: "everything but the request",
    make: simple.make,
    makeCalls: simple.makeCalls
  },
  {
    name: "openid-client",
    installed: "openid-client",
    note: "keeps no token: the same code around it",
    leavesOut: "everything but the request",
    make: openid.make,
    makeCalls: openid.makeCalls
  },
  {
    name: "@azure/core-rest-pipeline",
    installed: "@azure/core-rest-pipeline",
    note: "a pipeline with its bearer policy, its default HttpClient over `node:http`, and a credential of a few lines",
    leavesOut:
      "a pause after a failure while there is no token, a replacement after a 401 without a challenge. It renews two minutes before " +
      "the token expires, because our credential does not set `refreshAfterTimestamp`",
    make: azure.make,
    makeCalls: azure.makeCalls
  },
  {
    name: "@azure/msal-node",
    installed: "@azure/msal-node",
    note:
      "`acquireTokenByClientCredential`, with the metadata of the server as an option and a network module of a few lines; " +
      "calls over `fetch`",
    leavesOut:
      "one request for all waiting callers, handling of a 401. It renews five minutes before a token expires, because our responses have no " +
      "`refresh_in`",
    make: msal.make,
    makeCalls: msal.makeCalls
  },
  {
    name: "undici-oidc-interceptor",
    installed: "undici-oidc-interceptor",
    note:
      "an interceptor of an undici `Agent`, through which the calls are sent with `request`; it requires tokens that are " +
      "JSON Web Tokens",
    leavesOut: "a pause after a failure, and the last 10 seconds of each token's lifetime",
    make: undici.make,
    makeCalls: undici.makeCalls
  }
]

/** The installed version of each library. */
export const versions = (): Readonly<Record<string, string>> =>
  Object.fromEntries(peers.flatMap(({ installed, name }) => {
    if (installed === undefined) return []
    const file = fileURLToPath(new URL(`../node_modules/${installed}/package.json`, import.meta.url))
    const { version }: { readonly version: string } = JSON.parse(readFileSync(file, "utf8"))
    return [[name, version]]
  }))
