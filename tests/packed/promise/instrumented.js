import { connect } from "@credit-data/promise"

const api = await connect()
const response = await api.dataAccess("/data-access/consumers/42")
await response.text()
await api.close()
