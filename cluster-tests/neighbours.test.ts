/** Grids beside others who write into the same objects: delivery tools, kubectl's own verbs, SuperEdge; and many units. */
import { describe, expect } from "vitest"
import { specWrites } from "./audit.ts"
import { at } from "./client.ts"
import { until } from "./deadline.ts"
import { done } from "./kubectl.ts"
import { node } from "./nodes.ts"
import { deployment, type Edited, statefulSet } from "./specs.ts"
import { type Stage, story } from "./stage.ts"

const CONTAINERS = ["spec", "template", "spec", "containers"] as const

describe.concurrent("neighbours", () => {
  story("by whose labels delivery tools claim a grid don't claim its children", async (stage) => {
    await stage.units({ a: ["bj-1"] })
    const labels = {
      "argocd.argoproj.io/instance": "shop",
      "app.kubernetes.io/instance": "shop",
      "app.kubernetes.io/managed-by": "Helm",
      team: "x"
    }
    const annotations = { "argocd.argoproj.io/tracking-id": "shop:superedge.io/DeploymentGrid:default/echo" }
    const spec = { gridUniqKey: stage.key, template: deployment() }
    await stage.create("DeploymentGrid", "echo", spec, { labels, annotations })
    await stage.ready("DeploymentGrid", "echo")
    const { metadata } = (await stage.get("Deployment", "echo-a")) as { readonly metadata: unknown }
    expect(Object.keys(at(metadata, "labels") as object).sort()).toEqual([
      "superedge.io/grid-selector",
      "superedge.io/grid-uniq-key",
      "team"
    ])
    expect(Object.keys(at(metadata, "annotations") as object).some((key) => key.includes("argocd"))).toBe(
      false
    )
  })

  story("a rollout restart of a child by kubectl restarts its pods once, and stays", async (stage) => {
    await settled(stage)
    const before = await podUids(stage)
    await done(stage.kubectl(["rollout", "restart", "deployment/echo-a", "-n", stage.namespace]))
    await until({ what: "new pods", seconds: 30 }, async () => {
      const now = await podUids(stage)
      return now.size > 0 && [...now].every((uid) => !before.has(uid))
    })
    await stage.ready("DeploymentGrid", "echo")
    const annotations = ["spec", "template", "metadata", "annotations"]
    const said = at(
      await stage.get("Deployment", "echo-a"),
      ...annotations,
      "kubectl.kubernetes.io/restartedAt"
    )
    expect(said).toBeTypeOf("string")
    await stage.edit("DeploymentGrid", "echo", (grid: Edited) => (grid.spec.template.replicas = 2))
    await stage.ready("DeploymentGrid", "echo")
    const later = at(
      await stage.get("Deployment", "echo-a"),
      ...annotations,
      "kubectl.kubernetes.io/restartedAt"
    )
    expect(later).toBe(said)
  })

  story("a container that another manager adds stays while the grid's own is edited", async (stage) => {
    await settled(stage)
    await stage.client.patch(`${stage.path("Deployment", "echo-a")}?fieldManager=mesh&force=true`, "apply", {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "echo-a" },
      spec: { template: { spec: { containers: [{ name: "proxy", image: "proxy:1" }] } } }
    })
    await stage.edit("DeploymentGrid", "echo", ({ spec }: Edited) => {
      for (const container of spec.template.template.spec.containers) container.image = "echo:2"
    })
    await stage.ready("DeploymentGrid", "echo")
    const containers = at(await stage.get("Deployment", "echo-a"), ...CONTAINERS) as readonly unknown[]
    expect(containers.map((each) => at(each, "image"))).toEqual(["echo:2", "proxy:1"])
  })

  story(
    "SuperEdge's children are taken over without a restart of a pod, and removals work afterwards",
    async (stage) => {
      await stage.units({ a: ["bj-1"] })
      // no unit until the child is there as SuperEdge leaves it
      const grid = await stage.create("DeploymentGrid", "echo", {
        gridUniqKey: `old-${stage.key}`,
        template: deployment()
      })
      const { template, ...spec } = deployment()
      const labels = { app: "echo", "superedge.io/template-hash-key": "5f6d" }
      const child = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: {
          name: "echo-a",
          labels: { "superedge.io/grid-selector": "echo", "superedge.io/grid-uniq-key": stage.key },
          ownerReferences: [
            {
              apiVersion: "superedge.io/v1",
              kind: "DeploymentGrid",
              name: "echo",
              uid: at(grid, "metadata", "uid"),
              controller: true,
              blockOwnerDeletion: true
            }
          ]
        },
        spec: {
          ...spec,
          template: { metadata: { labels }, spec: { ...template.spec, nodeSelector: { [stage.key]: "a" } } }
        }
      }
      await stage.client.create(`${stage.path("Deployment")}?fieldManager=application-grid-controller`, child)
      await stage.comes(
        "Deployment",
        "echo-a",
        "its pod ready",
        (found) => at(found, "status", "readyReplicas") === 1
      )
      const before = await podUids(stage)
      await stage.client.patch(stage.path("DeploymentGrid", "echo"), "merge", {
        spec: { gridUniqKey: stage.key }
      })
      await stage.ready("DeploymentGrid", "echo")
      const fieldsOf = async (manager: string): Promise<unknown> => {
        const found = await stage.get("Deployment", "echo-a")
        const entries = at(found, "metadata", "managedFields") as readonly unknown[]
        return at(
          entries.find((entry) => at(entry, "manager") === manager),
          "fieldsV1"
        )
      }
      await until(
        { what: "the takeover", seconds: 30 },
        async () => (await fieldsOf("servicegroup")) !== undefined
      )
      // it keeps what must not go, or every pod would start anew
      expect(await fieldsOf("application-grid-controller")).toEqual({
        "f:spec": {
          "f:template": { "f:metadata": { "f:labels": { "f:superedge.io/template-hash-key": {} } } }
        }
      })
      expect(specWrites(stage.writes())).toEqual([
        "patch deployments echo-a 200",
        "patch deployments echo-a 200"
      ])
      expect(await podUids(stage)).toEqual(before)
      expect(
        at(
          await stage.get("Deployment", "echo-a"),
          "spec",
          "template",
          "metadata",
          "labels",
          "superedge.io/template-hash-key"
        )
      ).toBe("5f6d")
      await stage.edit("DeploymentGrid", "echo", (edited: Edited) => {
        for (const container of edited.spec.template.template.spec.containers) container.env.pop()
      })
      await stage.ready("DeploymentGrid", "echo")
      expect(at(await stage.get("Deployment", "echo-a"), ...CONTAINERS, 0, "env")).toEqual([
        { name: "COLOR", value: "blue" }
      ])
    }
  )
})

describe("StatefulSetGrid", () => {
  story("has a claim of its own for each pod of each unit", async (stage) => {
    await stage.units({ a: ["bj-1"], b: ["gz-1"] })
    const claim = {
      metadata: { name: "www", labels: { kept: "yes" } },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
    }
    const template = { ...statefulSet(), replicas: 1, volumeClaimTemplates: [claim] }
    await stage.create("StatefulSetGrid", "web", { gridUniqKey: stage.key, template })
    const claims = await until({ what: "a claim in each unit", seconds: 30 }, async () => {
      const found = await stage.client.items(`/api/v1/namespaces/${stage.namespace}/persistentvolumeclaims`)
      return found.length === 2 && found
    })
    const names = claims.map((each) => String(at(each, "metadata", "name"))).toSorted()
    expect(names).toEqual(["www-web-a-0", "www-web-b-0"])
    for (const each of claims) expect(at(each, "metadata", "labels", "kept")).toBe("yes")
    // nobody provides volumes here, so that the pods wait; the status is told after the sets were looked at again
    await stage.comes(
      "StatefulSetGrid",
      "web",
      "a state of each unit",
      (grid) =>
        at(grid, "status", "states", "a", "replicas") === 1 &&
        at(grid, "status", "states", "b", "replicas") === 1
    )
    expect(specWrites(stage.writes())).toEqual([
      "patch statefulsets web-a 201",
      "patch statefulsets web-b 201"
    ])
  })
})

describe("many units", () => {
  story("300 of them become ready, each child written once", async (stage) => {
    const names = Array.from({ length: 300 }, (_, index) => `${stage.namespace}-${index}`)
    try {
      await Promise.all(names.map((name, index) => node(stage.client, name, { [stage.key]: `u${index}` })))
      await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
      await until({ what: "300 ready units", seconds: 180 }, async () => {
        const grid = await stage.get("DeploymentGrid", "echo")
        if (at(grid, "status", "readyUnits") === 300) return true
        throw new Error(
          `${String(at(grid, "status", "readyUnits"))} of ${String(at(grid, "status", "units"))}`
        )
      })
      const applied = stage.writes().filter((write) => write.resource === "deployments")
      expect(applied.length).toBe(300)
    } finally {
      await Promise.all(names.map((name) => stage.client.ask("DELETE", `/api/v1/nodes/${name}`)))
    }
  })
})

/** A DeploymentGrid `echo` in unit a, ready. */
const settled = async (stage: Stage): Promise<void> => {
  await stage.units({ a: ["bj-1"] })
  await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
  await stage.ready("DeploymentGrid", "echo")
}

const podUids = async ({ client, namespace }: Stage): Promise<ReadonlySet<unknown>> =>
  new Set(
    (await client.items(`/api/v1/namespaces/${namespace}/pods`))
      .filter((pod) => at(pod, "metadata", "deletionTimestamp") === undefined)
      .map((pod) => at(pod, "metadata", "uid"))
  )
