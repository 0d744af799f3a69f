// Replaces this package in a bundle for workerd (Cloudflare Workers), see browser.cts.
throw new Error(
  "@credit-data does not run on workerd: a token is renewed in the background, for many requests, and workerd ends that work " +
    "together with the request that started it. Every later request would wait for it forever. Call the API from a Node, " +
    "Bun or Deno server, and call that server from the Worker."
)
