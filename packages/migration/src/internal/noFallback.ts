/** There was a fallback to V1 tokens. Whoever still asks for it must not believe that it is there. */
export const noFallback =
  "Expected no fallback: V1 tokens never replace V2 tokens. Test V2 with the stage shadow and with compare, then use the stage v2, and " +
  "go back by the stage"
