/**
 * Lets a class field of a subclass be the message of an error. `Schema.TaggedError` has an accessor without a setter, which a compiler
 * that turns class fields into assignments, such as Babel or an older target of TypeScript, would try to assign.
 */
export const ownMessage = <C extends { readonly prototype: Error }>(base: C): C => {
  Object.defineProperty(base.prototype, "message", { value: "", writable: true, configurable: true })
  return base
}
