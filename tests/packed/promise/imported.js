// How long the import takes, in milliseconds of CPU.

const before = process.cpuUsage()
await import("@credit-data/promise")
const { system, user } = process.cpuUsage(before)
console.log((system + user) / 1000)
