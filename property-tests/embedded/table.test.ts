import { describe, expect, it } from "vitest"
import type { Column, Resource } from "../../src/embedded/cluster.ts"
import { formOf, lineShaper, shaped, type Shape } from "../../src/embedded/table.ts"
// Objects of a real API server (1.37) beside the table that it made of them at that moment.
import recorded from "./tables.json" with { type: "json" }

describe("a Table", () => {
  it.each(recorded.map((each) => [`${each.group}/${each.plural}`, each] as const))(
    "of %s has the cells that the API server gives it",
    (_, { group, plural, at, items, rows }) => {
      const shape = shapeOf(resource(group, plural), "Table", at)
      const table = shaped(shape, { kind: "List", metadata: { resourceVersion: "7" }, items }) as Table
      expect(table.metadata).toEqual({ resourceVersion: "7" })
      expect(
        table.rows.map(({ cells, conditions }) => ({ cells, ...(conditions ? { conditions } : {}) }))
      ).toEqual(rows)
    }
  )

  it.each(recorded.map((each) => [`${each.group}/${each.plural}`, each] as const))(
    "of %s has the columns that the API server gives it",
    (_, { group, plural, at, columnDefinitions }) => {
      const table = shaped(shapeOf(resource(group, plural), "Table", at), { items: [] }) as Table
      expect(table.columnDefinitions).toMatchObject(columnDefinitions)
      expect(table.columnDefinitions).toHaveLength(columnDefinitions.length)
    }
  )

  it("of one object has one row and its revision", () => {
    const table = shaped(shapeOf(GRIDS, "Table"), GRID) as Table
    expect(table.metadata).toEqual({ resourceVersion: "9" })
    expect(table.rows).toHaveLength(1)
  })

  it("carries what was asked for of each object", () => {
    const carried = (include: Shape["include"]): unknown =>
      (shaped({ ...shapeOf(GRIDS, "Table"), include }, GRID) as Table).rows[0]?.object
    expect(carried("Object")).toEqual(GRID)
    expect(carried("None")).toBeNull()
    expect(carried("Metadata")).toEqual({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: GRID.metadata
    })
  })

  it("says of an object of a list what it is, since it stands alone in its row", () => {
    const { kind, apiVersion: _, ...item } = GRID
    const list = { kind: "GridList", apiVersion: GRID.apiVersion, metadata: {}, items: [item] }
    const [row] = (shaped({ ...shapeOf({ ...GRIDS, kind }, "Table"), include: "Object" }, list) as Table).rows
    expect(row?.object).toEqual(GRID)
  })

  it.each([
    ["integer", 3, 3],
    ["integer", "3", null],
    ["number", 0.5, 0.5],
    ["boolean", true, true],
    ["boolean", "true", null],
    ["string", "text", "text"],
    ["string", 3, "3"],
    ["string", { a: [1] }, '{"a":[1]}'],
    ["string", null, null],
    ["date", "2026-11-29T11:58:00Z", "2m"],
    ["date", "yesterday", "<invalid>"],
    ["date", 3, null]
  ])("shows in a column of type %s the value %j as %j", (type, value, shown) => {
    const columns: readonly Column[] = [{ name: "It", type, jsonPath: ".spec.it" }]
    const table = shaped(shapeOf({ ...GRIDS, columns }, "Table"), { ...GRID, spec: { it: value } }) as Table
    expect(table.rows[0]?.cells).toEqual(["web", shown])
  })

  it("of a custom kind without columns shows its age", () => {
    const { columns: _, ...plain } = GRIDS
    const table = shaped(shapeOf(plain, "Table"), GRID) as Table
    expect(table.columnDefinitions?.map((column) => column.name)).toEqual(["Name", "Age"])
    expect(table.rows[0]?.cells).toEqual(["web", "2m"])
  })
})

describe("metadata alone", () => {
  const list = { metadata: { continue: "", resourceVersion: "7" }, items: [GRID] }
  const [one, all] = ["PartialObjectMetadata", "PartialObjectMetadataList"] as const

  it.each(["v1", "v1beta1"])("of a list is a list, of the version that was asked for (%s)", (version) => {
    expect(shaped({ ...shapeOf(GRIDS, all), version }, list)).toEqual({
      kind: all,
      apiVersion: `meta.k8s.io/${version}`,
      metadata: { resourceVersion: "7" },
      items: [{ kind: one, apiVersion: `meta.k8s.io/${version}`, metadata: GRID.metadata }]
    })
  })

  it("keeps what is to be continued", () => {
    const metadata = { resourceVersion: "7", continue: "t", remainingItemCount: 3 }
    expect(shaped(shapeOf(GRIDS, all), { ...list, metadata })).toMatchObject({ metadata })
  })

  it("of no object is null, as the API server writes it", () => {
    expect(shaped(shapeOf(GRIDS, all), { ...list, items: [] })).toMatchObject({ items: null })
  })

  it.each([
    [
      one,
      { ...resource("apps", "deployments"), listKind: "DeploymentList" },
      list,
      "a list (*apps.DeploymentList)"
    ],
    [all, { ...resource("", "pods"), kind: "Pod" }, GRID, "not a list (*core.Pod)"],
    [all, { ...resource("events.k8s.io", "events"), kind: "Event" }, GRID, "not a list (*core.Event)"],
    [one, GRIDS, list, "a list (*unstructured.UnstructuredList)"]
  ] as const)("asked for as %s is refused where it doesn't fit", (format, kind, body, what) => {
    expect(shaped(shapeOf(kind, format), body)).toMatchObject({
      kind: "Status",
      code: 406,
      reason: "NotAcceptable",
      message: `you requested ${format}, but the requested object is ${what}`
    })
  })
})

describe("metadata of a list", () => {
  it("asked for of one custom object is what the server fails at", () => {
    expect(shaped(shapeOf(GRIDS, "PartialObjectMetadataList"), GRID)).toMatchObject({
      code: 500,
      message: "content is not a list"
    })
  })
})

describe("a Status", () => {
  it.each(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"] as const)(
    "stays as it is where a %s was asked for",
    (format) => {
      const status = { kind: "Status", apiVersion: "v1", code: 404 }
      expect(shaped(shapeOf(GRIDS, format), status)).toBe(status)
    }
  )
})

describe("the lines of a watch", () => {
  it("tell the columns once, and bookmarks without a row", () => {
    const shape = lineShaper(shapeOf(GRIDS, "Table"))
    const lines = (["ADDED", "MODIFIED", "BOOKMARK"] as const).map((type) =>
      shape({ type, object: GRID }, NOON)
    )
    const tables = lines.map((line) => line?.object as Table)
    expect(lines.map((line) => line?.type)).toEqual(["ADDED", "MODIFIED", "BOOKMARK"])
    expect(tables.map((table) => table.columnDefinitions?.length)).toEqual([3, undefined, undefined])
    expect(tables.map((table) => table.rows.length)).toEqual([1, 1, 0])
    expect(tables.map((table) => table.metadata)).toEqual(Array(3).fill({ resourceVersion: "9" }))
  })

  it("have a row for the bookmark that ends the initial events, which says so", () => {
    const metadata = { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } }
    const line = { type: "BOOKMARK", object: { ...GRID, metadata } } as const
    const told = lineShaper({ ...shapeOf(GRIDS, "Table"), include: "None" })(line, NOON)
    expect((told?.object as Table | undefined)?.rows[0]?.object).toMatchObject({
      kind: "PartialObjectMetadata",
      metadata
    })
  })

  it("are of one object each: as a list none can be told", () => {
    const line = { type: "ADDED", object: GRID } as const
    expect(lineShaper(shapeOf(GRIDS, "PartialObjectMetadataList"))(line, NOON)).toBeUndefined()
    expect(lineShaper(shapeOf(GRIDS, "PartialObjectMetadata"))(line, NOON)).toEqual({
      type: "ADDED",
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: GRID.metadata }
    })
  })

  it("leave an error alone", () => {
    const line = { type: "ERROR", object: { kind: "Status", code: 410 } } as const
    expect(lineShaper(shapeOf(GRIDS, "Table"))(line, NOON)).toBe(line)
  })
})

describe("formOf", () => {
  it.each([
    [undefined, "Object"],
    ["", "Object"],
    ["*/*", "Object"],
    ["application/json", "Object"],
    ["application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "Table"],
    ["application/json;as=Table;g=meta.k8s.io;v=v1beta1", "Table"],
    ["application/json;as=Table;v=v2;g=meta.k8s.io, application/json", "Object"],
    ["application/vnd.kubernetes.protobuf,application/json", "Object"],
    ["application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "PartialObjectMetadata"],
    ["application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "PartialObjectMetadataList"],
    ["application/json;as=PartialObjectMetadataMap;v=v1;g=meta.k8s.io", undefined],
    ["application/json;as=PartialObjectMetadataList", undefined],
    ["application/vnd.kubernetes.protobuf", undefined],
    ["application/json;as=Other;v=v1;g=meta.k8s.io", undefined]
  ])("of %s is %s", (accept, format) => {
    expect(formOf(accept)?.format).toBe(format)
  })
})

interface Table {
  readonly metadata: object
  readonly columnDefinitions: readonly { readonly name: string }[] | null
  readonly rows: readonly {
    readonly cells: readonly unknown[]
    readonly conditions?: unknown
    readonly object: unknown
  }[]
}

const NOON = Date.parse("2026-11-29T12:00:00Z")

const shapeOf = (kind: Resource, format: Shape["format"], at = NOON): Shape => ({
  format,
  version: "v1",
  resource: kind,
  include: "Metadata",
  at
})

const resource = (group: string, plural: string): Resource => {
  const custom = group === "superedge.io"
  const columns = recorded.find((each) => each.plural === "customresourcedefinitions")
    ?.items[0] as unknown as {
    readonly spec: { readonly versions: readonly { readonly additionalPrinterColumns: readonly Column[] }[] }
  }
  return {
    group,
    version: "v1",
    plural,
    singular: plural,
    kind: plural,
    listKind: `${plural}List`,
    namespaced: true,
    shortNames: [],
    categories: [],
    status: true,
    scale: false,
    custom,
    ...(custom ? { columns: columns.spec.versions[0]?.additionalPrinterColumns ?? [] } : {})
  }
}

const GRIDS: Resource = {
  ...resource("example.com", "grids"),
  custom: true,
  columns: [
    { name: "Key", type: "string", jsonPath: ".spec.key" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }
  ]
}

const GRID = {
  kind: "Grid",
  apiVersion: "example.com/v1",
  metadata: { name: "web", resourceVersion: "9", creationTimestamp: "2026-11-29T11:58:00Z" },
  spec: { key: "zone" }
}
