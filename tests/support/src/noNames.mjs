// Loaded before a program, makes this machine one without DNS: only addresses and localhost resolve.
import dns from "node:dns"
import { syncBuiltinESMExports } from "node:module"
import { isIP } from "node:net"

const { lookup } = dns
const lookupPromise = dns.promises.lookup

const isLocal = (name) => isIP(name) !== 0 || name === "localhost"

const failure = (name) =>
  Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), { code: "EAI_AGAIN", hostname: name })

dns.lookup = (name, ...others) =>
  isLocal(name) ? lookup(name, ...others) : process.nextTick(others.at(-1), failure(name))

dns.promises.lookup = async (name, options) => {
  if (!isLocal(name)) throw failure(name)
  return await lookupPromise(name, options)
}

syncBuiltinESMExports()
