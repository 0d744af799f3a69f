import { get } from "./key.ts"

/** The id of the last event. The simulator continues after it when the connection was lost. */
let last = ""

/** Handles one event of the stream (HTML standard, section 9.2). */
const handle = (block: string, on: Readonly<Record<string, (data: never) => void>>) => {
  const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/)))
  last = fields["id"] ?? last
  if (fields["data"]) on[fields["event"] ?? ""]?.(JSON.parse(fields["data"]) as never)
}

/** Follows the events of the simulator, and connects again when the connection is lost. An `EventSource` could send the key only in its address. */
export const follow = async (
  on: Readonly<Record<string, (data: never) => void>>,
  setConnected: (connected: boolean) => void
): Promise<void> => {
  try {
    const response = await get("events", { "last-event-id": last })
    if (response?.ok && response.body) {
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      setConnected(true)
      let text = ""
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const blocks = (text + part.value).split("\n\n")
        text = blocks.pop() ?? ""
        for (const block of blocks) handle(block, on)
      }
    }
  } catch {
    // the connection is lost
  }
  setConnected(false)
  setTimeout(follow, 1000, on, setConnected)
}
