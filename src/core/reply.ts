/**
 * What the wrapper itself says in an answer: Status bodies, the head of a list, lines of a watch, bookmarks. Texts are JSON.
 */

/** A Status, as the API server writes one. */
export interface Status {
  readonly kind: "Status"
  readonly apiVersion: "v1"
  readonly metadata: { readonly [field: string]: never }
  readonly status: "Failure"
  readonly message: string
  readonly reason: string
  readonly code: number
}

export const status = (code: number, reason: string, message: string): Status => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  reason,
  code
})

/** 400 */
export const badRequest = (message: string): Status => status(400, "BadRequest", message)

/** 422: an option of a list or watch that can't be had so. */
export const forbiddenOption = (option: string, why: string): Status =>
  status(422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: ${option}: Forbidden: ${why}`)

/** 410: list anew. */
export const expired = (revision: string | undefined): Status =>
  status(
    410,
    "Expired",
    `too old resource version: ${(revision ?? "").slice(0, 40)} is not in what is kept here; list again`
  )

/** 404 */
export const notFound = (plural: string, key: string): Status =>
  status(404, "NotFound", `${plural} ${JSON.stringify(key.replace(/^.*\//, ""))} not found`)

/** A list up to its first item; `TAIL` closes it. */
export const listHead = (kind: string, apiVersion: string, revision: string): string =>
  `{"kind":"${kind}List","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${revision}"},"items":[`
export const LIST_TAIL = "]}\n"

export type LineType = "ADDED" | "MODIFIED" | "DELETED" | "ERROR"

/** A line of a watch up to its object; `LINE_TAIL` closes it. */
export const lineHead = (type: LineType): string => `{"type":"${type}","object":`
export const LINE_TAIL = "}\n"

/** The line that says how far a watch has got, and, with `initialEnd`, that all that was there at its beginning was sent. */
export const bookmark = (
  kind: string,
  apiVersion: string,
  revision: string,
  o: { readonly initialEnd: boolean }
): string => {
  const annotations = o.initialEnd ? ',"annotations":{"k8s.io/initial-events-end":"true"}' : ""
  return `{"type":"BOOKMARK","object":{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${revision}"${annotations}}}}\n`
}
