/** `servicegroup sites`: its words on small clusters, and the command as a process against the embedded cluster. */
import * as Effect from "effect/Effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"
import { coloured, plain } from "../src/commands/demo/paint.ts"
import { namesIn, part } from "../src/commands/site-part.ts"
import { siteTree } from "../src/commands/site-tree.ts"
import { mergePatch } from "../src/core/node-patch.ts"
import { type Roster, roster } from "../src/core/roster.ts"
import type { Node } from "../src/core/kube.ts"
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { sites } from "../src/core/sites.ts"
import { controllers } from "../src/embedded/controllers.ts"
import { embedded } from "../src/embedded/server.ts"
import { built, Run } from "./bundles.ts"
import { live } from "./effect.ts"
import { World } from "./site-world.ts"
import { group, seat, type SeatInput, stored, unit } from "./sited.ts"
import { kubeconfig } from "./wrapped.ts"

const LINUX = { labels: { "kubernetes.io/os": "linux" } }
const everyLinux = unit("unit-node-all", { type: "other", selector: { matchLabels: LINUX.labels } })

const beijing = unit("beijing", {
  nodes: ["bj-1", "bj-2"],
  setNode: { labels: { tier: "front" }, taints: [{ key: "dedicated", value: "edge", effect: "NoSchedule" }] }
})
const guangzhou = unit("guangzhou", { nodes: ["gz-1"] })
const lab = unit("lab", {
  nodes: ["bj-1", "lab-1"],
  unschedulable: true,
  setNode: { annotations: { note: "ask" } }
})
const location = group("location", { nodeUnits: ["beijing", "guangzhou"] })

const units = [everyLinux, lab, guangzhou, beijing]
const groups = [location]
const nodes: { readonly [name: string]: SeatInput } = {
  "bj-1": LINUX,
  "bj-2": { ...LINUX, unschedulable: true },
  "gz-1": { ...LINUX, ready: false },
  "lab-1": LINUX,
  "win-1": {}
}

const SETTLED = [
  "NodeGroup location  2 units, 2/3 ready",
  "├─ NodeUnit beijing  edge, 2/2 ready",
  `│  ├─ ✓ bj-1  cordoned (from lab), tier=front dedicated=edge:NoSchedule (from beijing), note="ask" (from lab)`,
  "│  └─ ✓ bj-2  cordoned by kubelet, tier=front dedicated=edge:NoSchedule (from beijing)",
  "└─ NodeUnit guangzhou  edge, 0/1 ready",
  "   └─ ✗ gz-1  not ready",
  "",
  "In no group",
  "├─ NodeUnit lab  edge, 2/2 ready",
  `│  ├─ ✓ lab-1  cordoned (from lab), note="ask" (from lab)`,
  "│  └─ and bj-1, listed above",
  "└─ NodeUnit unit-node-all  other, 3/4 ready, all listed above",
  "",
  "In no unit",
  "└─ ✓ win-1",
  "",
  "1 group, 4 units, 5 nodes (4 ready), 1 in no unit, nothing refused"
]

describe("siteTree", () => {
  it("is groups, their units, their nodes, with what these carry; then who is in none", () => {
    expect(tree(units, groups, new World(units, groups, nodes).nodes())).toEqual(SETTLED)
  })

  it("says what is about to be written", () => {
    const world = new World(units, groups, nodes)
    const moved = [unit("beijing", { nodes: ["bj-1"] }), unit("guangzhou", { nodes: ["bj-2"] })]
    const lines = tree([everyLinux, ...moved], groups, world.nodes())
    expect(lines).toContain(
      `│  └─ ✓ bj-1  leaves lab, going: cordoned, going: tier=front note="ask" dedicated=edge:NoSchedule`
    )
    expect(lines).toContain(
      "   └─ ✓ bj-2  joins, leaves beijing, cordoned by kubelet, going: tier=front dedicated=edge:NoSchedule"
    )
    expect(lines).toContain("   ├─ ✗ gz-1  not ready, leaves guangzhou")
    expect(lines).toContain("4 nodes are about to change: the controller has not written it yet")
  })

  it("says at the place and at the end what is refused, once to all who are told the same", () => {
    const both = unit("guangzhou", { nodes: ["gz-1", "bj-1"] }, { born: 9 })
    const world = new World([beijing, both], groups, {
      "bj-1": { labels: { tier: "theirs" } },
      "bj-2": {},
      "gz-1": {}
    })
    expect(tree([beijing, both], groups, world.nodes()).slice(0, 15)).toEqual([
      "NodeGroup location  2 units, 3/3 ready  ! NodeInTwoUnits",
      "├─ NodeUnit beijing  edge, 2/2 ready  ! NodeInTwoUnits, ValueTaken",
      "│  ├─ ✓ bj-1  dedicated=edge:NoSchedule (from beijing), not given: tier=front (from beijing), as there is tier=theirs from kubelet",
      "│  └─ ✓ bj-2  tier=front dedicated=edge:NoSchedule (from beijing)",
      "└─ NodeUnit guangzhou  edge, 2/2 ready  ! NodeInTwoUnits",
      "   ├─ ✓ bj-1  in two units of location, whose label is beijing, dedicated=edge:NoSchedule (from beijing), not given: tier=front (from beijing), as there is tier=theirs from kubelet",
      "   └─ ✓ gz-1",
      "",
      "Conflicts and refusals",
      "  NodeInTwoUnits  NodeGroup location (spec.nodeUnits), NodeUnit beijing (spec), NodeUnit guangzhou (spec)",
      "    beijing, guangzhou of NodeGroup location hold the same nodes, which keep location=beijing (bj-1); leave each node to one unit of a group",
      "  ValueTaken  NodeUnit beijing (spec.setNode.labels[tier])",
      `    "front" is not given where there is "theirs", set by kubelet (bj-1); remove it from the nodes, or from the NodeUnit`,
      "",
      "About to be made or set right: NodeUnit unit-node-all"
    ])
  })

  it("says which nodes an edit would move that is held", () => {
    const all = { n1: {}, n2: {}, n3: {} }
    const world = new World([unit("u1", { nodes: Object.keys(all) })], [], all)
    const found = roster({ units: [unit("u1", {})], groups: [], nodes: world.nodes(), maxNodesChanged: 0.2 })
    expect(siteTree(found, undefined, 100, plain).slice(0, 5)).toEqual([
      "In no group",
      "└─ NodeUnit u1  edge, 3/3 ready  ! TooManyNodesLeave",
      "   ├─ ✓ n1  held: would leave u1",
      "   ├─ ✓ n2  held: would leave u1",
      "   └─ ✓ n3  held: would leave u1"
    ])
  })

  it("lists the nodes of a unit in two groups once", () => {
    const u1 = unit("u1", { nodes: ["n1"] })
    const both = ["g", "h"].map((name) => group(name, { nodeUnits: ["u1"] }))
    expect(tree([u1], both, new World([u1], both, { n1: {} }).nodes()).slice(0, 7)).toEqual([
      "NodeGroup g  1 unit, 1/1 ready",
      "└─ NodeUnit u1  edge, 1/1 ready",
      "   └─ ✓ n1",
      "",
      "NodeGroup h  1 unit, 1/1 ready",
      "└─ NodeUnit u1  edge, 1/1 ready, listed under g",
      ""
    ])
  })

  it("puts nodes of a unit that look the same on a line where there are very many", () => {
    const names = Array.from({ length: 1000 }, (_, i) => `n${i}`)
    const many = unit("u1", { nodes: names })
    const world = names.map((name) => stored(seat(name, { ready: name !== "n500" })))
    const found = roster({ units: [many], groups: [], nodes: world })
    expect(siteTree(found, undefined, 100, plain).slice(0, 4)).toEqual([
      "In no group",
      "└─ NodeUnit u1  edge, 999/1000 ready",
      "   ├─ ✓ n0, n1, n10, n100, n101 and 994 more  joins",
      "   └─ ✗ n500  not ready, joins"
    ])
    expect(siteTree(found, undefined, Infinity, plain).filter((line) => line.includes("✓"))).toHaveLength(999)
  })

  it.each([
    ["that there are none", [], [], "There is no NodeUnit and no NodeGroup"],
    ["that a group has no unit", [], [group("g")], "NodeGroup g  no units"],
    ["that a unit has no node", [unit("u1")], [], "└─ NodeUnit u1  no nodes"],
    [
      "that a unit goes",
      [unit("u1", { nodes: ["n1"] }, { deleting: true })],
      [],
      "└─ NodeUnit u1  being deleted"
    ],
    [
      "that a name is taken",
      [unit("g", {}, { born: 2 })],
      [group("g")],
      "└─ NodeUnit g  not served  ! NameTaken"
    ],
    [
      "what its owner should know",
      [unit("u1", { nodes: ["n9"] })],
      [],
      "  NodesMissing  NodeUnit u1 (spec.nodes)"
    ]
  ])("says %s", (_, someUnits, someGroups, line) => {
    expect(tree(someUnits, someGroups, [stored(seat("n1"))])).toContain(line)
  })

  it("lets no text of anyone steer the terminal", () => {
    const sly = unit("u1", { nodes: ["n1"], setNode: { annotations: { note: "\u001b[2J\u009b2J\u202e" } } })
    const all = roster({
      units: [sly],
      groups: [],
      nodes: [stored(seat("n1", { annotations: { note: "\u001b[1m" } }))]
    })
    expect(siteTree(all, "n1", 100, plain).filter((line) => /[\p{Cc}\p{Cf}]/u.test(line))).toEqual([])
  })

  it("says with colours what it says without", () => {
    const found = roster({ units, groups, nodes: new World(units, groups, nodes).nodes() })
    const lines = siteTree(found, undefined, 100, coloured)
    expect(lines.map(stripVTControlCharacters)).toEqual(SETTLED)
    expect(lines.join("")).toContain("\u001b[32m✓\u001b[39m")
  })
})

describe("part", () => {
  const whole = roster({ units, groups, nodes: new World(units, groups, nodes).nodes() })
  const names = ({ groups: some, units: of, nodes: at }: Roster) =>
    [some, of, at].map((all) => all.map(({ name }) => name))

  it.each([
    ["location", ["location"], ["beijing", "guangzhou"], ["bj-1", "bj-2", "gz-1"]],
    ["beijing", ["location"], ["beijing"], ["bj-1", "bj-2"]],
    ["lab", [], ["lab"], ["bj-1", "lab-1"]],
    ["bj-1", ["location"], ["beijing", "lab", "unit-node-all"], ["bj-1"]],
    ["win-1", [], [], ["win-1"]]
  ])("of %s is what it is in, and what is in it", (asked, ...expected) => {
    expect(names(part(whole, asked) ?? whole)).toEqual(expected)
  })

  it("has what is refused of its units and groups, and of no others", () => {
    const odd = [unit("u1", { nodes: "n1" }), unit("u2", { nodes: "n2" })]
    const found = part(roster({ units: odd, groups: [group("g", { nodeUnits: ["nix"] })], nodes: [] }), "u1")
    expect(found?.refused.map(({ unit: of, group: or }) => of ?? or)).toEqual(["u1"])
  })

  it("is none where nothing is called so", () => {
    expect(part(whole, "nix")).toBeUndefined()
    expect(namesIn(whole)).toHaveLength(10)
  })
})

describe("sites", () => {
  live("asks the cluster who is where, as a tree", () =>
    against(settled, async (kubeconfig) => {
      const whole = await run("--kubeconfig", kubeconfig)
      expect([whole.err, whole.code]).toEqual(["", 0])
      expect(whole.out.trimEnd().split("\n")).toEqual(SETTLED)

      const one = await run("bj-2", "--kubeconfig", kubeconfig)
      expect(one.out.trimEnd().split("\n")).toEqual([
        "NodeGroup location  2 units, 2/3 ready",
        "└─ NodeUnit beijing  edge, 2/2 ready",
        "   └─ ✓ bj-2  cordoned by kubelet, tier=front dedicated=edge:NoSchedule (from beijing)",
        "",
        "In no group",
        "└─ NodeUnit unit-node-all  other, 3/4 ready, all listed above",
        "",
        "Node bj-2 carries",
        "  KIND   WHAT                                  STATE  FROM",
        "  Label  beijing=nodeunits.superedge.io        given  NodeUnit beijing",
        "  Label  location=beijing                      given  NodeGroup location",
        "  Label  tier=front                            given  NodeUnit beijing spec.setNode.labels[tier]",
        "  Label  unit-node-all=nodeunits.superedge.io  given  NodeUnit unit-node-all",
        "  Taint  dedicated=edge:NoSchedule             given  NodeUnit beijing spec.setNode.taints[0]",
        "",
        "1 group, 2 units, 1 node (1 ready), nothing refused"
      ])

      const json = await run("lab", "-o", "json", "--kubeconfig", kubeconfig)
      expect(JSON.parse(json.out)).toMatchObject({
        groups: [],
        units: [
          {
            name: "lab",
            type: "edge",
            reason: "AllNodesReady",
            groups: [],
            nodes: ["bj-1", "lab-1"],
            readyNodes: 2
          }
        ],
        nodes: [
          {
            name: "bj-1",
            ready: true,
            unschedulable: true,
            units: ["beijing", "lab", "unit-node-all"],
            changing: false
          },
          { name: "lab-1" }
        ],
        unitsInNoGroup: ["lab"],
        nodesInNoUnit: [],
        held: [],
        refused: [],
        notices: []
      })

      const wrong = await run("bejing", "--kubeconfig", kubeconfig)
      expect([wrong.code, wrong.out]).toEqual([1, ""])
      expect(wrong.err).toContain(
        'servicegroup: no NodeGroup, NodeUnit or node is called "bejing": there are beijing,'
      )
    })
  )

  live("R200 exits with 1 where the cluster doesn't know units and groups, and says what to do", () =>
    against(
      () => Promise.resolve(),
      async (kubeconfig) => {
        const { code, err } = await run("--kubeconfig", kubeconfig)
        expect([code, err]).toEqual([1, expect.stringContaining("kubectl apply -k manifests/crds")])
      }
    )
  )

  it.each([
    [["--kubeconfig", "/no/such/config"], "/no/such/config"],
    [["--max-nodes-changed", "many"], "max-nodes-changed"],
    [["-o", "yaml"], "text, json"],
    [["a", "b"], "b"]
  ])("R200 exits with 1 on %j", async (args, told) => {
    const { code, out, err } = await run(...args)
    expect(out + err).toContain(told)
    expect(code).toBe(1)
  })

  it("tells its examples", async () => {
    const { code, out } = await run("--help")
    expect(out).toContain("servicegroup sites beijing")
    expect(code).toBe(0)
  })
})

const tree = (
  someUnits: readonly NodeUnit[],
  someGroups: readonly NodeGroup[],
  all: readonly Node[]
): readonly string[] =>
  siteTree(roster({ units: someUnits, groups: someGroups, nodes: all }), undefined, 100, plain)

let bundles = ""
let folder = ""

beforeAll(() => {
  bundles = built()
  folder = mkdtempSync(join(tmpdir(), "sites-"))
})
afterAll(() => {
  for (const each of [bundles, folder]) rmSync(each, { recursive: true, force: true })
})

const run = async (...args: readonly string[]) => {
  const process = new Run(join(bundles, "servicegroup.mjs"), ["sites", ...args])
  const { code } = await process.ended
  return { code, out: process.out, err: process.err }
}

/** Hands over the kubeconfig of an embedded cluster, with all of the above once it has settled or without even the kinds. */
const against = (
  filled: (server: Server) => Promise<void>,
  judge: (kubeconfig: string) => Promise<void>
): Effect.Effect<void, unknown> =>
  Effect.scoped(
    Effect.flatMap(embedded({ port: 0, controllers: controllers([]) }), ({ url }) =>
      Effect.promise(async () => {
        await filled(new Server(url))
        await judge(kubeconfig({ url: url, folder }))
      })
    )
  )

class Server {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async ask(method: "GET" | "POST" | "PATCH", path: string, manager = "", body?: unknown): Promise<unknown> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json"
    const answer = await fetch(`${this.#url}${path}${manager === "" ? "" : `?fieldManager=${manager}`}`, {
      method,
      headers: { "content-type": type },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
}

const SITES = "/apis/site.superedge.io/v1alpha2"
const NODES = "/api/v1/nodes"

const settled = async (server: Server): Promise<void> => {
  for (const name of ["nodeunits", "nodegroups"]) {
    const crd = readFileSync(new URL(`../manifests/crds/${name}.yaml`, import.meta.url), "utf8")
    await server.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "", parse(crd))
  }
  for (const { kind, metadata, spec } of [...units, ...groups])
    await server.ask("POST", `${SITES}/${kind === "NodeUnit" ? "nodeunits" : "nodegroups"}`, "kubectl", {
      apiVersion: "site.superedge.io/v1alpha2",
      kind,
      metadata: { name: metadata.name },
      spec
    })
  for (const [name, { labels, unschedulable, ready = true }] of Object.entries(nodes)) {
    const object = { apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec: { unschedulable } }
    await server.ask("POST", NODES, "kubelet", object)
    const conditions = [{ type: "Ready", status: ready ? "True" : "False" }]
    await server.ask("PATCH", `${NODES}/${name}/status`, "kubelet", { status: { conditions } })
  }
  const { items } = (await server.ask("GET", NODES)) as { readonly items: readonly Node[] }
  for (const patch of sites({ units, groups, nodes: items }).nodes)
    await server.ask("PATCH", `${NODES}/${patch.name}`, "servicegroup", mergePatch(patch))
}
