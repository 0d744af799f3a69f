export * as Fault from "./Fault.ts"
export * as Received from "./Received.ts"
export * as Simulator from "./Simulator.ts"
