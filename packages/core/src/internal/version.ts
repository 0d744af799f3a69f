/** The version of this package. A library cannot import its package.json in every runtime and bundle, so the release writes it here too. */
export const version = "0.0.0"
