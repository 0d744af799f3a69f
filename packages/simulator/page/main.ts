import { checkKey } from "./actions.ts"
import "./copy.ts"
import { $, setText } from "./dom.ts"
import { setLive } from "./key.ts"
import { clearRequests, putRequest, setConnected } from "./requests.ts"
import { putState } from "./settings.ts"
import { showClock } from "./time.ts"
import { clearTokens, putToken, showLife } from "./tokens.ts"

const showConnection = (text: string) => {
  const isLive = text === "Live"
  setText($("live"), text)
  $("live").className = text
  $("lost").hidden = isLive
  setLive(isLive)
  setConnected(isLive)
}

/** The browser reconnects by itself, and sends the id of the last event that it got. */
const connect = () => {
  const events = new EventSource("/events")
  const on = (name: string, handle: (data: never) => void) =>
    events.addEventListener(name, ({ data }: MessageEvent<string>) => handle(JSON.parse(data) as never))
  on("reset", () => {
    clearRequests()
    clearTokens()
  })
  on("request", putRequest)
  on("token", putToken)
  on("state", putState)
  events.onopen = () => {
    showConnection("Live")
    void checkKey()
  }
  events.onerror = () => {
    showConnection("Disconnected")
    // the browser gives up if the response is no stream
    if (events.readyState === 2) setTimeout(connect, 2000)
  }
}

connect()
setInterval(() => {
  showClock()
  showLife()
}, 1000)
