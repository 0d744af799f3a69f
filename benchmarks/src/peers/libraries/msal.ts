import {
  ConfidentialClientApplication,
  type INetworkModule,
  type NetworkResponse,
  ProtocolMode
} from "@azure/msal-node"
import { clientId, clientSecret, type Make, nothing, overFetch } from "../peer.ts"

const authority = "https://login.example"

/** Sends MSAL's requests, which have to be for a server with TLS, to the token server. */
const networkTo = (base: string): INetworkModule => {
  const send = async <T>(url: string, init: RequestInit): Promise<NetworkResponse<T>> => {
    const response = await fetch(url.replace(authority, base), init)
    const body: T = await response.json()
    return { status: response.status, headers: Object.fromEntries(response.headers), body }
  }
  return {
    sendGetRequestAsync: (url, options) => send(url, { headers: options?.headers ?? {} }),
    sendPostRequestAsync: (url, options) =>
      send(url, { method: "POST", headers: options?.headers ?? {}, body: options?.body ?? "" })
  }
}

export const make: Make = (base) => {
  const client = new ConfidentialClientApplication({
    auth: {
      clientId,
      clientSecret,
      authority,
      knownAuthorities: [new URL(authority).host],
      authorityMetadata: JSON.stringify({
        issuer: authority,
        authorization_endpoint: `${authority}/authorize`,
        token_endpoint: `${authority}/oauth2/token`,
        end_session_endpoint: `${authority}/logout`,
        jwks_uri: `${authority}/keys`
      })
    },
    system: { protocolMode: ProtocolMode.OIDC, networkClient: networkTo(base) }
  })
  return Promise.resolve({
    get: async () => {
      const result = await client.acquireTokenByClientCredential({ scopes: ["data-access:all/.default"] })
      if (result === null) throw new Error("no token")
      return result.accessToken
    },
    dispose: nothing
  })
}

export const makeCalls = overFetch(make)
