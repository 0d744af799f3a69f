import mermaid from "mermaid"
import { useData, useRoute } from "vitepress"
import DefaultTheme from "vitepress/theme"
import { nextTick, onMounted, watch } from "vue"
import { followLine } from "./line.ts"

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute()
    const { isDark } = useData()
    const draw = async () => {
      await nextTick()
      mermaid.initialize({ startOnLoad: false, theme: isDark.value ? "dark" : "default" })
      await mermaid.run({ querySelector: "pre.mermaid:not([data-processed])" })
    }
    onMounted(draw)
    watch(() => route.path, draw)
    const show = followLine()
    onMounted(show)
    watch(() => route.path, () => nextTick(show))
  }
}
