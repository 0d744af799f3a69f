// Replaces this package in a browser bundle. It is CommonJS, so that a bundler does not report missing exports and the program
// shows the reason when it runs.
throw new Error(
  "@credit-data isn't for browsers: anyone who opens the page could read the client secret and the access token. " +
    "Call the API from your own server, and call that server from the page."
)
