// A program with Promises: the first call gets the token that the environment describes.

import { connect } from "@credit-data/promise"

const api = await connect()
try {
  const response = await api.dataAccess("/data-access/consumers/42")
  console.log(response.status)
} catch (error) {
  console.log(String(error))
}
if (process.argv[2] === "close") await api.close()
