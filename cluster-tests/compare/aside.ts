/** What isn't compared, and why: the whole list. */
import type { Difference } from "./differences.ts"
import { type Ask, isWatching, type Turn } from "./turns.ts"

interface Aside {
  readonly why: string
  readonly when: (difference: Difference, ask: Ask | undefined) => boolean
}

export const ASIDE: readonly Aside[] = [
  {
    why: "a list of any revision comes from a cache, whose own revision depends on when it last heard of others",
    when: ({ path }, ask) =>
      path === ".body.metadata.resourceVersion" &&
      ask?.query?.["resourceVersion"] !== undefined &&
      ask.query["resourceVersionMatch"] !== "Exact"
  },
  {
    why: "an ExternalName Service keeps an internalTrafficPolicy that a hook hides, except when it is deleted; so others own it later",
    when: ({ path, real, model }) =>
      path.endsWith("internalTrafficPolicy") && (real === undefined || model === undefined)
  },
  {
    why: "an apply to a custom object answers null where it emptied a field of metadata, which later answers leave out",
    when: ({ path, real, model }) =>
      /\.metadata\.(labels|annotations|finalizers)$/.test(path) && real === null && model === undefined
  }
]

export const isAside = (difference: Difference, turn: Turn): boolean =>
  ASIDE.some(({ when }) => when(difference, isWatching(turn) ? undefined : turn))
