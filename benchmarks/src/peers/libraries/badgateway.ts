import { OAuth2Client, OAuth2Fetch } from "@badgateway/oauth2-client"
import { clientId, clientSecret, type Make, type MakeCalls, nothing } from "../peer.ts"

const wrapperFor = (base: string) => {
  const client = new OAuth2Client({
    server: base,
    clientId,
    clientSecret,
    tokenEndpoint: `${base}/oauth2/token`,
    authenticationMethod: "client_secret_post"
  })
  return new OAuth2Fetch({ client, getNewToken: () => client.clientCredentials(), scheduleRefresh: false })
}

export const make: Make = (base) => {
  const wrapper = wrapperFor(base)
  return Promise.resolve({ get: () => wrapper.getAccessToken(), dispose: nothing })
}

export const makeCalls: MakeCalls = (url, path, base) => {
  const wrapper = wrapperFor(base)
  return Promise.resolve({
    call: async () => {
      const response = await wrapper.fetch(url + path)
      await response.text()
      return response.status
    },
    dispose: nothing
  })
}
