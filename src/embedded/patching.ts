/**
 * What a patch makes of an object, by its content type; a patch that is none is refused in the server's words.
 */
import { jsonPatched, patchProblem } from "./jsonpatch.ts"
import { isList, isObj, type Obj } from "./json.ts"
import { mergePatched, strategicPatched } from "./patches.ts"
import type { Strategy } from "./strategy.ts"
import * as Status from "./status.ts"
import { Refusal } from "./status.ts"

/** What becomes of unknown fields. */
export type Strictness = "Strict" | "Warn" | "Ignore"

/** The object after the patch, not read yet. */
export type Patch = (existing: Obj) => unknown

/** The patch of a request; an apply is none, and other types are refused with 415. */
export const patchOf = (
  contentType: string,
  body: unknown,
  { type, resource }: Pick<Strategy, "type" | "resource">,
  strictness: Strictness
): Patch => {
  switch (contentType.split(";")[0] ?? "") {
    case "application/merge-patch+json":
      return merging(body, strictness)
    case "application/json-patch+json":
      return operating(body, strictness)
    case "application/strategic-merge-patch+json":
      if (resource.custom) throw new Refusal(Status.unsupportedMedia(CUSTOM_PATCHES))
      return (existing) => {
        if (body !== null && !isObj(body)) refuse(unmergeable(body))
        return strategicPatched(type, existing, body ?? {})
      }
    default:
      throw new Refusal(Status.unsupportedMedia())
  }
}

/** A JSON merge patch (RFC 7386). */
const merging =
  (body: unknown, strictness: Strictness): Patch =>
  (existing) => {
    if (isObj(body)) return mergePatched(existing, body)
    if (body !== null && strictness !== "Ignore") refuse(`error decoding patch: ${unmergeable(body)}`)
    return isList(body) ? body : refuse("Invalid JSON Patch")
  }

/** A JSON patch (RFC 6902). */
const operating =
  (body: unknown, strictness: Strictness): Patch =>
  (existing) => {
    const problem = patchProblem(body, strictness !== "Ignore")
    if (problem !== undefined) refuse(problem)
    const next = jsonPatched(existing, isList(body) ? body : [])
    if (next === undefined) throw new Refusal(Status.unpatchable)
    return next
  }

const refuse = (why: string): never => {
  throw new Refusal(Status.badRequest(why))
}

/** What the server's decoder says of a patch that is no object. */
const unmergeable = (body: unknown): string => {
  const what = isList(body) ? "array" : typeof body === "boolean" ? "bool" : typeof body
  return `json: cannot unmarshal ${what} into Go value of type map[string]interface {}`
}

const CUSTOM_PATCHES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/apply-patch+yaml"
]
