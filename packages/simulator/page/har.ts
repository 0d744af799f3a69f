import { check } from "./actions.ts"
import { $, h } from "./dom.ts"
import { get } from "./key.ts"

/** Saves the requests as an HTTP archive. Its secrets are masked. */
$("har").onclick = async () => {
  const response = await check(await get("har"))
  if (!response) return
  const link = h("a") as HTMLAnchorElement
  link.href = URL.createObjectURL(await response.blob())
  link.download = "simulator.har"
  link.click()
  URL.revokeObjectURL(link.href)
}
