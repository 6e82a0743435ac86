/** The manifests as they are, and the walkthrough of the README, in the namespace that the examples name. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { at } from "./client.ts"
import { until } from "./deadline.ts"
import { done } from "./kubectl.ts"
import { readied } from "./nodes.ts"
import { condition, type Stage, story } from "./stage.ts"

const MANIFESTS = join(import.meta.dirname, "../manifests")
const example = (name: string): string => join(MANIFESTS, "examples", name)
const GRID = "/apis/superedge.io/v1/namespaces/default/deploymentgrids/deploymentgrid-demo"
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"

describe("manifests", () => {
  for (const folder of ["crds", "controller"])
    story(`kubectl apply -k manifests/${folder} says unchanged the second time`, async (stage) => {
      await twice(stage, ["-k", join(MANIFESTS, folder)])
    })
  for (const folder of ["crds", "controller", "examples"])
    for (const file of readdirSync(join(MANIFESTS, folder)).filter((name) => name !== "kustomization.yaml"))
      story(
        `client-side kubectl apply -f manifests/${folder}/${file} says unchanged the second time`,
        async (stage) => {
          const path = join(MANIFESTS, folder, file)
          await twice(stage, ["-f", path])
          if (folder === "examples" && file !== "nodes.yaml") await gone(stage, path)
        }
      )
})

describe("walkthrough", () => {
  story("two places, a canary in one of them, a third place that comes and goes", async (stage) => {
    const { kubectl, client } = stage
    try {
      await done(kubectl(["apply", "-f", example("echo-deployment.yaml")]))
      await grid(stage, "NoUnits", (found) => condition(found, "Ready", "reason") === "NoUnits")
      await done(kubectl(["apply", "-f", example("sites.yaml")]))
      await until({ what: "both units with three ready nodes", seconds: 30 }, async () => {
        const told = await done(kubectl(["get", "nodeunit", "beijing", "guangzhou", "--no-headers"]))
        if (/^beijing +edge +3\/3 +3 .*\nguangzhou +edge +3\/3 +3 /.test(told)) return true
        throw new Error(told)
      })
      expect(await done(kubectl(["get", "ng", "--no-headers"]))).toMatch(/^location +2 +6 /)
      const ready = await grid(stage, "Ready with two units", (found) => isReady(found, 2))
      expect(Object.keys(at(ready, "status", "states") as object)).toEqual(["beijing", "guangzhou"])
      expect(at(ready, "status", "states", "beijing", "readyReplicas")).toBe(2)
      expect(condition(ready, "Progressing", "status")).toBe("False")
      expect(condition(ready, "Degraded", "status")).toBe("False")
      expect(await placed(stage)).toEqual(["bj", "bj", "gz", "gz"])
      expect(await done(kubectl(["get", "dg", "--no-headers"]))).toMatch(
        /^deploymentgrid-demo +location +2 +2 /
      )
      const service = await client.get("/api/v1/namespaces/default/services/servicegrid-demo-svc")
      expect(at(service, "metadata", "annotations", "topologyKeys")).toBe('["location"]')

      const before = await version(stage, "beijing")
      await done(kubectl(["apply", "-f", example("echo-canary.yaml")]))
      await grid(
        stage,
        "3 replicas in guangzhou",
        (found) => isReady(found, 2) && replicas(found, "guangzhou") === 3
      )
      expect(await image(stage, "guangzhou")).toBe("superedge/echoserver:2.3")
      expect(await image(stage, "beijing")).toBe("superedge/echoserver:2.2")
      expect(await version(stage, "beijing"), "beijing is left alone").toBe(before)
      await done(kubectl(["apply", "-f", example("echo-deployment.yaml")]))
      await grid(
        stage,
        "2 replicas in guangzhou",
        (found) => isReady(found, 2) && replicas(found, "guangzhou") === 2
      )

      await done(kubectl(["annotate", "dg", "deploymentgrid-demo", "superedge.io/unit-grace=3s"]))
      await done(kubectl(["apply", "-f", example("shanghai.yaml")]))
      await readied(client, "sh-1")
      await grid(stage, "Ready with three units", (found) => isReady(found, 3))
      await done(kubectl(["delete", "node", "sh-1"]))
      const lost = performance.now()
      await grid(
        stage,
        "shanghai in its grace",
        (found) => condition(found, "Progressing", "status") === "True"
      )
      await until({ what: "the end of the Deployment in shanghai", seconds: 30 }, async () => {
        const found = await client.find(`${DEPLOYMENTS}/deploymentgrid-demo-shanghai`)
        return found === undefined || at(found, "metadata", "deletionTimestamp") !== undefined
      })
      expect(performance.now() - lost, "not before its grace").toBeGreaterThan(2500)
      await grid(
        stage,
        "Ready with two units",
        (found) => isReady(found, 2) && replicas(found, "shanghai") === undefined
      )
      expect(await version(stage, "beijing"), "beijing was not written at all").toBe(before)
    } finally {
      await done(kubectl(["delete", "-f", example("sites.yaml"), "--ignore-not-found", "--wait"]))
      await done(kubectl(["delete", "nodeunit", "shanghai", "--ignore-not-found", "--wait"]))
      await gone(stage, example("echo-deployment.yaml"))
    }
  })
})

const isReady = (found: unknown, units: number): boolean =>
  at(found, "status", "observedGeneration") === at(found, "metadata", "generation") &&
  condition(found, "Ready", "status") === "True" &&
  condition(found, "Progressing", "status") === "False" &&
  at(found, "status", "readyUnits") === units

const replicas = (found: unknown, unit: string): unknown =>
  at(found, "status", "states", unit, "readyReplicas")

/** Waits until the example's grid is as it should be; gives it. */
const grid = (stage: Stage, what: string, is: (found: unknown) => boolean): Promise<unknown> =>
  until({ what: `DeploymentGrid deploymentgrid-demo: ${what}`, seconds: 45 }, async () => {
    const found = await stage.client.get(GRID)
    if (!is(found)) throw new Error(JSON.stringify(at(found, "status")))
    return found
  })

/** The first two letters of the nodes that the example's pods run on, sorted. */
const placed = async ({ client }: Stage): Promise<readonly string[]> => {
  const pods = await client.items("/api/v1/namespaces/default/pods?labelSelector=appGrid%3Decho")
  return pods.map((pod) => String(at(pod, "spec", "nodeName")).slice(0, 2)).sort()
}

const child = ({ client }: Stage, unit: string): Promise<unknown> =>
  client.get(`${DEPLOYMENTS}/deploymentgrid-demo-${unit}`)

const version = async (stage: Stage, unit: string): Promise<unknown> =>
  at(await child(stage, unit), "metadata", "generation")

const image = async (stage: Stage, unit: string): Promise<unknown> =>
  at(await child(stage, unit), "spec", "template", "spec", "containers", 0, "image")

const twice = async ({ kubectl }: Stage, what: readonly string[]): Promise<void> => {
  const first = await kubectl(["apply", ...what])
  expect(first.stderr).toBe("")
  expect(first.code).toBe(0)
  const lines = (await done(kubectl(["apply", ...what]))).trim().split("\n")
  for (const line of lines) expect(line).toMatch(/ unchanged$/)
}

/** Deletes what a file says, and waits until the garbage collector has taken the children. */
const gone = async ({ kubectl, client }: Stage, path: string): Promise<void> => {
  await done(kubectl(["delete", "-f", path, "--ignore-not-found", "--wait"]))
  for (const kind of ["deployments", "statefulsets"])
    await until({ what: `the end of the children of ${path}`, seconds: 45 }, async () => {
      const left = await client.items(`/apis/apps/v1/namespaces/default/${kind}`)
      return left.length === 0
    })
  await until({ what: `the end of the Service of ${path}`, seconds: 45 }, async () => {
    const left = await client.items("/api/v1/namespaces/default/services")
    return left.every((service) => at(service, "metadata", "name") === "kubernetes")
  })
}
