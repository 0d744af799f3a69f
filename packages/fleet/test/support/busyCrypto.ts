let pending = 0

const counted =
  <Args extends ReadonlyArray<unknown>, A>(work: (...args: Args) => Promise<A>) => (...args: Args): Promise<A> => {
    pending++
    return work(...args).finally(() => {
      // the waiting fiber continues within the next turns of the event loop
      setImmediate(() => pending--)
    })
  }

const { subtle } = crypto

Object.assign(subtle, {
  decrypt: counted(subtle.decrypt.bind(subtle)),
  deriveBits: counted(subtle.deriveBits.bind(subtle)),
  encrypt: counted(subtle.encrypt.bind(subtle)),
  importKey: counted(subtle.importKey.bind(subtle))
})

/** Whether WebCrypto is at work, which a virtual clock has to wait for. */
export const isBusy = () => pending > 0
