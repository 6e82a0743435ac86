/**
 * When the wrapper writes down what it knows: soon after it knows something, at once when upstream is lost, and otherwise at most once in an interval; never
 * while nothing has changed. Times are milliseconds of one steady clock.
 */

/** How often may be written. All in milliseconds. */
export interface Pace {
  /** between two writes, while upstream is there */
  readonly interval: number
  /** between two writes, whatever happens: an upstream that comes and goes must not wear out a disk. Also from the first change to the first write. */
  readonly gap: number
  /** from a write that failed to the next */
  readonly retry: number
}

export interface Keeping {
  /** when the first change came that isn't written */
  readonly changed: number | undefined
  /** upstream was lost since that change */
  readonly urgent: boolean
  /** what is being written, and since when; besides, as above, what there was to write */
  readonly writing:
    { readonly since: number; readonly changed: number | undefined; readonly urgent: boolean } | undefined
  /** when the last write that went well began */
  readonly wrote: number | undefined
  /** when the last write failed, unless one went well since */
  readonly failed: number | undefined
}

export type Occasion =
  /** what would be written is another now */
  | { readonly _tag: "Changed" }
  /** upstream doesn't answer any more */
  | { readonly _tag: "Lost" }
  /** a write began, of what is known at this moment */
  | { readonly _tag: "Began" }
  | { readonly _tag: "Wrote" }
  | { readonly _tag: "Failed" }

export const unchanged: Keeping = {
  changed: undefined,
  urgent: false,
  writing: undefined,
  wrote: undefined,
  failed: undefined
}

/** The state after something happened at a time. */
export const keeping = (state: Keeping, occasion: Occasion, at: number): Keeping => {
  const { changed, urgent, writing } = state
  switch (occasion._tag) {
    case "Changed":
      return { ...state, changed: changed ?? at }
    case "Lost":
      return { ...state, urgent: changed !== undefined }
    case "Began":
      return { ...state, changed: undefined, urgent: false, writing: { since: at, changed, urgent } }
    case "Wrote":
      return { ...state, writing: undefined, wrote: writing?.since ?? at, failed: undefined }
    case "Failed":
      return {
        ...state,
        changed: writing?.changed ?? changed,
        urgent: urgent || writing?.urgent === true,
        writing: undefined,
        failed: at
      }
  }
}

/** When the next write is due; undefined: not before something happens. One that is under way has to end first. */
export const due = (state: Keeping, { interval, gap, retry }: Pace): number | undefined => {
  const { changed, urgent, writing, wrote, failed } = state
  if (changed === undefined || writing !== undefined) return undefined
  const paced = wrote === undefined ? changed + (urgent ? 0 : gap) : wrote + (urgent ? gap : interval)
  return Math.max(changed, paced, failed === undefined ? changed : failed + retry)
}

/** Whether there is something that a stop would lose. */
export const unwritten = ({ changed, writing }: Keeping): boolean =>
  changed !== undefined || writing !== undefined
