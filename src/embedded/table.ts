/**
 * What a client asks for in its Accept header: the object itself, a Table of it (what `kubectl get` shows), or its
 * metadata alone. A pure translation of answers and of the lines of a watch.
 */
import type { Column, KubeObject, Resource, WatchLine } from "./cluster.ts"
import { age } from "./ages.ts"
import { cells, type Cell } from "./cells.ts"
import recorded from "./columns.json" with { type: "json" }
import { parse, select, type Path } from "./jsonpath.ts"
import { isPartial, misfit, partial, partials, type PartialFormat } from "./partial.ts"

export interface Form {
  readonly format: "Object" | "Table" | PartialFormat
  /** of the form, where it isn't the object itself */
  readonly version: string
}

/** As it is. */
export const PLAINLY: Form = { format: "Object", version: "" }

/** The first form in an Accept header that is known, or undefined where there is none (406). */
export const formOf = (accept: string | undefined): Form | undefined => {
  if (accept === undefined || accept === "") return PLAINLY
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim())
    if (!PLAIN.has(type)) continue
    const values = new Map(
      parameters.map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)])
    )
    const [form, version = ""] = [values.get("as"), values.get("v")]
    if (form === undefined) return PLAINLY
    const isMeta = values.get("g") === "meta.k8s.io" && ["v1", "v1beta1"].includes(version)
    if (isMeta && (FORMS as readonly string[]).includes(form))
      return { format: form as Form["format"], version }
  }
  return undefined
}

const FORMS: readonly Form["format"][] = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]

/** What a Table carries of each object besides its cells. */
export type Include = "Metadata" | "Object" | "None"

export interface Shape extends Form {
  readonly resource: Resource
  readonly include: Include
  /** milliseconds since the epoch: what ages are counted to */
  readonly at: number
}

/** An object, or a list of them, in the form that was asked for; a Status stays as it is. */
export const shaped = (shape: Shape, body: unknown): unknown => {
  if (shape.format === "Object" || !isObject(body) || body["kind"] === "Status") return body
  const items = body["items"]
  const objects = Array.isArray(items) ? (items as readonly KubeObject[]) : [body as unknown as KubeObject]
  const { format, resource, version } = shape
  if (isPartial(format)) {
    const wrong = misfit(format, resource, Array.isArray(items))
    if (wrong !== undefined) return wrong.body
    return Array.isArray(items)
      ? partials(body["metadata"] as Readonly<Record<string, unknown>>, objects, version)
      : partial(body as unknown as KubeObject, version)
  }
  return table(shape, objects, metadataOf(body, Array.isArray(items)), true)
}

/**
 * The lines of one watch in the form that was asked for: a Table tells its columns once. Undefined where no line can be
 * told so, since each is of one object: the watch ends there.
 */
export const lineShaper = (
  shape: Omit<Shape, "at">
): ((line: WatchLine, at: number) => WatchLine | undefined) => {
  let first = true
  return (line, at) => {
    if (line.type === "ERROR" || shape.format === "Object") return line
    const object = line.object as KubeObject
    if (shape.format === "PartialObjectMetadataList") return undefined
    if (shape.format === "PartialObjectMetadata")
      return { type: line.type, object: partial(object, shape.version) }
    const withColumns = first
    first = false
    const metadata = { resourceVersion: object.metadata.resourceVersion }
    const ends = object.metadata.annotations?.["k8s.io/initial-events-end"] !== undefined
    const rows = line.type === "BOOKMARK" && !ends ? [] : [object]
    const include = ends && shape.include === "None" ? "Metadata" : shape.include
    return { type: line.type, object: table({ ...shape, include, at }, rows, metadata, withColumns) }
  }
}

const table = (
  shape: Shape,
  objects: readonly KubeObject[],
  metadata: object,
  withColumns: boolean
): object => {
  const columns = columnsOf(shape.resource)
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${shape.version}`,
    metadata,
    columnDefinitions: withColumns ? columns.definitions : null,
    rows: objects.map((object) => ({
      cells: columns.cells(object, shape.at),
      ...conditionsOf(shape.resource, object),
      ...carried(shape, object)
    }))
  }
}

const carried = ({ include, resource, version: form }: Shape, object: KubeObject): object => {
  if (include === "None") return { object: null }
  if (include === "Metadata") return { object: partial(object, form) }
  // alone in its row, it says what it is, also where it came from a list
  const { group, version, kind } = resource
  return { object: { kind, apiVersion: group === "" ? version : `${group}/${version}`, ...object } }
}

/** A pod that is over is marked, so that a client can hide it. */
const conditionsOf = ({ group, plural }: Resource, object: KubeObject): object => {
  if (group !== "" || plural !== "pods") return {}
  const phase = (object as { readonly status?: { readonly phase?: string } }).status?.phase
  if (phase !== "Succeeded" && phase !== "Failed") return {}
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed."
  return { conditions: [{ type: "Completed", status: "True", reason: phase, message }] }
}

/** A list's own metadata, a token to continue only where there is more. */
const metadataOf = (body: Readonly<Record<string, unknown>>, isList: boolean): object => {
  const { resourceVersion, ...rest } = (body["metadata"] ?? {}) as Readonly<Record<string, unknown>>
  if (!isList) return { resourceVersion }
  const { continue: token, ...others } = rest
  return { resourceVersion, ...(token ? { continue: token } : {}), ...others }
}

interface Definition extends Omit<Column, "jsonPath"> {
  readonly format: string
  readonly description: string
  readonly priority: number
}

interface Columns {
  readonly definitions: readonly Definition[]
  readonly cells: (object: KubeObject, at: number) => readonly Cell[]
}

const columnsOf = (resource: Resource): Columns => {
  const name = `${resource.group}/${resource.plural}`
  const known = KNOWN.get(name)
  if (known !== undefined && !resource.custom) {
    return { definitions: known, cells: (object, at) => cells(name, object, at) ?? [object.metadata.name] }
  }
  return custom(resource.columns ?? DEFAULT_COLUMNS)
}

/** The columns that a CustomResourceDefinition asks for, after the name. */
const custom = (columns: readonly Column[]): Columns => {
  const paths = columns.map(({ jsonPath }) => parse(jsonPath))
  return {
    definitions: [
      NAME,
      ...columns.map(({ name, type, format, description, priority }) => ({
        name,
        type,
        format: format ?? "",
        description:
          description ??
          `Custom resource definition column (in JSONPath format): ${jsonPathOf(columns, name)}`,
        priority: priority ?? 0
      }))
    ],
    cells: (object, at) => [
      object.metadata.name,
      ...columns.map(({ type }, place) => cellOf(type, valueAt(paths[place], object), at))
    ]
  }
}

const jsonPathOf = (columns: readonly Column[], name: string): string =>
  columns.find((each) => each.name === name)?.jsonPath ?? ""

const valueAt = (path: Path | undefined, object: KubeObject): unknown =>
  path ? select(path, object)[0] : undefined

/** A value as a column of this type shows it; null where it has another type. */
const cellOf = (type: string, value: unknown, at: number): Cell => {
  if (value === undefined || value === null) return null
  if (type === "string")
    return typeof value === "object" ? JSON.stringify(value) : String(value as string | number)
  if (type === "date") return typeof value === "string" ? dateCell(value, at) : null
  if (type === "boolean") return typeof value === "boolean" ? value : null
  if (typeof value !== "number") return null
  return type === "integer" ? Math.trunc(value) : value
}

const dateCell = (value: string, at: number): string =>
  value !== "" && Number.isNaN(Date.parse(value)) ? "<invalid>" : age(value, at)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const PLAIN = new Set(["application/json", "application/yaml", "application/*", "*/*"])

const KNOWN: ReadonlyMap<string, readonly Definition[]> = new Map(Object.entries(recorded))

const NAME: Definition = (KNOWN.get("/namespaces") as readonly [Definition])[0]

const DEFAULT_COLUMNS: readonly Column[] = [
  {
    name: "Age",
    type: "date",
    jsonPath: ".metadata.creationTimestamp",
    description: (KNOWN.get("/namespaces") as readonly [Definition, Definition, Definition])[2].description
  }
]
