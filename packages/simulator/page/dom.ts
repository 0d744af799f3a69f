/** The element with this id. The page has it from the start. */
export const $ = <A extends HTMLElement = HTMLElement>(id: string): A => document.getElementById(id) as A

/** A new element, such as `span`, or `span.tag` with a class. Text goes in as text, so what a request contains never becomes markup. */
export const h = (name: string, ...children: ReadonlyArray<Node | string>): HTMLElement => {
  const [tag = "", className = ""] = name.split(".")
  const element = document.createElement(tag)
  element.className = className
  element.append(...children)
  return element
}

/** Sets the text only if it changed, so that the browser has nothing to do otherwise. */
export const setText = (element: HTMLElement, text: string | number): void => {
  if (element.textContent !== `${text}`) element.textContent = `${text}`
}

/** Fills a list with pairs of a text and a mark. */
export const showPairs = (id: string, pairs: ReadonlyArray<readonly [text: string, mark: string | number]>): void =>
  $(id).replaceChildren(...pairs.map(([text, mark]) => h("li", text, h("span.tag", `${mark}`))))

/** Makes a change with the next frame, however often it is asked for. */
export const onceAFrame = (change: () => void): () => void => {
  let frame = 0
  return () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0
      change()
    })
  }
}
