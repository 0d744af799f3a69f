#!/usr/bin/env node
import { fileURLToPath } from "node:url"
import manifest from "../package.json" with { type: "json" }
import { create } from "./create.ts"
import { help, report, usage } from "./messages.ts"
import { parse } from "./parse.ts"
import { widthOf } from "./text.ts"

const request = parse(process.argv.slice(2), process.env)
switch (request._tag) {
  case "Help":
    process.stdout.write(help(manifest.version, widthOf(process.stdout)))
    break
  case "Version":
    process.stdout.write(`${manifest.version}\n`)
    break
  case "Wrong":
    process.stderr.write(usage(request.message, widthOf(process.stderr)))
    process.exitCode = 2
    break
  case "Create": {
    const { folder, kind } = request
    // the templates are next to the bundle
    const outcome = create(fileURLToPath(new URL(`./${kind}/`, import.meta.url)), folder)
    const isCreated = outcome._tag === "Created"
    const stream = isCreated ? process.stdout : process.stderr
    stream.write(report(outcome, folder, kind, widthOf(stream)))
    process.exitCode = isCreated ? 0 : 1
  }
}
