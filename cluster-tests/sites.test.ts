/**
 * NodeUnits and NodeGroups beside the real API server, scheduler and kubectl: what nodes carry, who may go there, what a person is shown and told.
 *
 * Each story has nodes of its own, so that others' pods go on. One after another: what edits take out of units is counted over the whole cluster.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, inject } from "vitest"
import { site } from "../property-tests/site-objects.ts"
import { at } from "./client.ts"
import { bundle } from "./controller.ts"
import { until } from "./deadline.ts"
import { done } from "./kubectl.ts"
import { node } from "./nodes.ts"
import type { Shared } from "./setup.ts"
import { type Carried, Sites } from "./sites.ts"
import { deployment } from "./specs.ts"
import { condition, type Stage, story } from "./stage.ts"

const MARK = "nodeunits.superedge.io"
const GIVEN = "site.superedge.io/given"

/** A story with nodes, a unit and a group of its own. */
const sited = (name: string, tell: (scene: Scene) => Promise<void>): void =>
  story(name, async (stage) => {
    const scene = new Scene(stage)
    try {
      await tell(scene)
    } finally {
      await scene.end()
    }
  })

describe("a unit", () => {
  sited(
    "R172 cordons its nodes for the real scheduler, and frees those that nobody else had cordoned",
    async (scene) => {
      const { stage, sites, unit, group } = scene
      const [free, cordoned] = await scene.nodes("1", "2")
      await stage.client.patch(`/api/v1/nodes/${cordoned}`, "merge", { spec: { unschedulable: true } })
      await sites.make("NodeUnit", unit, { nodes: [free, cordoned], unschedulable: true })
      await sites.make("NodeGroup", group, { nodeUnits: [unit] })
      await sites.carries(
        free,
        "its unit's cordon and label",
        ({ cordoned, labels }) => cordoned && labels[group] === unit
      )
      await stage.create("DeploymentGrid", "echo", { gridUniqKey: group, template: deployment() })
      const pod = await until({ what: "a pod that can't be scheduled", seconds: 45 }, async () =>
        (await pods(stage)).find((each) => isUnscheduled(each))
      )
      const told = await until({ what: "an event FailedScheduling", seconds: 30 }, async () => {
        const name = String(at(pod, "metadata", "name"))
        const events = await stage.client.items(`/api/v1/namespaces/${stage.namespace}/events`)
        return events.find(
          (each) => at(each, "reason") === "FailedScheduling" && at(each, "involvedObject", "name") === name
        )
      })
      expect(at(told, "message")).toContain("unschedulable")
      await sites.edit("NodeUnit", unit, { spec: { unschedulable: false } })
      await stage.ready("DeploymentGrid", "echo")
      expect((await pods(stage)).map((each) => at(each, "spec", "nodeName"))).toEqual([free])
      expect((await sites.carried(free)).annotations).not.toHaveProperty([GIVEN])
      expect((await sites.carried(cordoned)).cordoned).toBe(true)
      await sites.remove("NodeUnit", unit)
      await sites.goes("NodeUnit", unit)
      expect((await sites.carried(cordoned)).cordoned).toBe(true)
    }
  )

  sited(
    "R158 is shown by kubectl, and gone when kubectl has deleted it, with all that its nodes had of it",
    async (scene) => {
      const { stage, sites, unit, group } = scene
      const [first, second] = await scene.nodes("1", "2")
      const before = await sites.carries(
        first,
        "unit-node-all's label",
        ({ labels }) => labels["unit-node-all"] === MARK
      )
      const setNode = {
        labels: { [`${unit}-label`]: "x" },
        annotations: { [`${unit}-note`]: "any text: {}" },
        taints: [{ key: `${unit}-taint`, value: "y", effect: "NoSchedule" }]
      }
      await sites.make("NodeUnit", unit, { type: "cloud", nodes: [first, second], setNode })
      await sites.make("NodeGroup", group, { nodeUnits: [unit] })
      await sites.told(
        "NodeUnit",
        unit,
        "two ready nodes",
        (each) => at(each, "status", "readyRate") === "2/2"
      )
      await sites.told("NodeGroup", group, "two nodes", (each) => at(each, "status", "nodes") === 2)
      expect(await columns(stage, "nu", unit)).toEqual([
        "NAME TYPE READY NODES AGE",
        `${unit} cloud 2/2 2 AGE`
      ])
      expect(await columns(stage, "ng", group)).toEqual(["NAME UNITS NODES AGE", `${group} 1 2 AGE`])
      const carried = await sites.carried(first)
      expect(carried.labels).toMatchObject({ [unit]: MARK, [group]: unit, [`${unit}-label`]: "x" })
      expect(carried.annotations).toMatchObject({ [`${unit}-note`]: "any text: {}" })
      expect(carried.taints).toEqual([`${unit}-taint=y:NoSchedule`])
      await done(stage.kubectl(["delete", "nodeunit", unit, "--timeout=45s"]))
      expect(await sites.carried(first)).toEqual(before)
    }
  )

  sited("R164 has nodes again that are deleted and made anew", async (scene) => {
    const { stage, sites, unit } = scene
    const [named, selected] = await scene.nodes("1", "2")
    const zone = { [`${unit}-zone`]: "z" }
    const isMember = ({ labels }: Carried): boolean => labels[unit] === MARK
    await stage.client.patch(`/api/v1/nodes/${selected}`, "merge", { metadata: { labels: zone } })
    await sites.make("NodeUnit", unit, { nodes: [named], selector: { matchLabels: zone } })
    for (const name of [named, selected]) {
      await sites.carries(name, "its unit's label", isMember)
      await stage.client.remove(`/api/v1/nodes/${name}`)
    }
    const told = await sites.told("NodeUnit", unit, "no nodes", (each) => at(each, "status", "nodes") === 0)
    expect(condition(told, "Ready", "reason")).toBe("NoNodes")
    expect(condition(told, "Degraded", "message")).toContain(named)
    await node(stage.client, named, {})
    await sites.carries(named, "its unit's label", isMember, 5)
    await node(stage.client, selected, zone)
    await sites.carries(selected, "its unit's label", isMember, 5)
  })

  sited("is read in the spellings of v1alpha1", async (scene) => {
    const { stage, sites, unit } = scene
    const [name] = await scene.nodes("1")
    const spec = {
      nodes: [name],
      setnode: { labels: { [`${unit}-label`]: "x" } },
      taints: [{ key: `${unit}-taint`, effect: "PreferNoSchedule" }]
    }
    await applied(stage, site("NodeUnit", unit, spec, "v1alpha1"))
    const carried = await sites.carries(name, "a taint", ({ taints }) => taints.length > 0)
    expect(carried.taints).toEqual([`${unit}-taint:PreferNoSchedule`])
    expect(carried.labels).toMatchObject({ [unit]: MARK, [`${unit}-label`]: "x" })
    const shown = await done(
      stage.kubectl(["get", "nu.v1alpha1.site.superedge.io", unit, "-o", "jsonpath={.spec.setnode}"])
    )
    expect(JSON.parse(shown)).toEqual(spec.setnode)
  })

  sited("whose field is misspelt is refused by kubectl apply", async ({ stage, sites, unit }) => {
    const misspelt = site("NodeUnit", unit, { nodes: [], setNodes: { labels: {} } })
    const { code, stderr } = await stage.kubectl(["apply", "-f", "-"], { input: JSON.stringify(misspelt) })
    expect([code, stderr]).toEqual([1, expect.stringContaining(`unknown field "spec.setNodes"`)])
    expect(await sites.find("NodeUnit", unit)).toBeUndefined()
  })

  sited("from which an edit would take too many nodes keeps them until that is confirmed", async (scene) => {
    const { stage, sites, unit } = scene
    // more than a fifth of all nodes, whatever others have
    const names = await scene.nodes("1", "2", "3", "4", "5", "6")
    await sites.make("NodeUnit", unit, { nodes: names })
    await sites.told("NodeUnit", unit, "six nodes", (each) => at(each, "status", "readyRate") === "6/6")
    for (const name of names)
      await sites.carries(name, "its unit's label", ({ labels }) => labels[unit] === MARK)
    await sites.edit("NodeUnit", unit, { spec: { nodes: [names[0]] } })
    const held = await sites.told(
      "NodeUnit",
      unit,
      "a refusal",
      (each) => condition(each, "Degraded", "reason") === "TooManyNodesLeave"
    )
    const confirmed = `site.superedge.io/confirmed-generation`
    expect(condition(held, "Degraded", "message")).toContain(`${confirmed}: "2"`)
    expect(at(held, "status", "nodes")).toBe(6)
    const told = await until({ what: "an event that kubectl describe shows", seconds: 30 }, async () => {
      const shown = await done(stage.kubectl(["describe", "nodeunit", unit]))
      return /^ +Warning +TooManyNodesLeave +.*/m.exec(shown)?.[0]
    })
    expect(told).toContain(`5 of `)
    for (const name of names) expect((await sites.carried(name)).labels).toMatchObject({ [unit]: MARK })
    await done(stage.kubectl(["annotate", "nodeunit", unit, `${confirmed}=2`]))
    const one = await sites.told("NodeUnit", unit, "one node", (each) => at(each, "status", "nodes") === 1)
    expect(condition(one, "Degraded", "status")).toBe("False")
    for (const name of names.slice(1)) expect((await sites.carried(name)).labels).not.toHaveProperty([unit])
  })

  sited("that wants a label otherwise than an older one doesn't get it, and both are told", async (scene) => {
    const { sites, unit } = scene
    const [name] = await scene.nodes("1")
    const [label, younger] = [`${unit}-label`, `${unit}-b`]
    await sites.make("NodeUnit", unit, { nodes: [name], setNode: { labels: { [label]: "x" } } })
    await sites.carries(name, "the older unit's label", ({ labels }) => labels[label] === "x")
    // the API server's times are whole seconds, and of two of one age the first by name is the older
    await sites.make("NodeUnit", younger, { nodes: [name], setNode: { labels: { [label]: "y" } } })
    for (const each of [unit, younger])
      await sites.told(
        "NodeUnit",
        each,
        "a contradiction",
        (found) => condition(found, "Degraded", "reason") === "UnitsContradict"
      )
    expect((await sites.carried(name)).labels).toMatchObject({ [label]: "x", [younger]: MARK })
    await sites.remove("NodeUnit", unit)
    await sites.carries(name, "the younger unit's label", ({ labels }) => labels[label] === "y")
    await sites.told(
      "NodeUnit",
      younger,
      "peace",
      (each) => condition(each, "Degraded", "status") === "False"
    )
  })
})

describe("a group", () => {
  sited(
    "R165 makes units of the values of two keys, and removes them with their last node",
    async (scene) => {
      const { stage, sites, group, id } = scene
      const [city, park] = [`${group}-city`, `${group}-park`]
      const [one, two, three, none] = await scene.nodes("1", "2", "3", "4")
      const labelled = (name: string, labels: object): Promise<unknown> =>
        stage.client.patch(`/api/v1/nodes/${name}`, "merge", { metadata: { labels } })
      for (const name of [one, two]) await labelled(name, { [city]: `c${id}`, [park]: "p1" })
      await labelled(three, { [city]: `c${id}`, [park]: "p2" })
      await labelled(none, { [city]: `c${id}` })
      const made = await sites.make("NodeGroup", group, { autoFindNodeKeys: [city, park] })
      await sites.told("NodeGroup", group, "three nodes", (each) => at(each, "status", "nodes") === 3)
      expect(await columns(stage, "ng", group)).toEqual(["NAME UNITS NODES AGE", `${group} 2 3 AGE`])
      const names = [`c${id}-p1`, `c${id}-p2`]
      expect(at(await sites.get("NodeGroup", group), "status", "nodeUnits")).toEqual(names)
      for (const [name = "", nodes] of [
        [names[0], [one, two]],
        [names[1], [three]]
      ] as const) {
        const unit = await sites.told(
          "NodeUnit",
          name,
          "its nodes",
          (each) => at(each, "status", "nodes") === nodes.length
        )
        expect(at(unit, "status", "readyNodes")).toEqual(nodes)
        expect(at(unit, "spec", "type")).toBe("edge")
        expect(at(unit, "metadata", "ownerReferences")).toEqual([
          {
            apiVersion: "site.superedge.io/v1alpha2",
            kind: "NodeGroup",
            name: group,
            uid: at(made, "metadata", "uid"),
            controller: true,
            blockOwnerDeletion: true
          }
        ])
        for (const each of nodes)
          expect((await sites.carried(each)).labels).toMatchObject({ [name]: MARK, [group]: name })
      }
      expect((await sites.carried(none)).labels).not.toHaveProperty([group])
      await stage.client.remove(`/api/v1/nodes/${three}`)
      await sites.goes("NodeUnit", names[1] ?? "")
      await sites.told("NodeGroup", group, "two nodes", (each) => at(each, "status", "nodes") === 2)
      expect(await columns(stage, "ng", group)).toEqual(["NAME UNITS NODES AGE", `${group} 1 2 AGE`])
      await done(stage.kubectl(["delete", "nodegroup", group, "--timeout=45s"]))
      expect(await sites.find("NodeUnit", names[0] ?? "")).toBeUndefined()
      expect((await sites.carried(one)).labels).not.toHaveProperty([group])
    }
  )

  sited("is shown by the command sites, with its units and nodes", async (scene) => {
    const { stage, sites, unit, group } = scene
    const label = `${unit}-label`
    const [ready, notReady] = await scene.nodes("1", "2")
    await stage.client.patch(`/api/v1/nodes/${notReady}/status`, "strategic-merge", {
      status: { conditions: [{ type: "Ready", status: "False" }] }
    })
    await sites.make("NodeUnit", unit, {
      nodes: [ready, notReady],
      setNode: { labels: { [label]: "x" } }
    })
    await sites.make("NodeGroup", group, { nodeUnits: [unit] })
    await sites.told("NodeGroup", group, "two nodes", (each) => at(each, "status", "nodes") === 2)
    await sites.told("NodeUnit", unit, "one ready node", (each) => at(each, "status", "readyRate") === "1/2")
    expect((await printed([group])).split("\n").slice(0, 4)).toEqual([
      `NodeGroup ${group}  1 unit, 1/2 ready`,
      `└─ NodeUnit ${unit}  edge, 1/2 ready`,
      `   ├─ ✓ ${ready}  ${label}=x (from ${unit})`,
      `   └─ ✗ ${notReady}  not ready, ${label}=x (from ${unit})`
    ])
    const { nodes } = JSON.parse(await printed([group, "-o", "json"])) as {
      readonly nodes: readonly unknown[]
    }
    expect(nodes.map((each) => at(each, "name"))).toEqual([ready, notReady])
  })
})

class Scene {
  readonly stage: Stage
  readonly sites: Sites
  /** what tells names of this story from others' */
  readonly id: string
  readonly unit: string
  readonly group: string
  readonly #nodes: string[] = []

  constructor(stage: Stage) {
    this.stage = stage
    this.sites = new Sites(stage.client)
    this.id = stage.namespace.slice("story-".length)
    this.unit = `unit-${this.id}`
    this.group = stage.key
  }

  /** New ones of these names, ready and open to pods; gives what they are called in the cluster. */
  async nodes<const T extends readonly string[]>(...names: T): Promise<{ readonly [K in keyof T]: string }> {
    const all = names.map((name) => `node-${this.id}-${name}`)
    this.#nodes.push(...all)
    await Promise.all(all.map((name) => node(this.stage.client, name, {})))
    return all as unknown as { readonly [K in keyof T]: string }
  }

  async end(): Promise<void> {
    const { client } = this.stage
    for (const kind of ["NodeGroup", "NodeUnit"] as const) {
      const own = (await this.sites.names(kind)).filter((name) => name.includes(this.id))
      for (const name of own) await this.sites.remove(kind, name)
      for (const name of own) await this.sites.goes(kind, name)
    }
    for (const name of this.#nodes) await client.ask("DELETE", `/api/v1/nodes/${name}`)
  }
}

const pods = ({ client, namespace }: Stage): Promise<readonly unknown[]> =>
  client.items(`/api/v1/namespaces/${namespace}/pods`)

const isUnscheduled = (pod: unknown): boolean =>
  condition(pod, "PodScheduled", "reason") === "Unschedulable" && at(pod, "spec", "nodeName") === undefined

const applied = (stage: Stage, object: object): Promise<string> =>
  done(stage.kubectl(["apply", "-f", "-"], { input: JSON.stringify(object) }))

/** What `kubectl get` shows of one object. */
const columns = async ({ kubectl }: Stage, kind: string, name: string): Promise<readonly string[]> =>
  (await done(kubectl(["get", kind, name])))
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ +/g, " ").replace(/ \d+m?\d*s$/, " AGE"))

/** What `servicegroup sites` prints. */
const printed = async (args: readonly string[]): Promise<string> => {
  const { folder, kubeconfig } = (await (await fetch(inject("clusterDoor"))).json()) as Shared
  const program = join(bundle(folder), "servicegroup.mjs")
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, "sites", "--kubeconfig", kubeconfig, ...args],
    { env: { PATH: process.env["PATH"], HOME: folder } }
  )
  return stdout
}
