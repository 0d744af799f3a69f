import { useRoute } from "vitepress"
import DefaultTheme from "vitepress/theme"
import { nextTick, onMounted, watch } from "vue"
import { followLine } from "./line.ts"

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute()
    const show = followLine()
    onMounted(show)
    watch(() => route.path, () => nextTick(show))
  }
}
