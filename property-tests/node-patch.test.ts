/** What a node gains and loses because of its units, and what of others stays. */
import { describe, expect, it } from "vitest"
import { mergePatch } from "../src/core/node-patch.ts"
import { sites } from "../src/core/sites.ts"
import { MARK, settled } from "./site-world.ts"
import { appliedLabel, group, seat, stored, unit, withoutOwner } from "./sited.ts"

const NO_SCHEDULE = "NoSchedule"

describe("a member", () => {
  const u1 = unit("u1", {
    selector: { matchLabels: { zone: "a" } },
    setNode: { labels: { x: "1" }, annotations: { who: "u1" }, taints: [{ key: "t", effect: NO_SCHEDULE }] }
  })

  it("carries the unit's mark and what setNode says", () => {
    expect(settled([u1], [], { n1: { labels: { zone: "a" } } }).at("n1")).toEqual({
      name: "n1",
      labels: { zone: "a", u1: MARK, x: "1" },
      annotations: { who: "u1", "site.superedge.io/given": '{"u1":{"taints":["t:NoSchedule"]}}' },
      taints: ["t=:NoSchedule"],
      unschedulable: false
    })
  })

  it("R157 loses all of it when its label goes", () => {
    const world = settled([u1], [], { n1: { labels: { zone: "a" } } })
    world.edit("n1", { labels: { zone: null } })
    world.settle([u1], [])
    expect(world.at("n1")).toEqual({
      name: "n1",
      labels: {},
      annotations: {},
      taints: [],
      unschedulable: false
    })
  })

  it("loses what a unit gave no more while nobody looked", () => {
    const world = settled([u1], [], { n1: { labels: { zone: "a" } } })
    world.settle([unit("u1", { selector: { matchLabels: { zone: "a" } } })], [])
    expect(world.at("n1")).toMatchObject({ labels: { zone: "a", u1: MARK }, annotations: {}, taints: [] })
  })

  it("R159 stays by either of names and selector, whatever else is edited", () => {
    const spec = { nodes: ["n1"], selector: { matchLabels: { zone: "b" } } }
    const world = settled([unit("u1", spec)], [], { n1: {}, n2: { labels: { zone: "b" } } })
    const result = world.settle([unit("u1", { ...spec, type: "other" })], [])
    expect(result.nodes).toEqual([])
    expect(result.units[0]?.readyRate).toBe("2/2")
  })

  it("R160 R170 counts once, however often it is named and selected", () => {
    const twice = unit("u1", { nodes: ["n1", "n1"], selector: { matchLabels: { zone: "a" } } })
    const world = settled([twice], [group("g", { nodeUnits: ["u1", "u1"] })], {
      n1: { labels: { zone: "a" } }
    })
    const result = world.settle([twice], [group("g", { nodeUnits: ["u1", "u1"] })])
    expect(result.nodes).toEqual([])
    expect(result.units[0]).toMatchObject({ readyRate: "1/1", readyNodes: ["n1"] })
    expect(result.groups[0]).toMatchObject({ unitNumber: 1, nodes: 1, nodeUnits: ["u1"] })
  })

  it("R163 keeps a label that it had before", () => {
    const os = unit("u1", { nodes: ["n1"], setNode: { labels: { "kubernetes.io/os": "linux", x: "1" } } })
    const world = settled([os], [], { n1: { labels: { "kubernetes.io/os": "linux" } } })
    expect(world.at("n1").labels).toEqual({ "kubernetes.io/os": "linux", u1: MARK, x: "1" })
    expect(world.settle([unit("u1", { nodes: [] })], []).refused).toEqual([])
    expect(world.at("n1").labels).toEqual({ "kubernetes.io/os": "linux" })
  })

  it("R164 is a node as soon as it is there", () => {
    const world = settled([unit("u1", { nodes: ["n1", "n2"] })], [], { n1: {} })
    expect(world.last.notices.map(({ message }) => message)).toEqual([
      "NodeUnit u1: spec.nodes: no node is called n2; it joins as soon as it is there"
    ])
    world.add("n2", {})
    world.settle([unit("u1", { nodes: ["n1", "n2"] })], [])
    expect(world.at("n2").labels).toEqual({ u1: MARK })
  })

  it("R171 that leaves one unit keeps everything of the other", () => {
    const [one, two] = [{ x: "1" }, { x: "1", y: "1" }].map((labels) => ({
      setNode: { labels, taints: [{ key: "t", effect: NO_SCHEDULE }] },
      unschedulable: true
    }))
    const world = settled(
      [unit("u1", { ...one, nodes: ["n1"] }), unit("u2", { ...two, nodes: ["n1"] })],
      [],
      { n1: {} }
    )
    world.settle([unit("u1", one), unit("u2", { ...two, nodes: ["n1"] })], [])
    expect(world.at("n1")).toMatchObject({
      labels: { u2: MARK, x: "1", y: "1" },
      taints: ["t=:NoSchedule"],
      unschedulable: true
    })
  })

  it("R174 gets back what is removed by hand, and is clean once it is named no more", () => {
    const world = settled([unit("u1", { nodes: ["n1"] })], [], { n1: {} })
    world.edit("n1", { labels: { u1: null } })
    world.settle([unit("u1", { nodes: ["n1"] })], [])
    expect(world.at("n1").labels).toEqual({ u1: MARK })
    world.settle([unit("u1", { nodes: [] })], [])
    expect(world.at("n1").labels).toEqual({})
  })

  it("keeps a label that someone else applies as well, until that one lets go", () => {
    const world = settled([u1], [], { n1: { labels: { zone: "a" } } })
    world.change("n1", (node) => appliedLabel(node, "x", "1", "argocd"))
    world.edit("n1", { labels: { zone: null } })
    world.settle([u1], [])
    expect(world.at("n1").labels).toEqual({ x: "1" })
    world.change("n1", (node) => withoutOwner(node, "x", "argocd"))
    world.settle([u1], [])
    expect(world.at("n1").labels).toEqual({})
  })

  it("is not held by what its unit gives it, nor pushed out by it", () => {
    const selfish = unit("u1", { selector: { matchLabels: { x: "1" } }, setNode: { labels: { x: "1" } } })
    const shy = unit("u2", {
      selector: { matchExpressions: [{ key: "y", operator: "DoesNotExist" }] },
      setNode: { labels: { y: "1" } }
    })
    const world = settled([selfish, shy], [], { n1: {} })
    expect(world.at("n1").labels).toEqual({ u2: MARK, y: "1" })
  })

  it("of which nobody owned anything is cleaned as well, since the patch says who owns what", () => {
    const world = settled([u1], [], { n1: {} })
    expect(world.node("n1").metadata.managedFields).toEqual([])
    const named = unit("u1", { nodes: ["n1"], setNode: { labels: { x: "1" } } })
    expect(
      world
        .pass([named], [])
        .nodes[0]?.managedFields?.map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1])
    ).toEqual([["servicegroup", "Update", { "f:metadata": { "f:labels": { "f:u1": {}, "f:x": {} } } }]])
    world.settle([named], [])
    world.settle([], [])
    expect(world.at("n1").labels).toEqual({})
  })

  it("is patched under the uid and the revision that were read", () => {
    const [patch] = sites({
      units: [u1],
      groups: [],
      nodes: [stored(seat("n1", { labels: { zone: "a" } }))]
    }).nodes
    expect(patch).toMatchObject({ name: "n1", uid: "uid-of-n1", resourceVersion: "1" })
    expect(patch === undefined ? {} : mergePatch(patch)).toEqual({
      metadata: {
        uid: "uid-of-n1",
        resourceVersion: "1",
        labels: { u1: MARK, x: "1" },
        annotations: { who: "u1", "site.superedge.io/given": '{"u1":{"taints":["t:NoSchedule"]}}' }
      },
      spec: { taints: [{ key: "t", effect: "NoSchedule" }] }
    })
  })
})

describe("labels and annotations of others", () => {
  const own = unit("u1", { nodes: ["n1", "n2"], setNode: { labels: { x: "1" }, annotations: { x: "1" } } })

  it("are told, with who set them, and stay", () => {
    const theirs = { labels: { x: "2" }, annotations: { x: "2" } }
    const world = settled([own], [], { n1: theirs, n2: {} })
    expect(world.at("n1")).toMatchObject({ labels: { x: "2", u1: MARK }, annotations: { x: "2" } })
    expect(world.last.refused.map(({ message }) => message)).toEqual(
      ["annotations", "labels"].map(
        (field) =>
          `NodeUnit u1: spec.setNode.${field}[x]: "1" is not given where there is "2", set by kubelet (n1); remove it from the nodes, or from the NodeUnit`
      )
    )
    expect(world.last.units[0]?.conditions?.[1]).toMatchObject({ status: "True", reason: "ValueTaken" })
    world.settle([], [])
    expect(world.at("n1")).toMatchObject(theirs)
  })

  it("are told where they take the place of a unit's mark", () => {
    const world = settled([unit("u1", { nodes: ["n1"] })], [], { n1: { labels: { u1: "other" } } })
    expect(world.last.refused.map(({ message }) => message)).toEqual([
      'NodeUnit u1: metadata.name: "nodeunits.superedge.io" is not given where there is "other", set by kubelet (n1); remove it from the nodes'
    ])
  })

  it("are the kubelet's where it keeps them: no unit sets them, there or not", () => {
    const host = unit("u1", { nodes: ["n1", "n2"], setNode: { labels: { "kubernetes.io/hostname": "h" } } })
    const world = settled([host], [], { n1: { labels: { "kubernetes.io/hostname": "n1" } }, n2: {} })
    expect([world.at("n1").labels, world.at("n2").labels]).toEqual([
      { "kubernetes.io/hostname": "n1", u1: MARK },
      { u1: MARK }
    ])
    expect(world.last.refused.map(({ reason, path }) => [reason, path])).toEqual([
      ["WellKnownLabel", "spec.setNode.labels[kubernetes.io/hostname]"]
    ])
  })

  it("that others set to another value after us stay when the unit goes", () => {
    const world = settled([own], [], { n1: {}, n2: {} })
    world.edit("n1", { labels: { x: "2" }, annotations: { x: "2" } })
    world.settle([], [])
    expect(world.at("n1")).toMatchObject({ labels: { x: "2" }, annotations: { x: "2" } })
    expect(world.at("n2")).toMatchObject({ labels: {}, annotations: {} })
  })

  it("are nobody's business where a refused entry stands: what is there stays", () => {
    const world = settled([own], [], { n1: {}, n2: {} })
    const bad = { labels: { x: "a b" }, annotations: { x: 1 } }
    world.settle([unit("u1", { nodes: ["n1", "n2"], setNode: bad })], [])
    expect(world.at("n1")).toMatchObject({ labels: { x: "1" }, annotations: { x: "1" } })
    expect(world.last.refused.map(({ reason }) => reason)).toEqual(["InvalidAnnotation", "InvalidLabel"])
  })
})

describe("taints", () => {
  const taint = (key: string, value = "", effect = NO_SCHEDULE) => ({
    key,
    ...(value !== "" && { value }),
    effect
  })
  const giving = (...taints: readonly object[]) => unit("u1", { nodes: ["n1"], setNode: { taints } })

  it("R161 of others are there throughout", () => {
    const theirs = [taint("gpu", "yes"), taint("node.kubernetes.io/unreachable", "", "NoExecute")]
    const world = settled([giving(taint("t"))], [], { n1: { taints: theirs } })
    expect(world.at("n1").taints).toHaveLength(3)
    world.settle([unit("u1")], [])
    expect(world.at("n1").taints).toEqual(["gpu=yes:NoSchedule", "node.kubernetes.io/unreachable=:NoExecute"])
  })

  it("R162 are each there once", () => {
    const world = settled([giving(taint("b"), taint("c"), taint("b"))], [], { n1: { taints: [taint("a")] } })
    expect(world.at("n1").taints).toEqual(["a=:NoSchedule", "b=:NoSchedule", "c=:NoSchedule"])
  })

  it("that a node had before stay when the unit goes", () => {
    const world = settled([giving(taint("t", "1"))], [], { n1: { taints: [taint("t", "1")] } })
    expect(world.last.nodes.map(({ taints }) => taints)).toEqual([])
    world.settle([], [])
    expect(world.at("n1").taints).toEqual(["t=1:NoSchedule"])
  })

  it("that someone set to another value are told, and stay", () => {
    const world = settled([giving(taint("t", "1"))], [], { n1: {} })
    world.edit("n1", { taint: taint("t", "2") })
    const result = world.settle([giving(taint("t", "1"))], [])
    expect(world.at("n1").taints).toEqual(["t=2:NoSchedule"])
    expect(result.refused.map(({ reason, message }) => [reason, message])).toEqual([
      [
        "ValueTaken",
        'NodeUnit u1: spec.setNode.taints[0]: "t=1:NoSchedule" is not given where there is "t=2:NoSchedule" (n1); remove it from the nodes, or from the NodeUnit'
      ]
    ])
    world.settle([], [])
    expect(world.at("n1")).toMatchObject({ taints: ["t=2:NoSchedule"], annotations: {} })
  })

  it("follow the value of the unit", () => {
    const world = settled([giving(taint("t", "1"))], [], { n1: {} })
    world.settle([giving(taint("t", "2"))], [])
    expect(world.at("n1").taints).toEqual(["t=2:NoSchedule"])
  })

  it("keep fields that are not looked at", () => {
    const odd = { key: "x", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" }
    const world = settled([giving(taint("t"))], [], { n1: { taints: [odd] } })
    expect(world.node("n1").spec?.["taints"]).toEqual([odd, { key: "t", effect: NO_SCHEDULE }])
  })

  it("are written down the same whatever their order on the node", () => {
    const both = giving(taint("b"), taint("a"))
    const world = settled([both], [], { n1: {} })
    const [first, second] = ["a", "b"].map((key) => ({ untaint: `${key}:NoSchedule` }))
    const written = world.at("n1").annotations
    for (const edit of [first, second]) {
      if (edit !== undefined) world.edit("n1", edit)
      world.settle([both], [])
      expect(world.at("n1").annotations).toEqual(written)
    }
  })

  it("are nobody's where the annotation can't be read", () => {
    const world = settled([], [], {
      n1: { taints: [taint("t")], annotations: { "site.superedge.io/given": "[oops" } }
    })
    expect(world.at("n1")).toMatchObject({ taints: ["t=:NoSchedule"], annotations: {} })
  })
})

describe("unschedulable", () => {
  const cordoning = (unschedulable: boolean) => unit("u1", { nodes: ["n1"], unschedulable })

  it("R172 cordons members, and frees them", () => {
    const world = settled([cordoning(true)], [], { n1: {} })
    expect(world.at("n1")).toMatchObject({
      unschedulable: true,
      annotations: { "site.superedge.io/given": '{"u1":{"unschedulable":true}}' }
    })
    world.settle([cordoning(false)], [])
    expect(world.at("n1")).toMatchObject({ unschedulable: false, annotations: {} })
  })

  it("R172 never frees a node that someone had cordoned before", () => {
    const world = settled([cordoning(true)], [], { n1: { unschedulable: true } })
    expect(world.at("n1").annotations).toEqual({})
    world.settle([cordoning(false)], [])
    expect(world.at("n1").unschedulable).toBe(true)
  })

  it("never frees a node that someone freed and cordoned again", () => {
    const world = settled([cordoning(true)], [], { n1: {} })
    world.edit("n1", { unschedulable: false })
    world.edit("n1", { unschedulable: true })
    world.settle([cordoning(false)], [])
    expect(world.at("n1")).toMatchObject({ unschedulable: true, annotations: {} })
  })

  it("never frees a node that someone else wants cordoned as well", () => {
    const world = settled([cordoning(true)], [], { n1: {} })
    const before = world.node("n1")
    const fieldsV1 = { "f:spec": { "f:unschedulable": {} } }
    const entry = {
      manager: "gitops",
      operation: "Apply",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1
    }
    const managedFields = [...(before.metadata.managedFields ?? []), entry]
    const shared = { ...before, metadata: { ...before.metadata, managedFields } }
    const [patch] = sites({ units: [cordoning(false)], groups: [], nodes: [shared] }).nodes
    expect(patch?.unschedulable).toBeUndefined()
    expect(patch?.annotations).toEqual({ "site.superedge.io/given": null })
  })

  it("cordons a member again that someone freed", () => {
    const world = settled([cordoning(true)], [], { n1: {} })
    world.edit("n1", { unschedulable: false })
    world.settle([cordoning(true)], [])
    expect(world.at("n1").unschedulable).toBe(true)
  })
})
