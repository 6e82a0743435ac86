/**
 * A whole list, for commands that look once.
 */
import * as Effect from "effect/Effect"
import { Api, type ApiError, type Kind, type ListOptions, type Page } from "./api.ts"

const PAGE = 500

/** All objects of a kind, page by page, as raw JSON. */
export const listed = (
  kind: Kind,
  where: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector"> = {}
): Effect.Effect<readonly unknown[], ApiError, Api> =>
  Effect.gen(function* () {
    const api = yield* Api
    const found: unknown[] = []
    let more: string | undefined
    do {
      const page: Page = yield* api.list(kind, {
        ...where,
        limit: PAGE,
        ...(more !== undefined && { continue: more })
      })
      found.push(...page.items)
      more = page.continue
    } while (more !== undefined)
    return found
  })
