/* eslint-env jest */
const { connect, connectTest, InvalidClient } = require("@credit-data/promise")

const variables = { ...process.env }

test("a call", async () => {
  const api = await connect({ variables })
  const response = await api.dataAccess("/data-access/consumers/42")
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ path: "/data-access/consumers/42" })
  await api.close()
})

test("a body with bytes", async () => {
  const api = await connectTest(async (request) => new Response(await request.arrayBuffer()))
  const response = await api.furnishment("/furnishment/submissions", { method: "POST", body: new Uint8Array([1, 2]) })
  expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([1, 2])
  await api.close()
})

test("a failure", async () => {
  const api = await connect({
    variables: { ...variables, CREDIT_DATA_CLIENT_SECRET: "another secret" },
    log: { debug() {}, info() {}, warn() {}, error() {} }
  })
  await expect(api.dataAccess("/data-access/consumers/42")).rejects.toBeInstanceOf(InvalidClient)
  await api.close()
})
