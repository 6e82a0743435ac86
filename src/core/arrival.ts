/**
 * Bytes as they arrive from upstream: pages of a list and lines of a watch taken apart into objects, without reading more of an object
 * than who it is.
 */
import { type Malformed, type Range, type Reader, reading, untilEnough } from "./scan.ts"

/** One page of a list. */
export interface Page {
  readonly revision: string
  /** where its objects stand in the bytes */
  readonly items: readonly Range[]
  readonly continue: string | undefined
}

/** The parts of a page, or why it is none. */
export const page = (bytes: Uint8Array): Page | Malformed =>
  reading(bytes, (reader) => {
    const found: { revision?: string | undefined; token?: string | undefined; items?: readonly Range[] } = {}
    let kind: string | undefined
    const whole = reader.object("the list", (field) => {
      if (field === "kind") kind = reader.text(field)
      else if (field === "metadata")
        reader.object(field, (name) => {
          if (name === "resourceVersion") found.revision = reader.text("metadata.resourceVersion")
          else if (name === "continue") found.token = reader.text("metadata.continue")
          else reader.skip()
        })
      else if (field === "items") {
        const items: Range[] = []
        // A Go server writes a list that is empty as null; an absent field means that this is no list.
        if (reader.array(field, () => items.push(reader.range())) || kind?.endsWith("List") === true)
          found.items = items
      } else reader.skip()
    })
    if (!whole || found.items === undefined) return reader.fail("the list has no items")
    const { revision, token, items } = found
    if (revision === undefined || !isRevision(revision))
      return reader.fail("the list has no metadata.resourceVersion")
    return { revision, items, continue: token === "" ? undefined : token }
  })

/** One line of a watch. */
export interface Line {
  readonly type: string
  /** where its object stands in the bytes */
  readonly object: Range
}

/** The parts of a line, or why it is none. */
export const line = (bytes: Uint8Array): Line | Malformed =>
  reading(bytes, (reader) => {
    let type: string | undefined
    let object: Range | undefined
    reader.object("the line", (field) => {
      if (field === "type") type = reader.text(field)
      else if (field === "object") object = reader.range()
      else reader.skip()
    })
    return type === undefined || object === undefined
      ? reader.fail("a watch line has no type or no object")
      : { type, object }
  })

/** Who an object is, as far as it says. */
export interface Who {
  readonly kind: string | undefined
  readonly name: string | undefined
  readonly namespace: string | undefined
  readonly uid: string | undefined
  readonly revision: string | undefined
}

/**
 * Who an object is: what can be read of it, up to where it breaks. It reads on only until it knows, so the rest of the
 * bytes may be anything.
 */
export const who = (bytes: Uint8Array): Who => {
  const found: Found = {
    kind: undefined,
    name: undefined,
    namespace: undefined,
    uid: undefined,
    revision: undefined
  }
  untilEnough(bytes, (reader, enough) => {
    let first: string | undefined
    reader.object("the object", (field) => {
      first ??= field
      if (field === "kind") found.kind = reader.text(field)
      else if (field === "metadata") {
        // Go writes the type first, where it writes one, and the revision last of what is asked: nothing behind says more.
        const typed = found.kind !== undefined || first === "metadata"
        meta(reader, found, () => typed && found.namespace !== undefined && enough())
        if (typed) enough()
      } else reader.skip()
    })
  })
  return found
}

type Found = { -readonly [field in keyof Who]: Who[field] }

const meta = (reader: Reader, found: Found, known: () => unknown): void => {
  reader.object("metadata", (field) => {
    switch (field) {
      case "name":
        found.name = reader.text("metadata.name")
        return
      case "namespace":
        found.namespace = reader.text("metadata.namespace")
        return
      case "uid":
        found.uid = reader.text("metadata.uid")
        return
      case "resourceVersion":
        found.revision = reader.text("metadata.resourceVersion")
        if (found.name !== undefined && found.uid !== undefined) known()
        return
      default:
        reader.skip()
    }
  })
}

/** Whether a text is a revision that can be compared (KEP-5504). */
export const isRevision = (text: string): boolean => /^(?:0|[1-9]\d*)$/.test(text)
