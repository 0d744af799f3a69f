let pending = 0

const counted = <A>(work: Promise<A>): Promise<A> => {
  pending++
  return work.finally(() => {
    // the fiber that waits for it goes on within the next turns of the event loop
    setImmediate(() => pending--)
  })
}

const { subtle } = crypto
const { decrypt, deriveBits, encrypt, importKey } = subtle

Object.assign(subtle, {
  decrypt: (...args: Parameters<typeof decrypt>) => counted(decrypt.apply(subtle, args)),
  deriveBits: (...args: Parameters<typeof deriveBits>) => counted(deriveBits.apply(subtle, args)),
  encrypt: (...args: Parameters<typeof encrypt>) => counted(encrypt.apply(subtle, args)),
  importKey: (...args: Parameters<typeof importKey>) => counted(importKey.apply(subtle, args))
})

/** Whether WebCrypto is at work, which a virtual clock has to wait for. */
export const isBusy = () => pending > 0
