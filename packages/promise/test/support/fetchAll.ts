// A program that prints the body of each URL, or why there is none, and reads no body of a further call.

import { makeNodeFetch } from "../../src/internal/nodeFetch.ts"
import { describeError } from "./fetchHabits.ts"

const { fetch } = makeNodeFetch()
for (const url of process.argv.slice(2)) {
  await fetch(url).catch(() => {})
  console.log(await fetch(url).then((response) => response.text(), describeError))
}
