import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePorts } from "./freePorts.ts"
import { startServer, temporaryFiles, temporaryFolder } from "./nginx.ts"

const page = readFileSync(new URL("../../../docs/deployment.md", import.meta.url), "utf8")

/** What haproxy needs to try another server, as the page advises. nginx does so by default. */
const advised = /```haproxy\n([^]*?)```/.exec(page)?.[1] ?? ""

/** Programs that distribute requests over connections that they keep. */
const loadBalancers = {
  nginx: {
    configuration: (folder: string, port: number, servers: ReadonlyArray<number>) =>
      `user root; daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
      events {}
      http {
        ${temporaryFiles(folder)}
        access_log off;
        upstream services {
          ${servers.map((server) => `server 127.0.0.1:${server} fail_timeout=1s;`).join("\n")}
          keepalive 16;
        }
        server {
          listen 127.0.0.1:${port};
          location / { proxy_pass http://services; proxy_http_version 1.1; proxy_set_header Connection ""; add_header x-server $upstream_addr; }
        }
      }`,
    args: (folder: string, file: string) => ["-p", folder, "-c", file]
  },
  haproxy: {
    configuration: (_: string, port: number, servers: ReadonlyArray<number>) =>
      `defaults
        mode http
        timeout connect 1s
        timeout client 30s
        timeout server 30s
      frontend callers
        bind 127.0.0.1:${port}
        http-response set-header x-server %s
        default_backend services
      backend services
        ${advised}
        option httpchk GET /health/live
        ${servers.map((server) => `server s${server} 127.0.0.1:${server} check inter 500ms`).join("\n")}
      `.replaceAll(/^ +/gm, ""),
    args: (_: string, file: string) => ["-db", "-f", file]
  }
} as const

/**
 * Starts a real load balancer in front of servers on these ports. It ends with the scope. Returns its address. The header `x-server` of a
 * response ends with the port of its server.
 */
export const startLoadBalancer = Effect.fnUntraced(
  function*(name: keyof typeof loadBalancers, servers: ReadonlyArray<number>) {
    const { args, configuration } = loadBalancers[name]
    const folder = yield* temporaryFolder(name)
    const port = yield* freePorts(1)
    const file = join(folder, "configuration")
    writeFileSync(file, configuration(folder, port, servers))
    yield* startServer([name, ...args(folder, file)], port)
    return `http://127.0.0.1:${port}`
  }
)
