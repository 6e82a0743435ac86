/**
 * Makes src/embedded/openapi.json, the schemas of the kinds that the embedded cluster serves, from an API
 * server's own OpenAPI documents: what is a keyed, set or atomic list, which fields exist and of what type.
 *
 * Run by hand, once for each new Kubernetes version, with the documents saved to a folder beforehand:
 *   kubectl get --raw /openapi/v3/api/v1 > DIR/v1.json; the same for the groups in `documents` below;
 *   node property-tests/recorded/reduce.ts DIR src/embedded/openapi.json
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Schemas = { [name: string]: Json }

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** File in the folder and the kinds to keep, with all that they refer to. */
const documents: readonly (readonly [file: string, kinds: readonly string[]])[] = [
  [
    "v1.json",
    words(`Pod Node Namespace ServiceAccount ConfigMap Secret Event Endpoints Service PersistentVolumeClaim
      Status DeleteOptions`)
  ],
  ["apps.v1.json", ["Deployment", "ReplicaSet", "StatefulSet", "ControllerRevision", "Scale"]],

  ["discovery.k8s.io.v1.json", ["EndpointSlice"]],
  ["coordination.k8s.io.v1.json", ["Lease"]],
  ["events.k8s.io.v1.json", ["Event"]],
  ["networking.k8s.io.v1.json", ["ServiceCIDR"]],
  ["apiextensions.k8s.io.v1.json", ["CustomResourceDefinition"]]
]

const kept = new Set(
  words(`type format required enum default items additionalProperties $ref allOf oneOf anyOf properties
    x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type x-kubernetes-patch-strategy
    x-kubernetes-patch-merge-key x-kubernetes-group-version-kind x-kubernetes-int-or-string
    x-kubernetes-preserve-unknown-fields`)
)

const prefix = "#/components/schemas/"

/** Types that every kind has, for which people ask: what is said of them stays. */
const EXPLAINED = /\.meta\.v1\.(ObjectMeta|ManagedFieldsEntry|FieldsV1|OwnerReference|Time)$/

/** The schema without what only people read. */
const reduced = (schema: Json, explained: boolean): Json => {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema
  const out: { [key: string]: Json } = {}
  for (const [key, value] of Object.entries(schema)) {
    if (!kept.has(key) && !(explained && key === "description")) continue
    if (key === "properties")
      out[key] = Object.fromEntries(
        Object.entries(value as Schemas).map(([name, s]) => [name, reduced(s, explained)])
      )
    else if (key === "items" || key === "additionalProperties") out[key] = reduced(value, explained)
    else if (key === "allOf" || key === "oneOf" || key === "anyOf") out[key] = (value as Json[]).map((each) => reduced(each, explained))
    else out[key] = value
  }
  return out
}

const references = (schema: Json): readonly string[] => {
  if (typeof schema !== "object" || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" ? [value.slice(prefix.length)] : references(value)
  )
}

const isKind = (schema: Json, kinds: readonly string[]): boolean => {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return false
  const named = schema["x-kubernetes-group-version-kind"] as { kind: string }[] | undefined
  return named?.some((entry) => kinds.includes(entry.kind)) ?? false
}

const main = (folder: string, out: string): void => {
  const result: Schemas = {}
  for (const [file, kinds] of documents) {
    const document = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
      components: { schemas: Schemas }
    }
    const schemas = document.components.schemas
    const todo = Object.keys(schemas).filter((name) => isKind(schemas[name] ?? null, kinds))
    for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
      if (Object.hasOwn(result, name)) continue
      const schema = reduced(schemas[name] ?? null, EXPLAINED.test(name))
      result[name] = schema
      todo.push(...references(schema))
    }
  }
  // these two are listed for some 60 groups each: they belong to none
  for (const name of Object.keys(result))
    if (/\.meta\.v1\.(DeleteOptions|WatchEvent)$/.test(name))
      delete (result[name] as { [key: string]: Json })["x-kubernetes-group-version-kind"]
  const sorted = Object.fromEntries(Object.entries(result).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(out, JSON.stringify({ components: { schemas: sorted } }) + "\n")
}

const [folder, out] = process.argv.slice(2)
if (folder === undefined || out === undefined) throw new Error("usage: reduce.ts FOLDER OUT")
main(folder, out)
