/**
 * Kubernetes objects from YAML files, as people keep them.
 */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import { text } from "node:stream/consumers"
import { parseAllDocuments } from "yaml"
import { isObject } from "../core/json.ts"
import type { KubeObject } from "../core/kube.ts"
import { Misconfigured } from "./settings.ts"

/** An object and the place where it stands, for messages. */
export interface Manifest {
  readonly place: string
  readonly object: KubeObject
}

const read = (path: string): Effect.Effect<string, Misconfigured> =>
  Effect.tryPromise({
    try: () => (path === "-" ? text(process.stdin) : readFile(path, "utf8")),
    catch: (cause) =>
      new Misconfigured({ message: `${path}: ${cause instanceof Error ? cause.message : String(cause)}` })
  })

/** Every object in a YAML or JSON file, the items of a List one by one. Fails on what isn't a Kubernetes object, naming its place. */
const parse = (path: string, content: string): Effect.Effect<readonly Manifest[], Misconfigured> =>
  Effect.gen(function* () {
    const found: Manifest[] = []
    const bad = (place: string, what: string) => new Misconfigured({ message: `${place}: ${what}` })
    for (const [i, document] of parseAllDocuments(content, { logLevel: "silent" }).entries()) {
      const place = `${path} (document ${i + 1})`
      const [error] = document.errors
      if (error !== undefined) return yield* bad(place, error.message.split("\n")[0] ?? "no YAML")
      const value: unknown = document.toJS()
      if (value === null || value === undefined) continue
      const items =
        isObject(value) && Array.isArray(value["items"]) ? (value["items"] as readonly unknown[]) : [value]
      for (const item of items) {
        if (!isObject(item) || typeof item["kind"] !== "string" || !isObject(item["metadata"]))
          return yield* bad(place, "is no Kubernetes object; it needs apiVersion, kind and metadata.name")
        if (typeof item["metadata"]["name"] !== "string")
          return yield* bad(place, `${item["kind"]} without metadata.name`)
        found.push({ place, object: item as unknown as KubeObject })
      }
    }
    return found
  })

/** The objects of some files, in their order; `-` is standard input. */
export const manifests = (paths: readonly string[]): Effect.Effect<readonly Manifest[], Misconfigured> =>
  Effect.map(
    Effect.forEach(paths, (path) => Effect.flatMap(read(path), (content) => parse(path, content))),
    (each) => each.flat()
  )
