/**
 * How a list or a watch begins: with all that is there, after a revision, or not at all (410).
 *
 * Revisions are this process's own: one that it never gave, or that it doesn't remember, leads to a new list, never to a guess.
 */
import type { Journal, Listing } from "./journal.ts"
import type { Options } from "./route.ts"

export interface All<A> {
  readonly _tag: "All"
  readonly listing: Listing<A>
  /** a bookmark says where the beginning ends */
  readonly marked: boolean
}

export type Opening<A> =
  All<A> | { readonly _tag: "After"; readonly revision: string } | { readonly _tag: "Expired" }

const expired = { _tag: "Expired" } as const

/** How a watch begins. */
export const opening = <A>(journal: Journal<A>, options: Options): Opening<A> => {
  const { resourceVersion, sendInitialEvents } = options
  const any = resourceVersion === undefined || resourceVersion === "0"
  if (sendInitialEvents === true)
    return journal.lists(resourceVersion)
      ? { _tag: "All", listing: journal.list(), marked: options.allowWatchBookmarks }
      : expired
  if (any && sendInitialEvents === undefined) return { _tag: "All", listing: journal.list(), marked: false }
  const revision = any ? journal.head : resourceVersion
  return journal.since(revision, 0)._tag === "Expired" ? expired : { _tag: "After", revision }
}

/** What a list gives, or undefined where it has to be asked for anew, without a revision. */
export const listing = <A>(journal: Journal<A>, options: Options): Listing<A> | undefined => {
  const { resourceVersion, resourceVersionMatch } = options
  if (resourceVersionMatch === "Exact" && resourceVersion !== journal.head) return undefined
  return journal.lists(resourceVersion) ? journal.list() : undefined
}
