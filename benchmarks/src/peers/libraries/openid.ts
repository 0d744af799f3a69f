import { allowInsecureRequests, clientCredentialsGrant, ClientSecretPost, Configuration } from "openid-client"
import { clientId, clientSecret, keeping, type Make, overFetch } from "../peer.ts"

export const make: Make = async (base) => {
  const server = { issuer: base, token_endpoint: `${base}/oauth2/token` }
  const config = new Configuration(server, clientId, undefined, ClientSecretPost(clientSecret))
  allowInsecureRequests(config)
  return keeping(async () => {
    const { access_token, expires_in } = await clientCredentialsGrant(config)
    return { text: access_token, seconds: expires_in ?? 0 }
  })
}

export const makeCalls = overFetch(make)
