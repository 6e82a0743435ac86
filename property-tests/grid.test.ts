/** Names, labels and keys: whatever a user calls things, the API server takes what is written. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  childLabels,
  childName,
  mayWant,
  gridKey,
  gridSelector,
  isLabelKey,
  isLabelValue,
  namesService,
  ownerReference,
  serviceName,
  withoutTools
} from "../src/core/grid.ts"
import { frozen, RUNS, same, web, webService, webSet } from "./given.ts"
import { gridName, labelKey, labelText } from "./words.ts"

describe("isLabelKey", () => {
  it("is true for every legal key", () => {
    fc.assert(
      fc.property(labelKey, (key) => {
        same(isLabelKey(key), true)
      }),
      RUNS
    )
  })

  it("is false for a legal key with one bad character in it", () => {
    const bad = fc.constantFrom(...` \n\t!@#$%^&*()+=,:;'"|?<>[]{}~é名`.split(""), "\\", "//")
    fc.assert(
      fc.property(labelKey, bad, fc.nat(), (key, character, at) => {
        const i = at % (key.length + 1)
        same(isLabelKey(key.slice(0, i) + character + key.slice(i)), false)
      }),
      RUNS
    )
  })

  it.each([
    "",
    "/",
    "a/",
    "/a",
    "a/b/c",
    "-a",
    "a-",
    ".a",
    "a.",
    "_",
    "__proto__",
    "Example.io/a",
    "a_b/c",
    "a..b/c",
    "-a/b",
    "a.io/-b",
    "n".repeat(64),
    `a.io/${"n".repeat(64)}`,
    `${"p".repeat(254)}/n`
  ])("R21 is false for %j", (key) => {
    expect(isLabelKey(key)).toBe(false)
  })

  it.each(["zone", "topology.kubernetes.io/zone", "A", "a_b.c-D", "n".repeat(63), `${"p".repeat(253)}/n`])(
    "R1 is true for %s",
    (key) => {
      expect(isLabelKey(key)).toBe(true)
    }
  )
})

describe("isLabelValue", () => {
  it("is true for every legal value", () => {
    fc.assert(
      fc.property(labelText, (text) => {
        same(isLabelValue(text), true)
      }),
      RUNS
    )
  })

  it.each(["", "a/b", "-", "a-", "a b", "a\n", "__proto__", "v".repeat(64)])("is false for %j", (text) => {
    expect(isLabelValue(text)).toBe(false)
  })
})

describe("mayWant", () => {
  it("is true for every name that a grid gives", () => {
    fc.assert(
      fc.property(gridName, labelText, (name, unit) => {
        same(mayWant(name, childName(web("zone", {}, { name }), unit)), true)
        same(mayWant(name, childName(webSet("zone", {}, { name }), unit)), true)
      }),
      RUNS
    )
  })

  it("is false for the names of grids that are called otherwise", () => {
    expect(["web-a", "web2-a", "other-web-a", "web"].map((name) => mayWant("web", name))).toEqual([
      true,
      false,
      false,
      false
    ])
  })
})

describe("childName", () => {
  it("P14 is a legal name for any grid and unit, within the kind's limit", () => {
    fc.assert(
      fc.property(gridName, labelText, (name, unit) => {
        const deployment = childName(web("zone", {}, { name }), unit)
        const set = childName(webSet("zone", {}, { name }), unit)
        same([isSubdomain(deployment), deployment.length <= 63], [true, true])
        same([isDnsLabel(set), set.length <= 52], [true, true])
      }),
      RUNS
    )
  })

  it("R8 is plain exactly where it is short enough", () => {
    const lengths = fc.tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 63 }))
    fc.assert(
      fc.property(lengths, ([g, u]) => {
        const [name, unit] = ["g".repeat(g), "u".repeat(u)]
        same(childName(web("zone", {}, { name }), unit) === `${name}-${unit}`, g + 1 + u <= 63)
        same(childName(webSet("zone", {}, { name }), unit) === `${name}-${unit}`, g + 1 + u <= 52)
      }),
      RUNS
    )
  })

  it("gives units of one grid different names, however alike they look", () => {
    const alike = fc.constantFrom("zone-a", "Zone-a", "Zone_A", "zone_a", "zone.a", "ZONE--A", "zone-A")
    const long = fc.constantFrom("a", "b", "ab").map((end) => "u".repeat(60) + end)
    const pair = fc.uniqueArray(fc.oneof(alike, long, labelText), { minLength: 2, maxLength: 2 })
    fc.assert(
      fc.property(gridName, pair, (name, [one = "", other = ""]) => {
        const [deployments, sets] = [web("zone", {}, { name }), webSet("zone", {}, { name })]
        expect(childName(deployments, one)).not.toBe(childName(deployments, other))
        expect(childName(sets, one)).not.toBe(childName(sets, other))
      }),
      RUNS
    )
  })

  // They stand in clusters: no release may give others.
  it.each([
    ["R6", "Zone_A", "web-zone-a-791bf90a33"],
    ["R7", "a.b", "web-a.b"],
    ["R1", "bj", "web-bj"]
  ])("%s of a Deployment for unit %s is %s in every release", (_, unit, name) => {
    expect(childName(web("zone"), unit)).toBe(name)
  })

  it("R7 of a StatefulSet has no dot", () => {
    expect(childName(webSet("zone"), "a.b")).toMatch(/^web-a-b-[0-9a-f]{10}$/)
  })

  it("R8 of a set of a 40-character grid and a 20-character unit begins as the grid does", () => {
    const name = "s".repeat(40)
    expect(childName(webSet("zone", {}, { name }), "u".repeat(20))).toMatch(/^s{40}-[0-9a-f]{10}$/)
  })

  it("R30 can be the same for two grids", () => {
    const second = web("zone", {}, { name: "app-edge" })
    expect(childName(web("zone", {}, { name: "app" }), "edge-a")).toBe(childName(second, "a"))
  })

  it.each(["constructor", "__proto__", "toString"])("R6 is readable for unit %s", (unit) => {
    expect(childName(web("zone"), unit)).toMatch(
      /^web-(constructor|proto-[0-9a-f]{10}|tostring-[0-9a-f]{10})$/
    )
  })
})

describe("childLabels", () => {
  it("R9 are legal for any grid name and key", () => {
    fc.assert(
      fc.property(gridName, labelKey, (name, key) => {
        const labels = childLabels(web(key, {}, { name }), key)
        for (const value of Object.values(labels)) expect(value).toMatch(LABEL_VALUE)
      }),
      RUNS
    )
  })

  it("R1 R9 are the exact texts where those are legal", () => {
    fc.assert(
      fc.property(labelText, labelText, (name, key) => {
        same(childLabels(web(key, {}, { name }), key), {
          "superedge.io/grid-selector": name,
          "superedge.io/grid-uniq-key": key
        })
      }),
      RUNS
    )
  })

  it("R1 tell keys apart that look alike", () => {
    const values = ["a.io/zone", "a.io-zone", "a-io/zone"].map(
      (key) => childLabels(web(key), key)["superedge.io/grid-uniq-key"]
    )
    expect(new Set(values).size).toBe(3)
    expect(values[0]).toMatch(/^a\.io-zone-[0-9a-f]{10}$/)
  })

  it("R55 carry the grid's own labels without the tools' ones", () => {
    const grid = web("zone", {}, { labels: { ...toolLabels, team: "x" } })
    expect(childLabels(grid, "zone")).toEqual({
      team: "x",
      "superedge.io/grid-selector": "web",
      "superedge.io/grid-uniq-key": "zone"
    })
  })

  it("cannot be overruled by the grid's own", () => {
    const grid = web("zone", {}, { labels: { "superedge.io/grid-selector": "other" } })
    expect(childLabels(grid, "zone")["superedge.io/grid-selector"]).toBe("web")
  })

  it("bear the value by which the grid's orphans are known", () => {
    const grid = web("zone", {}, { name: "g".repeat(70) })
    expect(childLabels(grid, "zone")["superedge.io/grid-selector"]).toBe(gridSelector(grid))
  })
})

describe("withoutTools", () => {
  it("R55 R65 leaves out exactly what tools claim", () => {
    const kept = fc.constantFrom(
      "team",
      "lb",
      "app.kubernetes.io/name",
      "helm.sh",
      "constructor",
      "__proto__"
    )
    const tools = fc.constantFrom(...Object.keys(toolLabels))
    const entries = fc.uniqueArray(fc.oneof(kept, tools))
    fc.assert(
      fc.property(entries, (keys) => {
        const left = withoutTools(frozen(Object.fromEntries(keys.map((key) => [key, "v"]))))
        same(
          Object.keys(left),
          keys.filter((key) => !Object.hasOwn(toolLabels, key))
        )
      }),
      RUNS
    )
  })

  it("is empty for null", () => {
    expect(withoutTools(null)).toEqual({})
  })
})

describe("serviceName", () => {
  it("is the grid's name with -svc", () => {
    expect(serviceName(webService("zone"))).toBe("web-svc")
  })
})

describe("namesService", () => {
  it.each(["a", "web", "a-1", "g".repeat(59)])("is true for %s", (name) => {
    expect(namesService(name)).toBe(true)
  })

  it.each(["", "1a", "-a", "a-", "a.b", "A", "a_b", "g".repeat(60)])("is false for %j", (name) => {
    expect(namesService(name)).toBe(false)
  })
})

describe("ownerReference", () => {
  it("R25 makes the grid the controller, by uid", () => {
    expect(ownerReference(webSet("zone", {}, { uid: "u-1" }))).toEqual({
      apiVersion: "superedge.io/v1",
      kind: "StatefulSetGrid",
      name: "web",
      uid: "u-1",
      controller: true,
      blockOwnerDeletion: true
    })
  })
})

describe("gridKey", () => {
  it("is any legal key", () => {
    fc.assert(
      fc.property(labelKey, (key) => {
        same(gridKey(web(key)), key)
      }),
      RUNS
    )
  })

  it.each([
    ["", '""'],
    ["a b", '"a b"'],
    [null, '""'],
    [undefined, '""'],
    [5, "5"]
  ])("R21 refuses %j with the field, the value and what is accepted", (key, shown) => {
    const refusal = gridKey(web(key as string))
    expect(refusal).toMatchObject({ reason: "InvalidGridKey", path: "spec.gridUniqKey" })
    expect(refusal).toMatchObject({
      message: `spec.gridUniqKey: ${shown} is no label key; use the key of a node label, such as "zone" or "topology.kubernetes.io/zone"`
    })
  })

  it("R205 refuses a grid without spec", () => {
    expect(gridKey(frozen({ ...web("zone"), spec: null }) as never)).toMatchObject({
      reason: "InvalidGridKey"
    })
  })
})

const toolLabels = {
  "app.kubernetes.io/managed-by": "Helm",
  "app.kubernetes.io/instance": "web",
  "argocd.argoproj.io/instance": "web",
  "helm.sh/chart": "web-1",
  "meta.helm.sh/release-name": "web",
  "kustomize.toolkit.fluxcd.io/name": "web",
  "helm.toolkit.fluxcd.io/name": "web",
  "kubectl.kubernetes.io/last-applied-configuration": "{}"
}

const LABEL_VALUE = /^(?=.{1,63}$)[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/

/** RFC 1123, as Kubernetes reads it. */
const isDnsLabel = (name: string): boolean =>
  name !== "" &&
  name.split("").every((c) => "abcdefghijklmnopqrstuvwxyz0123456789-".includes(c)) &&
  !/^-|-$/.test(name)
const isSubdomain = (name: string): boolean => name.split(".").every(isDnsLabel)
