import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Change, Cluster, Request, WatchLine } from "../../src/embedded/cluster.ts"
import { start, step, watch } from "../../src/embedded/model.ts"
import { NOON } from "./stage.ts"
// What a real API server (1.37) that finds its own address made at its start.
import begun from "./begun.json" with { type: "json" }

const SERVICES = "/api/v1/namespaces/default/services"

describe("a watch-list", () => {
  it("tells what is there, that this is all, and what comes then: whoever follows it has the list", () => {
    fc.assert(
      fc.property(writes, writes, selectors, (before, after, query) => {
        const then = written(start(NOON), before)
        const opened = watch(then.cluster, asked(SERVICES, { ...WATCH_LIST, ...query }))
        if (opened._tag === "Refused") throw new Error(JSON.stringify(opened.response))
        const { initial, accepts } = opened.watch
        const end = initial.at(-1)
        expect(initial.slice(0, -1).every(({ type }) => type === "ADDED")).toBe(true)
        expect(end).toMatchObject({
          type: "BOOKMARK",
          object: { kind: "Service", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } }
        })
        expect(followed(initial)).toEqual(listed(then.cluster, query))
        const now = written(then.cluster, after)
        const later = now.changes.flatMap((change) => accepts(change) ?? [])
        expect(followed([...initial, ...later])).toEqual(listed(now.cluster, query))
      }),
      { numRuns: 300 }
    )
  })

  it("of a revision that isn't there yet ends with what is wrong", () => {
    const opened = watch(start(NOON), asked(SERVICES, { ...WATCH_LIST, resourceVersion: "99999" }))
    expect(opened).toMatchObject({
      watch: { initial: [{ type: "ERROR", object: { code: 504, reason: "Timeout" } }] }
    })
  })

  const [requires, forbidden, unsupported, continued] = [
    "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    'Unsupported value: "Exact": supported values: "NotOlderThan"',
    "Forbidden: resourceVersionMatch is forbidden when continue is provided"
  ]
  it.each([
    [{ sendInitialEvents: "true" }, [requires]],
    [{ sendInitialEvents: "false" }, [requires]],
    [{ resourceVersionMatch: "NotOlderThan" }, [forbidden]],
    [{ resourceVersionMatch: "Exact" }, [forbidden, unsupported]],
    [{ sendInitialEvents: "true", resourceVersionMatch: "Exact" }, [requires, unsupported]],
    [{ sendInitialEvents: "1", resourceVersionMatch: "NotOlderThan", continue: "x" }, [continued]]
  ] as const)("asked for with %j is refused in the server's words", (query, problems) => {
    const refused = watch(start(NOON), asked(SERVICES, { watch: "true", ...query }))
    const causes = problems.map((message) => ({ field: "resourceVersionMatch", message }))
    expect(refused).toMatchObject({
      response: {
        code: 422,
        body: { reason: "Invalid", details: { group: "meta.k8s.io", kind: "ListOptions", causes } }
      }
    })
  })

  it("is no list", () => {
    const { response } = step(start(NOON), asked(SERVICES, { sendInitialEvents: "false" }))
    expect(response).toMatchObject({
      code: 422,
      body: {
        message:
          'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'
      }
    })
  })
})

describe("a field selector", () => {
  it("takes Services with an address of their own, and those without", () => {
    const { cluster } = written(start(NOON), [
      { name: "plain", headless: false },
      { name: "headless", headless: true }
    ])
    const named = (fieldSelector: string): readonly string[] => [...listed(cluster, { fieldSelector }).keys()]
    expect(named("spec.clusterIP!=None")).toEqual(["kubernetes", "plain"])
    expect(named("spec.clusterIP=None")).toEqual(["headless"])
    expect(named("spec.clusterIP!=None,metadata.name!=plain")).toEqual(["kubernetes"])
    expect(named("metadata.namespace=other")).toEqual([])
  })

  it.each([
    ["/api/v1/namespaces", "metadata.namespace=a", "field label not supported: metadata.namespace"],
    [SERVICES, "spec.ports=1", "field label not supported: spec.ports"],
    [
      "/apis/networking.k8s.io/v1/servicecidrs",
      "spec.x=1",
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'
    ]
  ])("of %s that the kind has not is refused: %s", (path, fieldSelector, message) => {
    const { response } = step(start(NOON), asked(path, { fieldSelector }))
    expect(response).toMatchObject({ code: 400, body: { message } })
  })
})

describe("a cluster at its start", () => {
  it.each(Object.entries(begun))("has at %s what a real one has", (path, real) => {
    const { response } = step(start(NOON), asked(path))
    expect(plain(response.body)).toEqual(real)
  })
})

describe("endpoints", () => {
  it("are told with the warning that they are deprecated, whatever is asked of them", () => {
    const warning = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
    for (const path of ["/api/v1/endpoints", "/api/v1/namespaces/default/endpoints/none"])
      expect(step(start(NOON), asked(path)).response.headers).toMatchObject({ warning })
    expect(step(start(NOON), asked(SERVICES)).response.headers).toBeUndefined()
  })
})

const WATCH_LIST = {
  watch: "true",
  sendInitialEvents: "true",
  resourceVersionMatch: "NotOlderThan",
  allowWatchBookmarks: "true"
}

const asked = (path: string, query: Request["query"] = {}): Request => ({
  method: "GET",
  path,
  query,
  at: NOON
})

interface Write {
  readonly name: string
  /** undefined: it goes */
  readonly headless: boolean | undefined
}

const writes: fc.Arbitrary<readonly Write[]> = fc.array(
  fc.record({
    name: fc.constantFrom("a", "b", "c"),
    headless: fc.constantFrom(true, false, undefined)
  }),
  { maxLength: 6 }
)

const selectors = fc.constantFrom<Request["query"]>(
  {},
  { fieldSelector: "spec.clusterIP!=None" },
  { labelSelector: "!headless" },
  { fieldSelector: "metadata.name=a" }
)

/** Each write makes a Service anew, or takes it away. */
const written = (
  cluster: Cluster,
  all: readonly Write[]
): { readonly cluster: Cluster; readonly changes: readonly Change[] } => {
  let after = cluster
  const changes: Change[] = []
  const ask = (request: Partial<Request>): void => {
    const made = step(after, { method: "POST", path: SERVICES, query: {}, at: NOON, ...request })
    after = made.cluster
    changes.push(...made.changes)
  }
  for (const { name, headless } of all) {
    ask({ method: "DELETE", path: `${SERVICES}/${name}` })
    if (headless === undefined) continue
    const spec = { ports: [{ port: 80 }], ...(headless ? { clusterIP: "None" } : {}) }
    ask({ body: { metadata: { name, labels: headless ? { headless: "" } : {} }, spec } })
  }
  return { cluster: after, changes }
}

/** Name -> revision, of who follows the lines. */
const followed = (lines: readonly WatchLine[]): ReadonlyMap<string, string> => {
  const all = new Map<string, string>()
  for (const { type, object } of lines) {
    const { name = "", resourceVersion } = (object as Named).metadata
    if (type === "DELETED") all.delete(name)
    else if (type !== "BOOKMARK") all.set(name, resourceVersion)
  }
  return new Map([...all].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const listed = (cluster: Cluster, query: Request["query"]): ReadonlyMap<string, string> => {
  const { items } = step(cluster, asked(SERVICES, query)).response.body as {
    readonly items: readonly Named[]
  }
  return new Map(items.map(({ metadata }) => [metadata.name ?? "", metadata.resourceVersion]))
}

interface Named {
  readonly metadata: { readonly name?: string; readonly resourceVersion: string }
}

/** An object without what differs from one start to the next. */
const plain = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    ["uid", "resourceVersion", "creationTimestamp", "time", "lastTransitionTime"].includes(key)
      ? undefined
      : value
  )
