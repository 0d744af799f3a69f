import { ClientCredentials } from "simple-oauth2"
import { clientId, clientSecret, keeping, type Make, overFetch } from "../peer.ts"

export const make: Make = async (base) => {
  const client = new ClientCredentials({
    client: { id: clientId, secret: clientSecret },
    auth: { tokenHost: base, tokenPath: `${new URL(base).pathname}/oauth2/token` },
    options: { authorizationMethod: "body" }
  })
  return keeping(async () => {
    const { token } = await client.getToken({})
    return { text: String(token["access_token"]), seconds: Number(token["expires_in"]) }
  })
}

export const makeCalls = overFetch(make)
