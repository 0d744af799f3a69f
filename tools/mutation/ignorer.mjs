// Leaves out the options of `sharedLayer`: only Effect 4 reads them, so no test on Effect 3 can detect a mutant of them.

const optionsOfSharedLayer = {
  shouldIgnore: (path) =>
    path.listKey === "arguments" && path.key === 1 &&
      path.parentPath.get("callee").isIdentifier({ name: "sharedLayer" })
      ? "Only Effect 4 reads the options of sharedLayer."
      : undefined
}

export const strykerPlugins = [{ kind: "Ignore", name: "optionsOfSharedLayer", value: optionsOfSharedLayer }]
