// What a browser bundle gets in place of this package: CommonJS, so that a bundler has nothing to miss among its exports
// and the reason is told where the program is run.
throw new Error(
  "@credit-data isn't for browsers: whoever opens the page could read the client secret and the access token. " +
    "Call the API from a server of yours, and that server from the page."
)
