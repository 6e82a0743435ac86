/** StatefulSetGrids and ServiceGrids, and switches of a kind that the API server has rules about. */
import { describe, expect } from "vitest"
import { at } from "./client.ts"
import { deployment, statefulSet } from "./specs.ts"
import { type ChildKind, condition, type GridKind, type Stage, story } from "./stage.ts"

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
})

describe.concurrent("a field that the server calls immutable", () => {
  const service = { selector: { app: "web" }, ports: [{ port: 80 }] }
  const labelled = {
    selector: { matchLabels: { app: "x" } },
    template: { metadata: { labels: { app: "x" } } }
  }
  const fields: readonly {
    readonly what: string
    readonly field: string
    readonly grid: GridKind
    readonly child: readonly [ChildKind, string]
    readonly template: object
    readonly edit: object
  }[] = [
    {
      what: "a Deployment's selector",
      field: "selector",
      grid: "DeploymentGrid",
      child: ["Deployment", "web-a"],
      template: deployment(),
      edit: labelled
    },
    {
      what: "a StatefulSet's serviceName",
      field: "serviceName",
      grid: "StatefulSetGrid",
      child: ["StatefulSet", "web-a"],
      template: statefulSet(),
      edit: { serviceName: "other" }
    },
    {
      what: "a Service that is to become headless",
      field: "clusterIP",
      grid: "ServiceGrid",
      child: ["Service", "web-svc"],
      template: service,
      edit: { clusterIP: "None" }
    },
    {
      // the server would accept that, and keep it headless
      what: "a Service that is to be headless no more",
      field: "clusterIP",
      grid: "ServiceGrid",
      child: ["Service", "web-svc"],
      template: { ...service, clusterIP: "None" },
      edit: { clusterIP: null }
    }
  ]
  for (const { what, field, grid, child, template, edit } of fields)
    story(`is named and waits, and its child stays, until that is deleted: ${what}`, async (stage) => {
      await stage.units({ a: ["bj-1"] })
      await stage.create(grid, "web", { gridUniqKey: stage.key, template })
      await stage.ready(grid, "web")
      const before = await stage.get(...child)
      await stage.client.patch(stage.path(grid, "web"), "merge", { spec: { template: edit } })
      const told = await stage.comes(
        grid,
        "web",
        "ImmutableField",
        (found) => condition(found, "Degraded", "reason") === "ImmutableField"
      )
      expect(condition(told, "Degraded", "message")).toContain(`spec.${field}`)
      const kept = await stage.get(...child)
      expect(at(kept, "metadata", "uid")).toBe(at(before, "metadata", "uid"))
      expect(at(kept, "spec")).toEqual(at(before, "spec"))
      await stage.client.remove(stage.path(...child))
      await stage.ready(grid, "web")
      const made = await stage.get(...child)
      expect(at(made, "metadata", "uid")).not.toBe(at(before, "metadata", "uid"))
      expect(at(made, "spec", field)).not.toEqual(at(before, "spec", field))
    })

  story("is no trouble any more where the edit is taken back", async (stage) => {
    await stage.units({ a: ["bj-1"] })
    await stage.create("StatefulSetGrid", "web", { gridUniqKey: stage.key, template: statefulSet() })
    const named = async (serviceName: string): Promise<void> => {
      const patch = { spec: { template: { serviceName } } }
      await stage.client.patch(stage.path("StatefulSetGrid", "web"), "merge", patch)
    }
    await stage.ready("StatefulSetGrid", "web")
    await named("other")
    await stage.comes(
      "StatefulSetGrid",
      "web",
      "Degraded",
      (grid) => condition(grid, "Degraded", "status") === "True"
    )
    await named("web-svc")
    await stage.ready("StatefulSetGrid", "web")
  })
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
