/**
 * OpenAPI v3 as far as `kubectl` needs it: to leave the checking of fields to the server, and to explain kinds. Of the
 * built-in ones it tells the fields, without what is said of them.
 */
import type { JsonObject, Resource } from "./cluster.ts"
import recorded from "./openapi.json" with { type: "json" }

/** The document of a group and version, such as `apis/apps/v1`, in which these kinds are served. */
export const openapi = (
  place: string,
  kinds: readonly Resource[],
  serverVersion: string
): object | undefined =>
  kinds.length === 0
    ? undefined
    : {
        openapi: "3.0.0",
        info: { title: "Kubernetes", version: serverVersion },
        paths: Object.fromEntries(kinds.map((each) => operation(place, each))),
        components: { schemas: schemas(kinds) }
      }

/** One operation a kind, which says that the server itself checks fields. */
const operation = (place: string, kind: Resource): readonly [string, object] => [
  `/${place}${kind.namespaced ? "/namespaces/{namespace}" : ""}/${kind.plural}/{name}`,
  { patch: { parameters: PARAMETERS, responses: {}, [GVK]: identity(kind) } }
]

const identity = ({ group, version, kind }: Resource): Identity => ({ group, version, kind })

/** What the kinds are, and all that they refer to. */
const schemas = (kinds: readonly Resource[]): Readonly<Record<string, unknown>> => {
  const found = new Map<string, unknown>()
  const add = (name: string, schema: unknown): void => {
    if (found.has(name)) return
    found.set(name, schema)
    for (const each of references(schema)) add(each, RECORDED.get(each))
  }
  for (const each of kinds) {
    const name = NAMED.get(key(identity(each)))
    if (name !== undefined) add(name, RECORDED.get(name))
    else if (each.schema !== undefined)
      add(nameOf(each), { ...withIdentity(each.schema), [GVK]: [identity(each)] })
  }
  return Object.fromEntries(found)
}

/** A custom kind's schema with what the server says of every object. */
const withIdentity = (schema: JsonObject): JsonObject => ({
  ...schema,
  properties: { ...(schema["properties"] as JsonObject | undefined), ...EVERY }
})

const references = (schema: unknown): readonly string[] => {
  if (typeof schema !== "object" || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) =>
    name === "$ref" && typeof value === "string" ? [value.slice(PREFIX.length)] : references(value)
  )
}

const nameOf = ({ group, version, kind }: Resource): string =>
  `${group.split(".").toReversed().join(".")}.${version}.${kind}`

interface Identity {
  readonly group: string
  readonly version: string
  readonly kind: string
}

const key = ({ group, version, kind }: Identity): string => `${group}/${version} ${kind}`

const GVK = "x-kubernetes-group-version-kind"
const PREFIX = "#/components/schemas/"

const RECORDED: ReadonlyMap<string, unknown> = new Map(Object.entries(recorded.components.schemas))

/** The name of the schema that a kind has. */
const NAMED: ReadonlyMap<string, string> = new Map(
  [...RECORDED].flatMap(([name, schema]) =>
    ((schema as { readonly [GVK]?: readonly Identity[] })[GVK] ?? []).map(
      (each) => [key(each), name] as const
    )
  )
)

const CONVENTIONS =
  "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"

const EVERY: JsonObject = {
  apiVersion: {
    type: "string",
    description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. ${CONVENTIONS}#resources`
  },
  kind: {
    type: "string",
    description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. ${CONVENTIONS}#types-kinds`
  },
  metadata: {
    description: `Standard object's metadata. ${CONVENTIONS}#metadata`,
    default: {},
    allOf: [{ $ref: `${PREFIX}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta` }]
  }
}

const PARAMETERS = ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({
  name,
  in: "query",
  schema: { type: "string", uniqueItems: true }
}))
