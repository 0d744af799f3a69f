import {
  bearerTokenAuthenticationPolicy,
  createDefaultHttpClient,
  createEmptyPipeline,
  createPipelineRequest,
  type PipelineRequest
} from "@azure/core-rest-pipeline"
import { clientId, clientSecret, isTokenResponse, type Make, type MakeCalls, nothing } from "../peer.ts"

const pipelineFor = (base: string) => {
  const pipeline = createEmptyPipeline()
  const getToken = async () => {
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret }
    const sentAt = Date.now()
    const response = await fetch(`${base}/oauth2/token`, { method: "POST", body: new URLSearchParams(form) })
    const body: unknown = await response.json()
    if (!isTokenResponse(body)) throw new Error("no token")
    return { token: body.access_token, expiresOnTimestamp: sentAt + body.expires_in * 1_000 }
  }
  pipeline.addPolicy(bearerTokenAuthenticationPolicy({ credential: { getToken }, scopes: "scope" }))
  return pipeline
}

/** The policy adds a token only to requests over TLS. */
const api = "https://api.example"

export const make: Make = (base) => {
  const pipeline = pipelineFor(base)
  const read = {
    sendRequest: (request: PipelineRequest) => Promise.resolve({ request, status: 200, headers: request.headers })
  }
  return Promise.resolve({
    get: async () => {
      const { headers } = await pipeline.sendRequest(read, createPipelineRequest({ url: api }))
      return headers.get("authorization")?.slice("Bearer ".length) ?? ""
    },
    dispose: nothing
  })
}

export const makeCalls: MakeCalls = (url, path, base) => {
  const pipeline = pipelineFor(base)
  const client = createDefaultHttpClient()
  const local = {
    sendRequest: (request: PipelineRequest) => {
      request.url = request.url.replace(api, url)
      request.allowInsecureConnection = true
      return client.sendRequest(request)
    }
  }
  return Promise.resolve({
    call: async () => (await pipeline.sendRequest(local, createPipelineRequest({ url: api + path }))).status,
    dispose: nothing
  })
}
