/**
 * The API server itself: two of them of which one stands still (fault 2), one that has forgotten after a compaction and a restart (fault 7), one that
 * is ended in the middle of work again and again (fault 10): twice here, 10 times with SERVICEGROUP_PLANS=40. One story after the other, since
 * all of them feel it.
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { describe, expect, onTestFinished } from "vitest"
import { at } from "../client.ts"
import { until } from "../deadline.ts"
import { always, isWrite } from "../relay-script.ts"
import { clusterTest, lasting } from "../skip.ts"
import { share } from "./length.ts"
import { blind, planeOfFile, Scene } from "./scene.ts"
import { BOTH, bothWith, came, newImage, rolledOut, rolling } from "./stories.ts"
import { SWIFT } from "./told.ts"

const plane = planeOfFile({ controllers: "none" })

describe("fault 2: two API servers on one etcd, one of which stands still", () => {
  clusterTest(
    "P2 P4 nothing is written from an old view, over a restart too, and all is made good for",
    async () => {
      const line = await link(plane().etcd)
      const second = await plane().beside(line.address)
      onTestFinished(() => second.stop())
      await using scene = await Scene.open(plane(), "two servers", { flags: SWIFT }, rolledOut)
      await came(scene.stage, BOTH)
      scene.relay.lead(second.server)
      scene.relay.cut()
      await scene.behind.still()
      line.stop()
      // the first server knows of another unit, of one that has gone, and of another image
      await scene.stage.units({ a: ["bj-1"], c: ["bj-3"] })
      await newImage(2)(scene.stage)
      const moment = scene.relay.passed.length
      scene.relay.cut()
      const began = performance.now()
      await until({ what: "a list that isn't answered for 5 s", seconds: 60 }, () =>
        scene.behind
          .since(moment)
          .some(
            ({ verb, code, at: then }) => verb === "list" && code !== 200 && performance.now() - then > 5000
          )
      )
      scene.behind.kill()
      await until({ what: "a list of the controller that began anew", seconds: 60 }, () =>
        scene.behind.since(moment).some(({ verb, at: then }) => verb === "list" && then - began > 5000)
      )
      const written = scene.behind.since(moment).filter(isWrite)
      line.go()
      expect(written).toEqual([])
      await came(scene.stage, { "echo-a": rolling(2), "echo-c": rolling(2) })
      await scene.behind.still()
      expect(await scene.counts()).toEqual({
        "created echo-a": 1,
        "created echo-b": 1,
        "created echo-c": 1,
        "deleted echo-b": 1
      })
    }
  )
})

describe("fault 7: a compaction and a restart of the API server", () => {
  clusterTest("P4 P8 lead to new lists, and to nothing that is deleted and made again", async () => {
    const flags = ["--unit-grace", "1s", "--relist-interval", "10m"]
    await using scene = await Scene.open(plane(), "compaction", { flags }, rolledOut)
    await came(scene.stage, BOTH)
    // out of reach meanwhile
    scene.relay.play([always({ verb: "request" }, { _tag: "Reset", moment: "before" })])
    scene.relay.cut()
    await scene.stage.units({ a: ["bj-1"], b: ["gz-2"], c: ["bj-3"] })
    await newImage(2)(scene.stage)
    const nodes = await scene.stage.client.get("/api/v1/nodes")
    const revision = String(at(nodes, "metadata", "resourceVersion"))
    const compacted = await fetch(`${plane().etcd}/v3/kv/compaction`, {
      method: "POST",
      body: JSON.stringify({ revision, physical: true })
    })
    expect(compacted.status).toBe(200)
    await plane().restart("kube-apiserver", "SIGKILL")
    const moment = scene.relay.passed.length
    scene.relay.calm()
    await came(scene.stage, { ...bothWith(2), "echo-c": rolling(2) })
    // the relist interval is far from over: what else than a 410 would have led to lists; while the server comes, some may be refused
    const lists = scene.behind.since(moment).filter(({ verb, code }) => verb === "list" && code === 200)
    for (const kind of ["nodes", "deploymentgrids"])
      expect([kind, lists.filter((each) => each.kind === kind).length]).toEqual([kind, 1])
    expect(await scene.counts()).toEqual({ "created echo-a": 1, "created echo-b": 1, "created echo-c": 1 })
  })
})

describe("fault 10: an API server that is ended and comes back", () => {
  const times = share(10)
  clusterTest(
    `P1 P2 P4 ${times} times, in the middle of writes: all is made good for`,
    async () => {
      const units = { a: ["bj-1"], b: ["bj-2"], c: ["bj-3"], d: ["gz-1"], e: ["gz-2"], f: ["gz-3"] }
      await using scene = await Scene.open(plane(), "restarts", { flags: SWIFT }, async (stage) => {
        await rolledOut(stage)
        await stage.units(units)
      })
      const all = (n: number): Record<string, string> =>
        Object.fromEntries(Object.keys(units).map((unit) => [`echo-${unit}`, rolling(n)]))
      await came(scene.stage, all(1))
      for (let n = 2; n < 2 + times; n++) {
        const moment = scene.relay.passed.length
        await newImage(n)(scene.stage)
        await until({ what: "the first write", seconds: 45 }, () => scene.behind.since(moment).some(isWrite))
        await plane().restart("kube-apiserver", n % 2 === 0 ? "SIGKILL" : "SIGTERM")
        await came(scene.stage, all(n))
      }
      await scene.behind.still()
      await came(scene.stage, all(1 + times))
      expect(await scene.counts()).toEqual(
        Object.fromEntries(Object.keys(units).map((unit) => [`created echo-${unit}`, 1]))
      )
      expect(blind(scene.childWrites())).toEqual([])
    },
    lasting(times * 240)
  )
})

interface Link {
  readonly address: string
  /** Nothing goes through any more, and nobody is told. */
  readonly stop: () => void
  readonly go: () => void
}

/** A way to a server that can stand still. */
const link = async (to: string): Promise<Link> => {
  const sockets = new Set<Socket>()
  let stopped = false
  const { port: target } = new URL(to)
  const server = createServer((near) => {
    const far = connect(Number(target), "127.0.0.1")
    for (const [from, into] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(from)
      from.on("data", (chunk) => into.write(chunk))
      from.once("close", () => {
        sockets.delete(from)
        into.destroy()
      })
      from.on("error", () => undefined)
      if (stopped) from.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      stopped = true
      for (const socket of sockets) socket.pause()
    },
    go: () => {
      stopped = false
      for (const socket of sockets) socket.resume()
    }
  }
}
