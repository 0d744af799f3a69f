// The package has no types.

declare module "undici-oidc-interceptor" {
  import type { Dispatcher } from "undici"

  export const createOidcInterceptor: (options: {
    readonly idpTokenUrl: string
    readonly clientId: string
    readonly clientSecret: string
    readonly urls: ReadonlyArray<string>
    readonly retryOnStatusCodes: ReadonlyArray<number>
  }) => Dispatcher.DispatcherComposeInterceptor
}
