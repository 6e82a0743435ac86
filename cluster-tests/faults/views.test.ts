/**
 * What the controller sees is late, twice, lost, forgotten or old (faults 2, 3, 4, 6 and 7, as far as a relay can make them): it still ends
 * where it should, and on the way does nothing that it would not have done.
 */
import { describe, expect } from "vitest"
import { until } from "../deadline.ts"
import { always, EXPIRED, isWrite, type Rule } from "../relay-script.ts"
import { clusterTest } from "../skip.ts"
import { deployment } from "../specs.ts"
import { planeOfFile, Scene } from "./scene.ts"
import { BOTH, bothWith, came, newImage, rolledOut, rolling, STORIES } from "./stories.ts"
import { SWIFT, told } from "./told.ts"

const plane = planeOfFile({ controllers: "collector" })

describe.concurrent("fault 2: an older view", () => {
  clusterTest("P2 P4 of every kind leads to no write", async () => {
    await using scene = await Scene.open(plane(), "older lists", { flags: SWIFT }, async (stage) => {
      await stage.units({ a: ["bj-1"] })
      await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
    })
    await came(scene.stage, { "echo-a": rolling(1) })
    await scene.stage.units({ a: ["bj-1"], b: ["gz-1"] })
    await newImage(2)(scene.stage)
    await came(scene.stage, bothWith(2))
    await scene.behind.still()
    // as it was at the start: one unit, the old image, no child
    scene.relay.play([always({ verb: "list" }, { _tag: "Older" })])
    const moment = scene.relay.passed.length
    scene.relay.cut()
    await scene.behind.relists(3)
    expect(scene.behind.since(moment).filter(isWrite)).toEqual([])
    expect(scene.relay.done()[0]).toBeGreaterThan(0)
    scene.relay.calm()
    await scene.behind.still()
    await came(scene.stage, bothWith(2))
    expect(await scene.counts()).toEqual({ "created echo-a": 1, "created echo-b": 1 })
  })
})

describe.concurrent("fault 3: its own writes come back 5 s later", () => {
  clusterTest("P2 P6 each child is written as often as without", async () => {
    const script = [always({ verb: "event", kind: "deployments" }, { _tag: "Hold", ms: 5000 })]
    const flags = ["--unit-grace", "1s", "--relist-interval", "8s"]
    await using scene = await Scene.open(plane(), "late events", { flags, script }, rolledOut)
    await came(scene.stage, BOTH)
    await newImage(2)(scene.stage)
    await came(scene.stage, bothWith(2))
    await scene.stage.units({ a: ["bj-1"] })
    await came(scene.stage, { "echo-a": rolling(2) })
    await scene.behind.still()
    const writes = scene.behind.since(0).filter((each) => isWrite(each) && each.kind === "deployments")
    expect(writes.map(({ verb, name, code }) => `${verb} ${name} ${code}`).sort()).toEqual([
      "apply echo-a 200",
      "apply echo-a 201",
      "apply echo-b 200",
      "apply echo-b 201",
      "delete echo-b 200"
    ])
    expect(scene.relay.done()[0]).toBeGreaterThan(0)
  })
})

describe.concurrent("fault 4: every event comes twice", () => {
  for (const story of STORIES.filter((_, index) => index % 2 === 0))
    clusterTest(`P2 ${story.name}`, () =>
      told(plane(), story, [[always({ verb: "event" }, { _tag: "Repeat" })]])
    )
})

describe.concurrent("fault 6: events are lost", () => {
  clusterTest("P1 the next relist makes good for it", async () => {
    const flags = ["--relist-interval", "5s"]
    await using scene = await Scene.open(plane(), "lost events", { flags }, rolledOut)
    await came(scene.stage, BOTH)
    scene.relay.play([always({ verb: "event", kind: "nodes" }, { _tag: "Lose" })])
    const before = scene.relay.passed.length
    await scene.stage.units({ a: ["bj-1"], b: ["gz-1"], c: ["bj-3"] })
    const after = scene.relay.passed.length
    await came(scene.stage, { ...BOTH, "echo-c": rolling(1) })
    expect(scene.relay.done()[0]).toBeGreaterThan(0)
    const { passed } = scene.relay
    const made = passed.findIndex(({ verb, name }) => verb === "apply" && name === "echo-c")
    expect(made).toBeGreaterThanOrEqual(before)
    // none, where a list came right after the last label; two, where the second had begun before the child was applied
    const lists = passed.slice(after, made).filter(({ verb, kind }) => verb === "list" && kind === "nodes")
    expect(lists.length).toBeLessThanOrEqual(2)
  })
})

describe.concurrent("fault 7: what was seen is forgotten", () => {
  const scripts: Readonly<Record<string, readonly Rule[]>> = {
    "at the start of a watch": [{ on: { verb: "watch" }, nth: 1, times: 12, deed: EXPIRED }],
    "inside the stream": [{ on: { verb: "event" }, nth: 1, times: 12, deed: EXPIRED }]
  }
  for (const [where, script] of Object.entries(scripts))
    for (const story of STORIES.slice(1, 3))
      clusterTest(`P4 P8 410 ${where}: ${story.name}`, () => told(plane(), story, [script]))

  clusterTest("P4 P8 410 at every second page of a list", async () => {
    const script = [always({ verb: "continue" }, EXPIRED)]
    await using scene = await Scene.open(plane(), "many pages", { flags: SWIFT, script }, async (stage) => {
      // more than a page of what looks like children
      const labels = { "superedge.io/grid-selector": "nobody", "superedge.io/grid-uniq-key": stage.key }
      for (let i = 0; i < 110; i++) await stage.create("Deployment", `filler-${i}`, deployment(), { labels })
      await rolledOut(stage)
    })
    await came(scene.stage, BOTH)
    await newImage(2)(scene.stage)
    await came(scene.stage, bothWith(2))
    await scene.behind.still()
    await until({ what: "a list that broke off", seconds: 10 }, () =>
      scene.behind.since(0).some(({ verb, code }) => verb === "continue" && code === 410)
    )
    expect(await scene.counts()).toEqual({ "created echo-a": 1, "created echo-b": 1 })
  })
})
