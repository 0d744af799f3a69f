import * as AdminApi from "./AdminApi.ts"

/** The response to a request without the key. */
export const invalidKey = new AdminApi.InvalidKey({
  message: "The key is missing or wrong. Send the key that the simulator printed, in the header x-api-key."
})
