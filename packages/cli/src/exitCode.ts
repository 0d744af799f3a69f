/** The exit codes of the command. Scripts rely on them. */
export const exitCode = {
  success: 0,
  problem: 1,
  usage: 2,
  refused: 3,
  unavailable: 4,
  invalidResponse: 5,
  scopeMissing: 6,
  status: 22,
  defect: 70,
  /** The number of `EX_IOERR` in sysexits.h. */
  output: 74,
  interrupted: 130
} as const

/** What each exit code means, for the help and the documentation. */
export const meanings: Readonly<Record<(typeof exitCode)[keyof typeof exitCode], string>> = {
  [exitCode.success]: "success; `call`: any response, unless there is --fail",
  [exitCode.problem]: "`doctor` or `compare` found a problem, or `compare` had nothing to compare",
  [exitCode.usage]: "wrong usage or configuration; `status`: no cached token",
  [exitCode.refused]: "the token endpoint refused the client",
  [exitCode.unavailable]: "no response, or a temporary failure of the token endpoint: try again later",
  [exitCode.invalidResponse]: "the token endpoint returned an invalid response or another error, such as invalid_scope",
  [exitCode.scopeMissing]: "`token` or `exec`: the token lacks a requested scope",
  [exitCode.status]: "`call --fail`: the status of the response is 400 or more",
  [exitCode.defect]: "a bug in this command",
  [exitCode.output]: "the output cannot be written, or `call` got a binary body for a terminal",
  [exitCode.interrupted]: "interrupted"
}
