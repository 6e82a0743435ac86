/** Waiting for something to become so, with an end that says what didn't come. */

export interface Wait {
  /** what is waited for, as it should be read after "did not come: " */
  readonly what: string
  readonly seconds: number
}

/** What the probe gives as soon as that isn't undefined or false; fails after the time, with the probe's last error if it had one. */
export const until = async <A>(
  wait: Wait,
  probe: () => Promise<A | undefined | false> | A | undefined | false
): Promise<A> => {
  const end = performance.now() + wait.seconds * 1000
  let last = ""
  for (;;) {
    try {
      const found = await probe()
      if (found !== undefined && found !== false) return found
      last = ""
    } catch (error) {
      if (error instanceof GivenUp) throw error
      last = `, at last: ${error instanceof Error ? error.message : String(error)}`
    }
    if (performance.now() > end) throw new Error(`did not come within ${wait.seconds} s: ${wait.what}${last}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Is there after a period that is itself the subject: how long a fault lasts, never how long something may take. */
export const during = (seconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, seconds * 1000)))

/** Thrown by a probe that knows that waiting on is of no use. */
export class GivenUp extends Error {}
