/**
 * What the API server writes, as data: pages of a list, lines of a watch, the Status of a refusal.
 *
 * Everything comes in as unknown JSON and leaves as a value or as Malformed, which says what was wrong. Nothing
 * here looks into an object beyond its metadata.
 *
 * *Guarantees*: never throws, whatever the bytes; what is not a list is never read as an empty one.
 * *Assumes*: bodies are UTF-8; revisions are decimals (KEP-5504).
 * *Does not*: decode kinds; that is the reducer's part.
 */
import * as arrival from "../core/arrival.ts"
import { isObject } from "../core/json.ts"
import type { Cause, Failure, FailureReason } from "../core/retry.ts"

export interface Malformed {
  readonly _tag: "Malformed"
  readonly message: string
}

export const malformed = (message: string): Malformed => ({ _tag: "Malformed", message })

export const isMalformed = (value: unknown): value is Malformed =>
  isObject(value) && value["_tag"] === "Malformed" && typeof value["message"] === "string"

/** Who an object is, and at which revision. */
export interface Identity {
  /** what it says that it is; items of a list may say nothing */
  readonly kind: string | undefined
  /** `namespace/name`, `/name` without a namespace */
  readonly key: string
  /** empty where the kind has none */
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly revision: string
}

export interface Page {
  readonly revision: string
  readonly items: readonly unknown[]
  readonly continue: string | undefined
}

export type WatchLine =
  /** an object that the reader has at this very revision: it was not read again */
  | { readonly type: "KNOWN"; readonly revision: string }
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: unknown }
  | { readonly type: "MALFORMED"; readonly message: string }

/** Bytes of a line of a watch; etcd holds no object of more than about two million. */
const longestLine = 8 * 1024 * 1024

/** The kind and the metadata of an object, be it parsed or bytes. */
const headOf = (raw: unknown): { readonly kind: unknown; readonly metadata: unknown } => {
  if (raw instanceof Uint8Array) {
    const { kind, revision: resourceVersion, ...metadata } = arrival.who(raw)
    return { kind, metadata: { ...metadata, resourceVersion } }
  }
  return isObject(raw)
    ? { kind: raw["kind"], metadata: raw["metadata"] }
    : { kind: undefined, metadata: undefined }
}

/** The revision that an object or a list bears, or undefined where it bears none that can be compared. */
export const revisionOf = (raw: unknown): string | undefined => {
  const { metadata } = headOf(raw)
  const revision = isObject(metadata) ? metadata["resourceVersion"] : undefined
  return typeof revision === "string" && arrival.isRevision(revision) ? revision : undefined
}

/** The revision that a line of a watch leads to, where it bears one. */
export const revisionReached = (line: WatchLine): string | undefined =>
  line.type === "KNOWN" ? line.revision : line.type === "MALFORMED" ? undefined : revisionOf(line.object)

/** The key that an object has, though the rest of it may be unreadable. */
export const keyOf = (raw: unknown): string | undefined => {
  const { metadata } = headOf(raw)
  if (!isObject(metadata)) return undefined
  const { name, namespace } = metadata
  if (typeof name !== "string" || name === "") return undefined
  return namespace === undefined || namespace === null || typeof namespace === "string"
    ? `${namespace ?? ""}/${name}`
    : undefined
}

/** Key, uid and revision of an object; Malformed names the first field that isn't as it must be. */
export const identity = (raw: unknown): Identity | Malformed => {
  if (!isObject(raw)) return malformed(`an object was expected, not ${brief(raw)}`)
  const { kind, metadata } = headOf(raw)
  if (!isObject(metadata)) return malformed(`metadata is ${brief(metadata)}, an object was expected`)
  const { name, namespace, uid } = metadata
  if (typeof name !== "string" || name === "") return malformed(`metadata.name is ${brief(name)}`)
  if (namespace !== undefined && namespace !== null && typeof namespace !== "string") {
    return malformed(`metadata.namespace is ${brief(namespace)}`)
  }
  if (typeof uid !== "string" || uid === "") return malformed(`metadata.uid is ${brief(uid)}`)
  const revision = metadata["resourceVersion"]
  if (typeof revision !== "string" || !arrival.isRevision(revision)) {
    return malformed(`metadata.resourceVersion is ${brief(revision)}, no decimal number`)
  }
  return {
    kind: typeof kind === "string" ? kind : undefined,
    key: `${namespace ?? ""}/${name}`,
    namespace: namespace ?? "",
    name,
    uid,
    revision
  }
}

/** The JSON of a text, or Malformed. */
export const json = (text: string): { readonly value: unknown } | Malformed => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return malformed(`no JSON: ${String(error)}`)
  }
}

/** One page of a list. */
export const page = (body: unknown): Page | Malformed => {
  if (!isObject(body)) return malformed(`a list was expected, not ${brief(body)}`)
  const { kind, items, metadata } = body
  // A Go server writes a list that is empty as null; an absent field means that this is no list.
  const read = items === null && typeof kind === "string" && kind.endsWith("List") ? [] : items
  if (!Array.isArray(read)) return malformed(`items is ${brief(items)}, a list was expected`)
  const revision = revisionOf(body)
  if (revision === undefined) return malformed("the list has no metadata.resourceVersion")
  const { continue: token } = isObject(metadata) ? metadata : {}
  return {
    revision,
    items: read as readonly unknown[],
    continue: typeof token === "string" && token !== "" ? token : undefined
  }
}

/**
 * Cuts bytes into lines. A line that is too long comes out as undefined, once it ends. What is left without a
 * newline when the watch ends was cut off on the way, and comes again with the next watch.
 */
export const cutter = (): ((part: Buffer) => readonly (Buffer | undefined)[]) => {
  let rest: Buffer[] = []
  let size = 0
  return (part) => {
    const cut: (Buffer | undefined)[] = []
    let from = 0
    for (let end = part.indexOf(10); end !== -1; end = part.indexOf(10, from)) {
      size += end - from
      if (size > longestLine) cut.push(undefined)
      else if (size > 0) {
        const last = part.subarray(from, end)
        cut.push(rest.length === 0 ? last : Buffer.concat([...rest, last], size))
      }
      rest = []
      size = 0
      from = end + 1
    }
    size += part.length - from
    if (size > longestLine) rest = []
    else if (from < part.length) rest.push(part.subarray(from))
    return cut
  }
}

/** An object of a built-in kind in a namespace, as the API server begins its line: the fields come in the order of Go's types. */
const BEGINNING =
  /^\{"type":"(?:ADDED|MODIFIED)","object":\{"kind":"[^"\\]*","apiVersion":"[^"\\]*","metadata":\{"name":"([^"\\]+)","namespace":"([^"\\]+)","uid":"([^"\\]+)","resourceVersion":"([1-9]\d*)"[,}]/

/** Whether the reader has an object at this very revision. */
export type Knows = (of: Pick<Identity, "key" | "uid" | "revision">) => boolean

/** The revision of a line about an object that is known already, told by its beginning alone: to read all of it costs a hundred times more. */
const knownRevision = (text: string, knows: Knows): string | undefined => {
  const [, name, namespace, uid, revision] = BEGINNING.exec(text) ?? []
  if (uid === undefined || revision === undefined) return undefined
  return knows({ key: `${namespace}/${name}`, uid, revision }) ? revision : undefined
}

/** An ERROR line is the failure that ends a watch. */
export type Line = WatchLine | { readonly type: "ERROR"; readonly failure: Failure }

const tooLong: Line = { type: "MALFORMED", message: `a line of more than ${longestLine} bytes` }

/** How the objects of a kind are handed over. */
export interface Form {
  readonly page: (body: Buffer) => Page | Malformed
  /** undefined: too long */
  readonly line: (raw: Buffer | undefined, knows: Knows | undefined) => Line
}

/** Parsed, or as the bytes in which they came: parts of what was read, to be copied by who keeps them. */
export const FORMS: { readonly Parsed: Form; readonly Bytes: Form } = {
  Parsed: {
    page: (body) => {
      const read = json(body.toString("utf8"))
      return isMalformed(read) ? read : page(read.value)
    },
    line: (raw, knows) => line(raw?.toString("utf8"), knows)
  },
  Bytes: {
    page: (body) => {
      const read = arrival.page(body)
      return isMalformed(read)
        ? read
        : { ...read, items: read.items.map(({ from, to }) => body.subarray(from, to)) }
    },
    line: (raw) => (raw === undefined ? tooLong : byteLine(raw))
  }
}

const byteLine = (raw: Buffer): Line => {
  const read = arrival.line(raw)
  if (isMalformed(read)) return { type: "MALFORMED", message: read.message }
  const object = raw.subarray(read.object.from, read.object.to)
  // What ends a watch is rare, and no object.
  return read.type === "ERROR" ? line(raw.toString("utf8")) : typed(read.type, object)
}

/** One line of a watch (undefined: too long). */
export const line = (text: string | undefined, knows: Knows = () => false): Line => {
  if (text === undefined) return tooLong
  const known = knownRevision(text, knows)
  if (known !== undefined) return { type: "KNOWN", revision: known }
  const parsed = json(text)
  if (isMalformed(parsed)) return { type: "MALFORMED", message: parsed.message }
  const { type, object } = isObject(parsed.value) ? parsed.value : {}
  return typed(type, object)
}

const typed = (type: unknown, object: unknown): Line => {
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
      return { type, object }
    case "ERROR":
      return { type, failure: refusal(errorCode(object), object, undefined) }
    default:
      return { type: "MALFORMED", message: `a watch line has the type ${brief(type)}` }
  }
}

const errorCode = (status: unknown): number => {
  const code = isObject(status) ? status["code"] : undefined
  return typeof code === "number" ? code : 500
}

/**
 * What a refusal means. `code` is the HTTP status, `body` its parsed body (a Status, where the API server itself
 * wrote it) or its text, `retryAfter` the seconds of the header. The longer of header and body counts.
 */
export const refusal = (code: number, body: unknown, retryAfter: number | undefined): Failure => {
  const status = isObject(body) && body["kind"] === "Status" ? body : {}
  const details = isObject(status["details"]) ? status["details"] : {}
  const message = typeof status["message"] === "string" ? status["message"] : textOf(code, body)
  const inBody = details["retryAfterSeconds"]
  const wait = Math.max(retryAfter ?? 0, typeof inBody === "number" ? inBody : 0)
  const causes = causesOf(details["causes"], message)
  return {
    reason: reasonOf(code, status["reason"], message, wait),
    code,
    message: message.slice(0, longest),
    ...(wait > 0 && { retryAfter: wait }),
    ...(causes.length > 0 && { causes })
  }
}

/** Apply reports an object that doesn't fit its schema, be it sent or stored, or a quantity that is none, as a 500 of such a text. */
const unfit = /^failed to (?:create typed (?:patch|live) object|convert new object)\b/

/** Names the field that doesn't fit. */
const untyped = /^failed to create typed patch object \([^)]*\): (?:errors:\n\s*)?(\.[^\n]*?): ([^\n]*)/

/** Admission says no with whatever status it likes; the object may well be accepted later as it is. */
const denied = /^admission webhook "|\bdenied (?:the )?request\b/

const reasonOf = (code: number, reason: unknown, message: string, wait: number): FailureReason => {
  if (code === 410 || reason === "Expired" || reason === "Gone") return "Gone"
  if (code === 500 && unfit.test(message)) return "Invalid"
  if (code === 429 || (code >= 500 && wait > 0)) return "Slow"
  if (code >= 500 || code === 408 || code < 400) return "Unavailable"
  if (code === 404) return "NotFound"
  if (code === 409) return reason === "AlreadyExists" ? "AlreadyExists" : "Conflict"
  if (code === 401 || code === 403 || denied.test(message)) return "Forbidden"
  return "Invalid"
}

const causesOf = (causes: unknown, message: string): readonly Cause[] => {
  const listed = Array.isArray(causes) ? (causes as readonly unknown[]) : []
  const read = listed.flatMap((cause): readonly Cause[] => {
    const { field, message: text } = isObject(cause) ? cause : {}
    return typeof field === "string" && field !== ""
      ? [{ field, message: (typeof text === "string" ? text : message).slice(0, longest) }]
      : []
  })
  if (read.length > 0) return read
  const [, field, text] = untyped.exec(message) ?? []
  return field === undefined ? [] : [{ field: field.slice(1), message: text ?? message }]
}

const longest = 4096

const textOf = (code: number, body: unknown): string => {
  const text = typeof body === "string" ? body.trim() : ""
  return text === "" ? `the server answered ${code}` : text
}

/** A value in a message: short, whatever it is. */
export const brief = (value: unknown): string => {
  if (value === undefined) return "absent"
  if (Array.isArray(value)) return "a list"
  if (isObject(value)) return "an object"
  const text = JSON.stringify(value)
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`
}
