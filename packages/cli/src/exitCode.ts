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
