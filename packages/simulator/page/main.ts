import { checkKey } from "./actions.ts"
import "./copy.ts"
import { $, setText } from "./dom.ts"
import { follow } from "./events.ts"
import { setLive } from "./key.ts"
import { clearRequests, putRequest, setConnected } from "./requests.ts"
import { putState } from "./settings.ts"
import { showClock } from "./time.ts"
import { clearTokens, putToken, showLife } from "./tokens.ts"

const showConnection = (isLive: boolean) => {
  const text = isLive ? "Live" : "Disconnected"
  setText($("live"), text)
  $("live").className = text
  $("lost").hidden = isLive
  setLive(isLive)
  setConnected(isLive)
  if (isLive) void checkKey()
}

const forget = () => {
  clearRequests()
  clearTokens()
}

void follow({ reset: forget, request: putRequest, token: putToken, state: putState }, showConnection)
setInterval(() => {
  showClock()
  showLife()
}, 1000)
