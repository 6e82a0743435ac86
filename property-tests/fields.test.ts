import { readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { digestWanted, type Memo, ownedTree, wantedTree } from "../src/core/fields.ts"
import type { ChildKind } from "../src/core/schema.ts"
import { stated } from "../src/core/stated.ts"
import { differences, digest } from "../src/core/tree.ts"
import { anyApplied, applied, type Applied, entry, MANAGER } from "./applied.ts"
import {
  changed,
  edit,
  hasValue,
  leaves,
  managed,
  matches,
  meddlings,
  pick,
  reversed,
  steps,
  valueAt,
  without,
  withoutPath
} from "./edits.ts"
import type { Fields, FieldSet, Value } from "./openapi.ts"

const RUNS = { numRuns: 10_000 }

const ownedDigest = (kind: ChildKind, live: Fields): string => digest(ownedTree(kind, live, MANAGER))

describe("ownedTree", () => {
  it("P14 equals the wanted tree right after the apply, whatever the server respelled, dropped or filled in", () => {
    fc.assert(
      fc.property(anyApplied, ({ kind, sent, live }) => {
        expect(differences(wantedTree(kind, sent), ownedTree(kind, live, MANAGER))).toEqual([])
        expect(ownedDigest(kind, live)).toBe(digestWanted(kind, sent))
      }),
      RUNS
    )
  })

  it("differs after any owned value was changed", () => {
    fc.assert(
      fc.property(anyApplied, fc.nat(), ({ kind, sent, live, set }, at) => {
        const paths = leaves(set).filter((path) => hasValue(valueAt(sent, path)))
        fc.pre(paths.length > 0)
        const path = paths[at % paths.length] ?? []
        const edited = edit(live, path, (value) => changed(value ?? valueAt(sent, path)))
        expect(ownedDigest(kind, edited), path.join(" ")).not.toBe(digestWanted(kind, sent))
      }),
      RUNS
    )
  })

  it("differs after any owned item of a list was removed, or stands twice", () => {
    fc.assert(
      fc.property(anyApplied, fc.nat(), fc.boolean(), ({ kind, sent, live, set }, at, twice) => {
        const items = steps(set).filter((path) => /^[kv]:/.test(path.at(-1) ?? ""))
        fc.pre(items.length > 0)
        const path = items[at % items.length] ?? []
        const edited = edit(live, path.slice(0, -1), (list) => {
          const matching = (item: Value) => matches(item, path.at(-1) ?? "")
          const all = list as readonly Value[]
          return twice ? [...all, ...all.filter(matching)] : all.filter((item) => !matching(item))
        })
        expect(ownedDigest(kind, edited), path.join(" ")).not.toBe(digestWanted(kind, sent))
      }),
      RUNS
    )
  })

  it("does not depend on what other managers and the server put beside", () => {
    fc.assert(
      fc.property(anyApplied, fc.array(fc.constantFrom(...meddlings)), ({ kind, sent, live }, others) => {
        const meddled = others.reduce((object, other) => other(object), live)
        expect(differences(wantedTree(kind, sent), ownedTree(kind, meddled, MANAGER))).toEqual([])
      }),
      RUNS
    )
  })

  it("differs after the containers that it owns were put in another order", () => {
    fc.assert(
      fc.property(applied("Deployment"), ({ kind, sent, live }) => {
        const containers = ["f:spec", "f:template", "f:spec", "f:containers"]
        const turned = edit(live, containers, (list) => [...(list as readonly Value[])].reverse())
        const several = (valueAt(sent, containers) as readonly Value[]).length > 1
        expect(ownedDigest(kind, turned) === digestWanted(kind, sent)).toBe(!several)
      }),
      { numRuns: 10_000 }
    )
  })

  it("is nothing for a manager that applied nothing", () => {
    fc.assert(
      fc.property(anyApplied, ({ kind, live }) => {
        expect(ownedTree(kind, live, "kube-controller-manager").parts.size).toBe(0)
        expect(ownedTree(kind, live, "other").parts.size).toBe(0)
      }),
      { numRuns: 100 }
    )
  })

  it("loses what another manager took away", () => {
    fc.assert(
      fc.property(anyApplied, fc.nat(), ({ kind, sent, live, set }, at) => {
        const paths = leaves(set)
        const lost = paths[at % paths.length] ?? []
        const rest = withoutPath(set, lost)
        const taken = managed(live, [entry(MANAGER, "Apply", rest), entry("kubectl-edit", "Update", {})])
        const found = differences(wantedTree(kind, sent), ownedTree(kind, taken, MANAGER))
        expect(found.length).toBeGreaterThan(0)
      }),
      RUNS
    )
  })

  it("joins the entries of a manager that applied in more than one API version", () => {
    fc.assert(
      fc.property(anyApplied, ({ kind, sent, live, set }) => {
        const halves = [pick(set, "f:metadata"), pick(set, "f:spec")]
        const split = managed(
          live,
          halves.map((half) => entry(MANAGER, "Apply", half))
        )
        expect(ownedDigest(kind, split)).toBe(digestWanted(kind, sent))
      }),
      { numRuns: 10_000 }
    )
  })

  it("P11 takes ownership that can't be read as none, and never throws", () => {
    fc.assert(
      fc.property(anyApplied, fc.nat(), fc.anything(), ({ kind, live, set }, at, poison) => {
        const paths = steps(set)
        const path = paths[at % paths.length] ?? []
        const bads = [poison, String(at), null, [1], { "x:y": {}, "k:{": {}, "v:": {}, "": {} }]
        const bad = bads[at % bads.length] as Value
        const metadata = { ...(live["metadata"] as Fields), managedFields: bad }
        expect(ownedTree(kind, { ...live, metadata }, MANAGER).parts.size).toBe(0)
        const torn = managed(live, [
          bad as Fields,
          entry(MANAGER, "Apply", edit(set, path, () => bad) as FieldSet)
        ])
        expect(typeof digest(ownedTree(kind, torn, MANAGER))).toBe("string")
        expect(typeof digest(ownedTree(kind, { ...live, spec: bad }, MANAGER))).toBe("string")
      }),
      RUNS
    )
  })

  const small = (fieldsV1: unknown): Fields => ({
    metadata: { managedFields: [{ manager: MANAGER, operation: "Apply", fieldsV1 }] } as unknown as Value,
    spec: {
      replicas: 3,
      strategy: { type: "RollingUpdate" },
      template: { spec: { containers: [{ name: "a", image: "b" }] } }
    }
  })

  it.each([
    ["null below a field", { "f:spec": { "f:replicas": null } }],
    ["a text below a field", { "f:spec": { "f:replicas": "x" } }],
    ["a list", [{ "f:spec": {} }]],
    ["an unknown prefix", { "f:spec": { "x:replicas": {} } }],
    [
      "keys that are no JSON",
      { "f:spec": { "f:template": { "f:spec": { "f:containers": { "k:{": { "f:image": {} } } } } } }
    ],
    ["nothing", {}]
  ])("owns nothing at %s", (_, fieldsV1) => {
    expect(ownedTree("Deployment", small(fieldsV1), MANAGER).parts.size).toBe(0)
  })

  it("has no value for an object that was applied empty, whatever the server fills in", () => {
    const owned = ownedTree("Deployment", small({ "f:spec": { "f:strategy": {} } }), MANAGER)
    expect(differences(wantedTree("Deployment", { spec: { strategy: {} } }), owned)).toEqual([])
    expect(differences(wantedTree("Deployment", { spec: { paused: true } }), owned)).toEqual([
      { path: "spec.paused", wanted: "true", owned: undefined },
      { path: "spec.strategy", wanted: undefined, owned: "empty" }
    ])
  })

  it("notices that the order of env, containers or initContainers was changed, and no other order", () => {
    const list = (field: string, names: readonly string[]) =>
      ({ spec: { template: { spec: { [field]: names.map((name) => ({ name, env: [] })) } } } }) as const
    const sameOrder = (field: string): boolean =>
      digestWanted("Deployment", list(field, ["a", "b"])) ===
      digestWanted("Deployment", list(field, ["b", "a"]))
    expect(["containers", "initContainers", "volumes", "imagePullSecrets"].map(sameOrder)).toEqual([
      false,
      false,
      true,
      true
    ])
  })
})

describe("wantedTree", () => {
  it("changes with every path that is added or removed, and the difference names it", () => {
    fc.assert(
      fc.property(anyApplied, fc.nat(), ({ kind, sent, live, set }, at) => {
        const fields = leaves(set).filter((path) => path.at(-1)?.startsWith("f:") === true)
        const path = fields[at % fields.length] ?? []
        const less = without(sent, path)
        const found = differences(wantedTree(kind, less), ownedTree(kind, live, MANAGER))
        expect(found.length).toBeGreaterThan(0)
        expect(found.some(({ path: said }) => said.includes(path.at(-1)?.slice(2) ?? "-"))).toBe(true)
        expect(digestWanted(kind, less)).not.toBe(digestWanted(kind, sent))
      }),
      RUNS
    )
  })

  it("does not depend on the order of keys, nor on that of items where it has no meaning", () => {
    fc.assert(
      fc.property(anyApplied, ({ kind, sent }) => {
        expect(digestWanted(kind, reversed(sent, "") as Fields)).toBe(digestWanted(kind, sent))
      }),
      RUNS
    )
  })

  it("gives the same with a memo that units share", () => {
    fc.assert(
      fc.property(applied("Deployment"), ({ kind, sent }) => {
        const memo: Memo = new Map()
        const spec = sent["spec"] as Fields
        const other = {
          ...sent,
          metadata: { name: "web-b", labels: { unit: "b" } },
          spec: { ...spec, replicas: 9 }
        }
        expect(digestWanted(kind, sent, memo)).toBe(digestWanted(kind, sent))
        expect(digestWanted(kind, other, memo)).toBe(digestWanted(kind, other))
      }),
      { numRuns: 10_000 }
    )
  })

  it("remembers a subtree for its place, not for every place where the same object stands", () => {
    const labels = { app: "web" }
    const object = {
      metadata: { labels },
      spec: { selector: labels, template: { spec: { nodeSelector: labels } } }
    }
    expect(digestWanted("Deployment", object, new Map())).toBe(
      digestWanted("Deployment", structuredClone(object))
    )
  })

  it("leaves out what says which object it is", () => {
    const identity = {
      name: "x",
      namespace: "y",
      uid: "z",
      resourceVersion: "1",
      creationTimestamp: null,
      managedFields: []
    }
    expect(wantedTree("Service", { metadata: identity }).parts.size).toBe(0)
  })

  it("tells a number from a text that looks like one", () => {
    const port = (targetPort: unknown) => ({ spec: { ports: [{ port: 80, targetPort }] } })
    expect(digestWanted("Service", port("80"))).not.toBe(digestWanted("Service", port(80)))
  })

  it("takes any value anywhere", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (metadata, spec) => {
        for (const kind of ["Deployment", "StatefulSet", "Service"] as const)
          expect(typeof digestWanted(kind, { metadata, spec })).toBe("string")
      }),
      { numRuns: 10_000 }
    )
  })
})

describe("recorded applies", () => {
  it("leave the tree that was wanted, on a real API server", () => {
    const seen = recorded()
    expect(seen.length).toBeGreaterThan(30)
    const wrong = seen.flatMap(({ kind, sent, live, manager, story }) => {
      const found = differences(wantedTree(kind, sent), ownedTree(kind, live, manager))
      return found.length === 0 ? [] : [{ story, found }]
    })
    expect(wrong).toEqual([])
  })
})

// ---- recorded answers

interface Recorded extends Omit<Applied, "set"> {
  readonly manager: string
  readonly story: string
}

interface Exchange {
  readonly request: {
    readonly method: string
    readonly path: string
    readonly contentType?: string
    readonly query?: { readonly [name: string]: string }
    readonly body?: Fields
  }
  readonly response: { readonly code: number; readonly body: Fields }
}

/** Successful applies of bodies that leave nothing to the server where the server would choose (as the product sends them). */
const recorded = (): readonly Recorded[] => {
  const text = readFileSync(new URL("recorded/answers.json", import.meta.url), "utf8")
  const { stories } = JSON.parse(text) as {
    readonly stories: readonly { readonly name: string; readonly exchanges: readonly Exchange[] }[]
  }
  return stories.flatMap(({ name, exchanges }) =>
    exchanges.flatMap(({ request, response }) => {
      const { body: sent, query } = request
      const kind = sent?.["kind"] as ChildKind
      if (request.contentType !== "application/apply-patch+yaml" || response.code > 201 || sent === undefined)
        return []
      if (!["Deployment", "StatefulSet", "Service"].includes(kind) || /\/(status|scale)$/.test(request.path))
        return []
      if (JSON.stringify(stated(kind, sent["spec"])) !== JSON.stringify(sent["spec"])) return []
      return [{ kind, sent, live: response.body, manager: query?.["fieldManager"] ?? "", story: name }]
    })
  )
}
