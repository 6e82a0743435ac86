/** StatefulSetGrids and ServiceGrids, and switches of a kind that the API server has rules about. */
import { describe, expect } from "vitest"
import { at } from "./client.ts"
import { deployment, statefulSet } from "./specs.ts"
import { condition, type Stage, story } from "./stage.ts"

describe.concurrent("StatefulSetGrid", () => {
  story("has pods with ordinals in each unit, on that unit's nodes", async (stage) => {
    await stage.units({ a: ["bj-1", "bj-2"], b: ["gz-1"] })
    await stage.create("StatefulSetGrid", "web", { gridUniqKey: stage.key, template: statefulSet() })
    const ready = await stage.ready("StatefulSetGrid", "web")
    expect(at(ready, "status", "states", "a", "currentRevision")).toMatch(/^web-a-/)
    const pods = await stage.client.items(`/api/v1/namespaces/${stage.namespace}/pods`)
    expect(pods.map((pod) => String(at(pod, "metadata", "name"))).toSorted()).toEqual([
      "web-a-0",
      "web-a-1",
      "web-b-0",
      "web-b-1"
    ])
    for (const pod of pods) {
      const unit = String(at(pod, "metadata", "name")).split("-")[1]
      expect(at(pod, "spec", "nodeSelector", stage.key)).toBe(unit)
      expect(String(at(pod, "spec", "nodeName"))).toMatch(unit === "a" ? /^bj-/ : /^gz-/)
    }
  })

  story("says which immutable field waits, and leaves the set running", async (stage) => {
    await stage.units({ a: ["bj-1"] })
    await stage.create("StatefulSetGrid", "web", { gridUniqKey: stage.key, template: statefulSet() })
    await stage.ready("StatefulSetGrid", "web")
    const before = await stage.get("StatefulSet", "web-a")
    await stage.client.patch(stage.path("StatefulSetGrid", "web"), "merge", {
      spec: { template: { serviceName: "other" } }
    })
    const told = await stage.comes(
      "StatefulSetGrid",
      "web",
      "Degraded",
      (grid) => condition(grid, "Degraded", "status") === "True"
    )
    expect(condition(told, "Degraded", "message")).toContain("serviceName")
    const after = await stage.get("StatefulSet", "web-a")
    expect(at(after, "metadata", "uid")).toBe(at(before, "metadata", "uid"))
    expect(at(after, "spec", "serviceName")).toBe("web-svc")
    await stage.client.patch(stage.path("StatefulSetGrid", "web"), "merge", {
      spec: { template: { serviceName: "web-svc" } }
    })
    await stage.ready("StatefulSetGrid", "web")
  })
})

describe.concurrent("a strategy", () => {
  story("of a DeploymentGrid switches to Recreate and back, and restarts no pod", async (stage) => {
    const rolling = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
    await stage.units({ a: ["bj-1"] })
    const template = { ...deployment(), strategy: rolling }
    await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template })
    await stage.ready("DeploymentGrid", "echo")
    await keepsPods(stage, async () => {
      await switched(stage, "DeploymentGrid", "echo", "strategy", { type: "Recreate", rollingUpdate: null })
      expect(at(await stage.get("Deployment", "echo-a"), "spec", "strategy")).toEqual({ type: "Recreate" })
      await switched(stage, "DeploymentGrid", "echo", "strategy", rolling)
      expect(at(await stage.get("Deployment", "echo-a"), "spec", "strategy")).toEqual(rolling)
    })
  })

  story("of a DeploymentGrid that said none switches to Recreate", async (stage) => {
    await stage.units({ a: ["bj-1"] })
    await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
    await stage.ready("DeploymentGrid", "echo")
    await keepsPods(stage, async () => {
      await switched(stage, "DeploymentGrid", "echo", "strategy", { type: "Recreate" })
      expect(at(await stage.get("Deployment", "echo-a"), "spec", "strategy")).toEqual({ type: "Recreate" })
    })
  })

  story("of a StatefulSetGrid switches to OnDelete, from one with a partition", async (stage) => {
    await stage.units({ a: ["bj-1"] })
    const template = {
      ...statefulSet(),
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } }
    }
    await stage.create("StatefulSetGrid", "web", { gridUniqKey: stage.key, template })
    await stage.ready("StatefulSetGrid", "web")
    await keepsPods(stage, async () => {
      await switched(stage, "StatefulSetGrid", "web", "updateStrategy", {
        type: "OnDelete",
        rollingUpdate: null
      })
      expect(at(await stage.get("StatefulSet", "web-a"), "spec", "updateStrategy")).toEqual({
        type: "OnDelete"
      })
    })
  })
})

describe.concurrent("ServiceGrid", () => {
  const template = { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] }

  story("has a Service annotated with its key, whose clusterIP stays on edits", async (stage) => {
    await stage.create("ServiceGrid", "web", { gridUniqKey: stage.key, template })
    await stage.ready("ServiceGrid", "web")
    const before = await stage.get("Service", "web-svc")
    expect(at(before, "metadata", "annotations", "topologyKeys")).toBe(`["${stage.key}"]`)
    await stage.client.patch(stage.path("ServiceGrid", "web"), "merge", {
      spec: { template: { ports: [{ port: 80, targetPort: 9090 }], selector: { v: "1" } } }
    })
    await stage.ready("ServiceGrid", "web")
    const after = await stage.get("Service", "web-svc")
    expect(at(after, "spec", "clusterIP")).toBe(at(before, "spec", "clusterIP"))
    expect(at(after, "spec", "ports", 0, "targetPort")).toBe(9090)
    await stage.client.patch(stage.path("ServiceGrid", "web"), "merge", {
      spec: { template: { selector: { v: null } } }
    })
    await stage.comes(
      "Service",
      "web-svc",
      "without v",
      (service) => at(service, "spec", "selector", "v") === undefined
    )
  })

  for (const [from, to] of [
    [undefined, "None"],
    ["None", null]
  ] as const)
    story(
      `with clusterIP ${from} says that it can't become ${to}, until the Service is deleted`,
      async (stage) => {
        const spec = {
          gridUniqKey: stage.key,
          template: from === undefined ? template : { ...template, clusterIP: from }
        }
        await stage.create("ServiceGrid", "web", spec)
        await stage.ready("ServiceGrid", "web")
        const before = await stage.get("Service", "web-svc")
        await stage.client.patch(stage.path("ServiceGrid", "web"), "merge", {
          spec: { template: { clusterIP: to } }
        })
        const told = await stage.comes(
          "ServiceGrid",
          "web",
          "Degraded",
          (grid) => condition(grid, "Degraded", "status") === "True"
        )
        expect(condition(told, "Degraded", "message")).toContain("clusterIP")
        const kept = await stage.get("Service", "web-svc")
        expect(at(kept, "spec", "clusterIP")).toBe(at(before, "spec", "clusterIP"))
        expect(at(kept, "metadata", "uid")).toBe(at(before, "metadata", "uid"))
        await stage.client.remove(stage.path("Service", "web-svc"))
        await stage.ready("ServiceGrid", "web")
        const headless = at(await stage.get("Service", "web-svc"), "spec", "clusterIP") === "None"
        expect(headless).toBe(to === "None")
      }
    )
})

/** Edits one field of a grid's template by a merge patch, and waits until the grid is ready with it. */
const switched = async (
  stage: Stage,
  kind: "DeploymentGrid" | "StatefulSetGrid",
  name: string,
  field: string,
  value: unknown
): Promise<void> => {
  await stage.client.patch(stage.path(kind, name), "merge", { spec: { template: { [field]: value } } })
  await stage.ready(kind, name)
}

/** The pods before are the pods after. */
const keepsPods = async (stage: Stage, happens: () => Promise<void>): Promise<void> => {
  const uids = async (): Promise<ReadonlySet<unknown>> => {
    const pods = await stage.client.items(`/api/v1/namespaces/${stage.namespace}/pods`)
    return new Set(pods.map((pod) => at(pod, "metadata", "uid")))
  }
  const before = await uids()
  await happens()
  expect(await uids()).toEqual(before)
}
