/**
 * An object as upstream sent it: its bytes, and a slim index of what is asked of every kind.
 *
 * The bytes are what is shown later; no parsed object is kept. The index says where the few parts stand that a client must
 * see differently.
 */
import { edited } from "./bytes.ts"
import type { StringMap } from "./kube.ts"
import type { Range, Reader } from "./scan.ts"
import { LOWER_N, type Malformed, OPEN_BRACE, QUOTE, reading } from "./scan.ts"
import type { Stored } from "./store.ts"

/** What there is of every object. */
export interface Item extends Stored {
  /** a copy of its own, never written to, without `metadata.managedFields`, which nobody who watches endpoints reads */
  readonly bytes: Uint8Array
  readonly namespace: string | undefined
  readonly name: string
  readonly labels: StringMap
  readonly annotations: StringMap
  /** a Service's `spec.clusterIP` */
  readonly clusterIP: string | undefined
  /** undefined where it lacks `kind` or `apiVersion`: items of a list may have neither */
  readonly apiVersion: string | undefined
  /** after the brace that opens the object, where further fields can be put: one field at least stands there */
  readonly body: number
  /** after the brace that opens `metadata` */
  readonly metadata: number
  /** the value of `metadata.resourceVersion` */
  readonly version: Range | undefined
}

/** A map that hands out one copy of equal texts, so that 100,000 endpoints share the names of 5,000 nodes. */
export const sharing = (): ((text: string) => string) => {
  const known = new Map<string, string>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= MOST_SHARED) known.clear()
    known.set(text, text)
    return text
  }
}
const MOST_SHARED = 50_000

/** The index of an object's bytes, or why they are none. Annotations other than the wrapper's own are left out. */
export const item = (bytes: Uint8Array, share: (text: string) => string): Item | Malformed =>
  reading(bytes, (reader) => {
    const head = new Head(reader, share)
    const whole = reader.object("the object", (field) => {
      if (!head.read(field)) reader.skip()
    })
    if (!whole) reader.fail("the object is null")
    return head.item()
  })

/** Reads the fields that every kind has, and gives the index once all are read. */
export class Head {
  readonly reader: Reader
  readonly share: (text: string) => string
  readonly #body: number
  #kind: string | undefined
  #apiVersion: string | undefined
  #clusterIP: string | undefined
  #meta: Meta = noMeta

  constructor(reader: Reader, share: (text: string) => string) {
    this.reader = reader
    this.share = share
    reader.peek()
    this.#body = reader.place + 1
  }

  /** Steps over the value of a field that every kind has; false where it isn't one. */
  read(field: string): boolean {
    switch (field) {
      case "kind":
        this.#kind = this.reader.text("kind")
        return true
      case "apiVersion":
        this.#apiVersion = this.reader.text("apiVersion")
        return true
      case "metadata":
        this.#meta = meta(this.reader, this.share)
        return true
      case "spec":
        this.#spec()
        return true
      default:
        return false
    }
  }

  item(): Item {
    const { name, namespace, uid, resourceVersion, labels, annotations, at, version } = this.#meta
    if (name === undefined || name === "") this.reader.fail("metadata.name is missing")
    const apiVersion = this.#kind === undefined ? undefined : this.#apiVersion
    return {
      key: `${namespace ?? ""}/${name}`,
      uid: uid ?? "",
      revision: resourceVersion ?? "",
      bytes: own(this.reader),
      namespace,
      name,
      labels,
      annotations,
      clusterIP: this.#clusterIP,
      apiVersion: apiVersion && this.share(apiVersion),
      body: this.#body,
      metadata: at,
      version
    }
  }

  #spec(): void {
    this.#clusterIP = undefined
    const reader = this.reader
    if (reader.peek() !== OPEN_BRACE) return reader.skip()
    reader.object("spec", (field) => {
      if (field === "clusterIP") this.#clusterIP = reader.text("spec.clusterIP")
      else reader.skip()
    })
  }
}

interface Meta {
  name?: string | undefined
  namespace?: string | undefined
  uid?: string | undefined
  resourceVersion?: string | undefined
  labels: StringMap
  annotations: StringMap
  at: number
  version: Range | undefined
}

const none: StringMap = {}
const noMeta: Meta = { labels: none, annotations: none, at: 0, version: undefined }

const meta = (reader: Reader, share: (text: string) => string): Meta => {
  reader.peek()
  const found: Meta = { ...noMeta, at: reader.place + 1 }
  let before: number | undefined
  reader.object("metadata", (field) => {
    switch (field) {
      case "name":
        found.name = reader.text("metadata.name")
        break
      case "namespace": {
        const namespace = reader.text("metadata.namespace")
        found.namespace = namespace === undefined || namespace === "" ? undefined : share(namespace)
        break
      }
      case "uid":
        found.uid = reader.text("metadata.uid")
        break
      case "resourceVersion": {
        reader.peek()
        const from = reader.place
        found.resourceVersion = reader.text("metadata.resourceVersion")
        found.version = { from, to: reader.place }
        break
      }
      case "labels":
        found.labels = texts(reader, "metadata.labels", share, () => true)
        break
      case "annotations":
        found.annotations = texts(reader, "metadata.annotations", share, isOurs)
        break
      case "managedFields":
        reader.skip()
        // With the comma before it; where it stands first, it stays.
        if (before !== undefined) reader.cut(before)
        break
      default:
        reader.skip()
    }
    before = reader.at
  })
  return found
}

/** A copy of the bytes that were read, without what was cut. Not by `slice`: that of a Buffer is a view, which keeps a whole page alive. */
const own = ({ bytes, cuts }: Reader): Uint8Array =>
  cuts.length === 0
    ? new Uint8Array(bytes)
    : edited(
        bytes,
        cuts.map((range) => ({ ...range, text: "" }))
      )

const isOurs = (key: string): boolean => key === "topologyKeys" || key.startsWith("superedge.io/")

/** A map of texts; entries that are null are left out. */
export const texts = (
  reader: Reader,
  what: string,
  share: (text: string) => string,
  wanted: (key: string) => boolean
): StringMap => {
  const entries = new Map<string, string>()
  reader.object(what, (key) => {
    const first = reader.peek()
    if (first !== QUOTE && first !== LOWER_N) reader.text(`${what}[${key}]`)
    const value = reader.text(what)
    if (value === undefined || !wanted(key)) entries.delete(key)
    else entries.set(key, share(value))
  })
  return entries.size === 0 ? none : Object.fromEntries(entries)
}
