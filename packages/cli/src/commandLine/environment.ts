/** The variables that only the command reads, for the help and the documentation. The adapters describe the others. */
export const environment: Readonly<Record<string, string>> = {
  CREDIT_DATA_PROFILE: "the name of a profile, which replaces the variables of the client",
  XDG_CACHE_HOME: "the folder that contains the cache (~/.cache)",
  XDG_CONFIG_HOME: "the folder that contains the profiles (~/.config, or %APPDATA% on Windows)",
  HTTPS_PROXY: "the forward proxy (default: HTTP_PROXY); none for loopback addresses",
  NO_PROXY: "the hosts that are reached without a proxy"
}
