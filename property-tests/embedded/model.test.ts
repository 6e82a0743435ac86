import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Change, Cluster, KubeObject, Request } from "../../src/embedded/cluster.ts"
import { compact, list, start, step, watch } from "../../src/embedded/model.ts"

// Each run is a story of up to 20 requests: 500 runs a property, a second or two.
const RUNS = { numRuns: 500 }

describe("step", () => {
  it("P14: never writes to the cluster or to the request", () => {
    fc.assert(
      fc.property(story, (requests) => {
        let cluster = frozen(start(NOW))
        for (const request of requests) cluster = frozen(step(cluster, frozen(request)).cluster)
      }),
      RUNS
    )
  })

  it("gives the same cluster for the same requests", () => {
    fc.assert(
      fc.property(story, (requests) => {
        expect(told(requests)).toEqual(told(requests))
      }),
      RUNS
    )
  })

  it("counts one revision for each change", () => {
    fc.assert(
      fc.property(story, (requests) => {
        let cluster = start(NOW)
        for (const request of requests) {
          const before = cluster.revision
          const { cluster: after, changes } = step(cluster, request)
          expect(changes.map(({ revision }) => revision)).toEqual(
            changes.map((_, index) => before + index + 1)
          )
          expect(after.revision).toBe(before + changes.length)
          for (const { revision, object } of changes)
            expect(object.metadata.resourceVersion).toBe(String(revision))
          cluster = after
        }
      }),
      RUNS
    )
  })

  it("changes nothing when a configuration is applied twice", () => {
    fc.assert(
      fc.property(story, fullApply, (requests, request) => {
        const first = step(told(requests), request)
        if (first.response.code >= 300) return
        const again = step(first.cluster, { ...request, at: request.at + 60_000 })
        expect(again.changes).toEqual([])
        expect(again.response.body).toEqual(first.response.body)
      }),
      RUNS
    )
  })

  it("writes once more where an empty map was applied and the order of managers changed, as the server does", () => {
    const them = { ...applied("them", {}, true, { k: "1" }), at: NOW + 60_000 }
    const first = told([applied("us", {}, true, { k: "1" }), { ...them, at: NOW }])
    const second = step(first, them)
    expect(second.changes.map(({ type }) => type)).toEqual(["MODIFIED"])
    expect(step(second.cluster, { ...them, at: NOW + 120_000 }).changes).toEqual([])
  })

  it("keeps what another manager applied when one lets go of all of its own", () => {
    fc.assert(
      fc.property(labels, labels, (mine, theirs) => {
        const both = [applied("us", mine), applied("them", theirs), applied("us", {})]
        const { metadata } = only(told(both))
        expect(metadata.labels ?? {}).toEqual(theirs)
      }),
      RUNS
    )
  })

  it("refuses an apply of another value without force, and names who owns the field", () => {
    fc.assert(
      fc.property(labels, fc.constantFrom("a", "b", "c"), (mine, key) => {
        const cluster = told([applied("us", { ...mine, [key]: "1" })])
        const { response } = step(cluster, applied("them", { [key]: "2" }, false))
        expect(response.code).toBe(409)
        expect(response.body).toMatchObject({
          details: { causes: [{ message: 'conflict with "us"', field: `.metadata.labels.${key}` }] }
        })
      }),
      RUNS
    )
  })
})

describe("watch", () => {
  it("P8: shows a watcher that resumes at any revision what a fresh list shows", () => {
    fc.assert(
      fc.property(
        story,
        fc.nat(),
        fc.constantFrom("", "a=1", "a!=1", "a in (1,2)", "!b"),
        (requests, cut, labelSelector) => {
          const at = cut % (requests.length + 1)
          const earlier = told(requests.slice(0, at))
          const later = told(requests.slice(at), earlier)
          const seen = new Map(listed(earlier, labelSelector).map((object) => [object.metadata.uid, object]))
          for (const { type, object } of resumed(later, earlier.revision, labelSelector)) {
            expect(seen.has(object.metadata.uid)).toBe(type !== "ADDED")
            if (type === "DELETED") seen.delete(object.metadata.uid)
            else seen.set(object.metadata.uid, object)
          }
          const [shown, fresh] = [[...seen.values()], listed(later, labelSelector)]
          expect(shown.sort(byName)).toEqual([...fresh].sort(byName))
        }
      ),
      RUNS
    )
  })

  it("P7: tells in order, once, what a step changed", () => {
    fc.assert(
      fc.property(story, (requests) => {
        let cluster = start(NOW)
        const open = opened(cluster, String(cluster.revision), "")
        const expected: unknown[] = []
        const lines: unknown[] = []
        for (const request of requests) {
          const { cluster: after, changes } = step(cluster, request)
          cluster = after
          for (const change of changes) {
            const line = open.accepts(change)
            if (line) lines.push([line.type, (line.object as KubeObject).metadata.resourceVersion])
            if (change.resource === DEPLOYMENTS) expected.push([change.type, String(change.revision)])
          }
        }
        expect(lines).toEqual(expected)
      }),
      RUNS
    )
  })

  it("says 410 where history is compacted", () => {
    const cluster = told([applied("us", { a: "1" }), applied("us", { a: "2" }), applied("us", { a: "3" })])
    const [line] = opened(compact(cluster, cluster.revision - 1), String(cluster.revision - 2), "").initial
    expect(line).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } })
  })
})

describe("list", () => {
  it("shows one state over all pages, whatever is written between them", () => {
    fc.assert(
      fc.property(story, story, fc.integer({ min: 1, max: 4 }), (requests, between, limit) => {
        let cluster = told(requests)
        const whole = list(cluster, DEPLOYMENTS)
        const writes = [...between]
        const names: string[] = []
        let query: Record<string, string> = { limit: String(limit) }
        for (;;) {
          const { body } = step(cluster, { ...GET, path: ALL, query }).response
          const page = body as { metadata: { continue?: string }; items: readonly KubeObject[] }
          names.push(...page.items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`))
          if (page.metadata.continue === undefined) break
          query = { limit: String(limit), continue: page.metadata.continue }
          const write = writes.shift()
          if (write) cluster = step(cluster, write).cluster
        }
        expect(names).toEqual(whole.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`))
      }),
      RUNS
    )
  })
})

const NOW = Date.UTC(2026, 0, 1)
const DEPLOYMENTS = "apps/deployments"
const ALL = "/apis/apps/v1/deployments"
const OURS = "/apis/apps/v1/namespaces/default/deployments"
const GET = { method: "GET", query: {}, at: NOW } as const

const names = fc.constantFrom("x", "y", "z", "x-1")
const labels = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"), { maxKeys: 3 })
const managers = fc.constantFrom("us", "them")
const env = fc.uniqueArray(fc.constantFrom("A", "B", "C"), { maxLength: 3 })

const spec = fc.record(
  {
    replicas: fc.constantFrom(1, 2, null),
    env,
    args: fc.array(fc.constantFrom("-a", "-b"), { maxLength: 2 }),
    labels
  },
  { requiredKeys: ["env", "labels"] }
)

const deployment = (name: string, given: typeof spec extends fc.Arbitrary<infer T> ? T : never): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, labels: given.labels },
  spec: {
    ...("replicas" in given ? { replicas: given.replicas } : {}),
    selector: { matchLabels: { app: "x" } },
    template: {
      metadata: { labels: { app: "x" } },
      spec: {
        containers: [
          {
            name: "c",
            image: "i",
            env: given.env.map((each) => ({ name: each, value: "1" })),
            ...(given.args ? { args: given.args } : {})
          }
        ]
      }
    }
  }
})

const request = (method: Request["method"], path: string, more: Partial<Request> = {}): Request => ({
  method,
  path,
  query: {},
  userAgent: "test",
  at: NOW,
  ...more
})

const applying = (manager: string, name: string, body: unknown, force = true): Request =>
  request("PATCH", `${OURS}/${name}`, {
    query: { fieldManager: manager, force: String(force) },
    contentType: "application/apply-patch+yaml",
    body
  })

const apply = fc
  .tuple(managers, names, spec, fc.boolean())
  .map(([manager, name, given, force]) => applying(manager, name, deployment(name, given), force))

/** Without null and empty values, which the live object never has: after those the server may write once more. */
const fullApply = fc
  .record({
    manager: managers,
    name: names,
    replicas: fc.constantFrom(1, 2),
    env: fc.uniqueArray(fc.constantFrom("A", "B", "C"), { minLength: 1 }),
    args: fc.array(fc.constantFrom("-a", "-b"), { minLength: 1, maxLength: 2 }),
    labels: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"), {
      minKeys: 1,
      maxKeys: 3
    })
  })
  .map(({ manager, name, ...given }) => applying(manager, name, deployment(name, given)))

const other = fc.oneof(
  fc.tuple(names, spec).map(([name, given]) => request("POST", OURS, { body: deployment(name, given) })),
  fc.tuple(names, labels).map(([name, given]) =>
    request("PATCH", `${OURS}/${name}`, {
      contentType: "application/merge-patch+json",
      body: { metadata: { labels: given, finalizers: null } }
    })
  ),
  fc.tuple(names, fc.nat(3)).map(([name, replicas]) =>
    request("PATCH", `${OURS}/${name}/status`, {
      contentType: "application/merge-patch+json",
      body: { status: { replicas } }
    })
  ),
  names.map((name) =>
    request("PATCH", `${OURS}/${name}`, {
      contentType: "application/merge-patch+json",
      body: { metadata: { finalizers: ["x.io/hold"] } }
    })
  ),
  names.map((name) => request("DELETE", `${OURS}/${name}`)),
  fc.constant(
    request("POST", "/api/v1/namespaces/default/services", {
      body: { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } }
    })
  )
)

const story = fc.array(fc.oneof({ weight: 2, arbitrary: apply }, { weight: 3, arbitrary: other }), {
  maxLength: 20
})

const applied = (manager: string, given: object, force = true, data?: object): Request =>
  request("PATCH", "/api/v1/namespaces/default/configmaps/m", {
    query: { fieldManager: manager, force: String(force) },
    contentType: "application/apply-patch+yaml",
    body: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "m", labels: given },
      ...(data ? { data } : {})
    }
  })

const told = (requests: readonly Request[], from: Cluster = start(NOW)): Cluster =>
  requests.reduce((cluster, each) => step(cluster, each).cluster, from)

const only = (cluster: Cluster): KubeObject => {
  const [object] = list(cluster, "/configmaps")
  if (!object) throw new Error("nothing was applied")
  return object
}

const opened = (cluster: Cluster, resourceVersion: string, labelSelector: string) => {
  const answer = watch(cluster, {
    ...GET,
    path: ALL,
    query: { watch: "true", resourceVersion, labelSelector }
  })
  if (answer._tag !== "Watch") throw new Error(JSON.stringify(answer.response))
  return answer.watch
}

const resumed = (cluster: Cluster, revision: number, labelSelector: string) =>
  opened(cluster, String(revision), labelSelector).initial as readonly {
    readonly type: Change["type"]
    readonly object: KubeObject
  }[]

const listed = (cluster: Cluster, labelSelector: string): readonly KubeObject[] => {
  const { body } = step(cluster, { ...GET, path: ALL, query: { labelSelector } }).response
  const { items } = body as { readonly items: readonly KubeObject[] }
  return items.map((item) => ({ apiVersion: "apps/v1", kind: "Deployment", ...item }))
}

const byName = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1)

const frozen = <T>(value: T): T => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  if (value instanceof Map) for (const each of value.values()) frozen(each)
  for (const each of Object.values(value)) frozen(each)
  return value
}
