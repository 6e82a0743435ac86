/**
 * The API server is in trouble for minutes, or refuses what it allowed before, or the clock goes wrong (faults 9, 14 and 19). A storm lasts 24 s
 * here and a refusal 12 s, with SERVICEGROUP_PLANS=40 120 s and 60 s.
 *
 * The clock: Node's `Date` in the controller is another one, which jumps or stops on request. Timers and performance.now() go on, as the
 * system's monotonic clock does when somebody sets the time.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { account, type Revocable, revocable, ROLES, type Rule } from "../accounts.ts"
import { at, type Client } from "../client.ts"
import { during, until } from "../deadline.ts"
import type { Passed } from "../relay.ts"
import { always, type Deed, isWrite } from "../relay-script.ts"
import { clusterTest, lasting } from "../skip.ts"
import { imageOf } from "../specs.ts"
import { condition, type Stage } from "../stage.ts"
import { share } from "./length.ts"
import { planeOfFile, Scene } from "./scene.ts"
import { BOTH, bothWith, came, newImage, rolledOut, rolling } from "./stories.ts"
import { SWIFT } from "./told.ts"

const plane = planeOfFile({ controllers: "none" })

describe.concurrent("fault 9: a server in trouble", () => {
  const seconds = share(120)
  const storms: Readonly<Record<string, Deed>> = {
    "429 with Retry-After": { _tag: "Fail", code: 429, reason: "TooManyRequests", retryAfter: 2 },
    "503": { _tag: "Fail", code: 503, reason: "ServiceUnavailable" },
    resets: { _tag: "Reset", moment: "before" }
  }
  for (const [name, deed] of Object.entries(storms))
    clusterTest(
      `P1 P6 ${name} for ${seconds} s is asked ever less often, and then made good for`,
      async () => {
        await using scene = await Scene.open(plane(), name, { flags: SWIFT }, rolledOut)
        await came(scene.stage, BOTH)
        await scene.behind.still()
        const moment = scene.relay.passed.length
        scene.relay.play([always({ verb: "request" }, deed)])
        scene.relay.cut()
        const began = performance.now()
        await newImage(2)(scene.stage)
        await scene.stage.units({ a: ["bj-1"], b: ["gz-1"], c: ["bj-3"] })
        await during(seconds - (performance.now() - began) / 1000)
        const patient = deed._tag === "Fail" && deed.retryAfter !== undefined
        // One that was under way when all connections were cut was told nothing of patience.
        const asked = byAbout(scene.behind.since(moment).filter(({ code }) => !patient || code !== 0))
        const spent = (performance.now() - began) / 1000
        // pauses from 100 ms, doubled each time, up to between 15 and 30 s
        const most = Math.log2(spent / 0.1) + 2 + Math.max(0, spent - 25) / 15
        for (const [about, times] of asked)
          expect([about, times.length, times.length <= most]).toEqual([about, times.length, true])
        const watches = [...asked].filter(([about]) => about.startsWith("watch"))
        expect(watches.length).toBe(10)
        for (const [about, times] of watches) {
          const gaps = times.slice(1).map((time, i) => Math.round(time - (times[i] ?? 0)))
          // patience makes the first pauses longer: 2 s, and in the end at least 3.2 s
          const grown = (gaps.at(-1) ?? 0) > (patient ? 1.3 : 4) * (gaps[0] ?? Number.POSITIVE_INFINITY)
          expect([about, gaps, grown]).toEqual([about, gaps, true])
          if (patient) expect([about, gaps, Math.min(...gaps) > 1900]).toEqual([about, gaps, true])
        }
        scene.relay.calm()
        await came(scene.stage, { ...bothWith(2), "echo-c": rolling(2) })
        await scene.behind.still()
        expect(await scene.counts()).toEqual({
          "created echo-a": 1,
          "created echo-b": 1,
          "created echo-c": 1
        })
      },
      lasting(seconds)
    )

  clusterTest("P6 a child that fails delays the others by at most one slot", async () => {
    await using scene = await Scene.open(plane(), "one bad child", { flags: SWIFT }, rolledOut)
    await came(scene.stage, BOTH)
    for (const n of [2, 3, 4]) {
      scene.relay.play([
        always(
          { verb: "apply", kind: "deployments", name: "echo-a" },
          { _tag: "Fail", code: 500, reason: "InternalError" }
        )
      ])
      const moment = scene.relay.passed.length
      await newImage(n)(scene.stage)
      await scene.stage.comes(
        "Deployment",
        "echo-b",
        `image echo:${n}`,
        (child) => imageOf(child) === `echo:${n}`
      )
      const applies = scene.behind
        .since(moment)
        .filter(({ verb, kind }) => verb === "apply" && kind === "deployments")
      expect(applies.findIndex((each) => each.name === "echo-b")).toBeLessThanOrEqual(1)
      expect(imageOf(await scene.stage.get("Deployment", "echo-a"))).not.toBe(`echo:${n}`)
      scene.relay.calm()
      await came(scene.stage, bothWith(n))
    }
  })
})

describe.concurrent("fault 14: the clock", () => {
  const DAY = 86_400_000
  const ways: Readonly<Record<string, (now: number) => Clock>> = {
    "jumps forward by a day": () => ({ offset: DAY }),
    "jumps back by a day": () => ({ offset: -DAY }),
    stops: (now) => ({ stopped: now - DAY })
  }
  for (const [name, way] of Object.entries(ways))
    clusterTest(
      `P13 P6 ${name}: a grace lasts as long as it should, and nothing is asked more often`,
      async () => {
        const file = join(plane().folder, `clock-${name.replaceAll(" ", "-")}.json`)
        const flags = ["--unit-grace", "4s", "--relist-interval", "1s"]
        const casting = { flags, node: ["--import", clock(file)] }
        await using scene = await Scene.open(plane(), name, casting, rolledOut)
        await came(scene.stage, BOTH)
        await scene.behind.still()
        const moment = scene.relay.passed.length
        const began = performance.now()
        await scene.stage.units({ a: ["bj-1"] })
        // its grace has begun, and the controller has said so
        await scene.stage.comes(
          "DeploymentGrid",
          "echo",
          "one unit, two children",
          (grid) => at(grid, "status", "units") === 1 && at(grid, "status", "states", "b") !== undefined
        )
        writeFileSync(file, JSON.stringify(way(Date.now())))
        // a pass in the middle of the grace
        await newImage(2)(scene.stage)
        await came(scene.stage, { "echo-a": rolling(2) })
        const sent = scene.behind.since(moment)
        const gone = sent.find(({ kind }) => kind === "deploymentgrids/status")?.at ?? Number.NaN
        const deleted = sent.find(({ verb, kind }) => verb === "delete" && kind === "deployments")?.at
        // the grace begins between the label's end and the status that says so, which is late where the machine is slow
        expect((deleted ?? Number.NaN) - began).toBeGreaterThan(3990)
        expect((deleted ?? Number.NaN) - gone).toBeGreaterThan(3000)
        await scene.behind.still()
        const days = readFileSync(scene.behind.log, "utf8").matchAll(/"timestamp":"(\d{4}-\d\d-\d\d)/g)
        // else the clock has not been another one
        expect(new Set([...days].map(([, day]) => day)).size).toBeGreaterThan(1)
        const spent = (performance.now() - began) / 1000
        for (const [about, times] of byAbout(
          scene.behind.since(moment).filter(({ verb }) => verb === "list")
        ))
          expect([about, times.length <= spent / 0.8 + 1]).toEqual([about, true])
        expect(await scene.counts()).toEqual({
          "created echo-a": 1,
          "created echo-b": 1,
          "deleted echo-b": 1
        })
      }
    )
})

describe.concurrent("fault 19: no node bears the key any more", () => {
  const seconds = share(60)

  clusterTest(
    `P5 P1 nothing is deleted while nodes may not be listed, for ${seconds} s and over a restart; a real emptying deletes after the grace, and says so`,
    async () => {
      let nodes: Revocable | undefined
      const open = async (stage: Stage): Promise<void> => {
        nodes = await entitled(plane().client, stage.namespace)
        await rolledOut(stage)
      }
      const casting = { flags: ["--unit-grace", "2s", "--relist-interval", "1s"], account: "controller" }
      await using scene = await Scene.open(plane(), "nodes forbidden", casting, open)
      await came(scene.stage, BOTH)
      await nodes?.revoke()
      scene.relay.cut()
      const began = performance.now()
      const refused = (since: number): Promise<unknown> =>
        until({ what: "a refused list of nodes", seconds: 45 }, () =>
          scene.behind
            .since(since)
            .some(({ verb, kind, code }) => verb === "list" && kind === "nodes" && code === 403)
        )
      await refused(0)
      await scene.stage.units({})
      await newImage(2)(scene.stage)
      await came(scene.stage, bothWith(2))
      const moment = scene.relay.passed.length
      scene.behind.kill()
      await refused(moment)
      await during(seconds - (performance.now() - began) / 1000)
      expect(
        scene.behind.since(moment).filter((each) => isWrite(each) && each.kind === "deployments")
      ).toEqual([])
      await came(scene.stage, bothWith(2))
      const allowed = performance.now()
      await nodes?.allow()
      await came(scene.stage, {})
      const deleted = scene.relay.passed.find(({ verb, kind }) => verb === "delete" && kind === "deployments")
      expect((deleted?.at ?? Number.NaN) - allowed).toBeGreaterThan(1990)
      const grid = await scene.stage.comes(
        "DeploymentGrid",
        "echo",
        "NoUnits",
        (each) => condition(each, "Ready", "reason") === "NoUnits"
      )
      expect(condition(grid, "Ready", "message")).toContain(scene.stage.key)
      await until({ what: "an event about the deletion", seconds: 30 }, async () =>
        (await scene.stage.client.items(`/api/v1/namespaces/${scene.stage.namespace}/events`)).some(
          (event) => at(event, "reason") === "ChildrenDeleted"
        )
      )
      await scene.behind.still()
      expect(await scene.counts()).toEqual({
        "created echo-a": 1,
        "created echo-b": 1,
        "deleted echo-a": 1,
        "deleted echo-b": 1
      })
    },
    lasting(seconds)
  )
})

/** When each thing was asked for, by what it is: StatefulSets of grids and others are two. */
const byAbout = (passed: readonly Passed[]): ReadonlyMap<string, readonly number[]> => {
  const times = new Map<string, number[]>()
  for (const each of passed) {
    const about = `${each.verb} ${each.kind} ${each.name}${each.labelSelector}`
    times.set(about, [...(times.get(about) ?? []), each.at])
  }
  return times
}

type Clock = { readonly offset: number } | { readonly stopped: number }

/** A module for Node's --import: a Date that follows what a file says, within a few milliseconds. */
const clock = (file: string): string => {
  const program = `
    import { readFileSync } from "node:fs"
    const True = Date
    let set = { offset: 0 }
    let read = 0
    const look = () => {
      read = performance.now()
      try { set = JSON.parse(readFileSync(${JSON.stringify(file)}, "utf8")) } catch {}
    }
    const now = () => {
      if (performance.now() - read > 5) look()
      return set.stopped ?? True.now() + set.offset
    }
    globalThis.Date = class extends True {
      constructor(...given) { given.length === 0 ? super(now()) : super(...given) }
      static now() { return now() }
    }`
  return `data:text/javascript,${encodeURIComponent(program)}`
}

/** An account `controller` in a namespace with the manifest's roles, of which what is about nodes can be taken away. */
const entitled = async (client: Client, namespace: string): Promise<Revocable> => {
  const aboutNodes = ({ resources }: Rule): boolean => resources.includes("nodes")
  const others = ROLES.cluster.filter((rule) => !aboutNodes(rule))
  const made = await account(client, namespace, "controller", { ...ROLES, cluster: others })
  return revocable(client, made, `${namespace}-nodes`, ROLES.cluster.filter(aboutNodes))
}
