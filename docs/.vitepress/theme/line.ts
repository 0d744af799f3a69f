const key = "effect-line"

const tabsOf = (line: string) =>
  [...document.querySelectorAll<HTMLLabelElement>(".vp-code-group .tabs label")].filter((tab) =>
    tab.textContent === line
  )

/** Shows the line of Effect that the reader chose last in all tabs of the page. Returns what to do when another page is shown. */
export const followLine = (): () => void => {
  let isFollowing = false
  const show = (line: string) => {
    isFollowing = true
    for (const tab of tabsOf(line)) tab.click()
    isFollowing = false
  }
  if (typeof document !== "undefined") {
    document.addEventListener("click", ({ target }) => {
      if (isFollowing || !(target instanceof HTMLLabelElement) || target.closest(".vp-code-group") === null) return
      const line = target.textContent ?? ""
      localStorage.setItem(key, line)
      // the clicked element keeps its place
      const before = target.getBoundingClientRect().top
      show(line)
      scrollBy(0, target.getBoundingClientRect().top - before)
    })
  }
  return () => {
    const line = localStorage.getItem(key)
    if (line !== null) show(line)
  }
}
