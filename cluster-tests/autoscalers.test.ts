/** HorizontalPodAutoscalers on the children of a grid that leaves `replicas` out. */
import { describe, expect } from "vitest"
import { at } from "./client.ts"
import { until } from "./deadline.ts"
import { deployment, type DeploymentSpec, type Edited, imageOf } from "./specs.ts"
import { condition, type Stage, story } from "./stage.ts"

describe.concurrent("an autoscaler", () => {
  story("that owns replicas keeps its number while the image changes", async (stage) => {
    await stage.units({ a: ["bj-1"] })
    await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: unscaled({}) })
    await stage.ready("DeploymentGrid", "echo")
    await autoscaler(stage, "echo-a", 3)
    const before = Number(at(await has(stage, "echo-a", 3), "metadata", "generation"))
    await stage.edit("DeploymentGrid", "echo", ({ spec }: Edited) => {
      for (const container of spec.template.template.spec.containers) container.image = "echo:2"
    })
    await stage.comes("Deployment", "echo-a", "image echo:2", (child) => imageOf(child) === "echo:2")
    await stage.ready("DeploymentGrid", "echo")
    const child = await stage.get("Deployment", "echo-a")
    expect(at(child, "spec", "replicas")).toBe(3)
    // the autoscaler would set right what was set back, but not unseen
    expect(at(child, "metadata", "generation")).toBe(before + 1)
    const sent = stage
      .writes()
      .filter(({ resource, name }) => resource === "deployments" && name === "echo-a")
    expect(sent.filter(({ body }) => at(body, "spec", "template") !== undefined).length).toBeGreaterThan(1)
    expect(sent.filter(({ body }) => at(body, "spec", "replicas") !== undefined)).toEqual([])
  })

  // the server's own words for what the README says
  story(
    "beside another one over the same selector says AmbiguousSelector, as does the other",
    async (stage) => {
      await stage.units({ a: ["bj-1"], b: ["gz-1"] })
      await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: unscaled({}) })
      await stage.ready("DeploymentGrid", "echo")
      await autoscaler(stage, "echo-a", 1)
      await autoscaler(stage, "echo-b", 1)
      for (const child of ["echo-a", "echo-b"]) {
        const told = await judged(stage, child, "AmbiguousSelector")
        expect(condition(told, "ScalingActive", "message")).toContain(`${stage.namespace}/echo-a`)
        expect(condition(told, "ScalingActive", "message")).toContain(`${stage.namespace}/echo-b`)
      }
    }
  )

  story("for each unit whose template has a selector of its own scales that unit alone", async (stage) => {
    await stage.units({ a: ["bj-1"], b: ["gz-1"] })
    await stage.create("DeploymentGrid", "echo", {
      gridUniqKey: stage.key,
      templatePool: { a: unscaled({ unit: "a" }), b: unscaled({ unit: "b" }) },
      templates: { a: "a", b: "b" }
    })
    await stage.ready("DeploymentGrid", "echo")
    await autoscaler(stage, "echo-a", 2)
    await autoscaler(stage, "echo-b", 3)
    await has(stage, "echo-a", 2)
    await has(stage, "echo-b", 3)
    // nobody measures here: it got as far as to ask
    for (const child of ["echo-a", "echo-b"]) await judged(stage, child, "FailedGetResourceMetric")
    await stage.ready("DeploymentGrid", "echo")
    await has(stage, "echo-a", 2)
    await has(stage, "echo-b", 3)
  })
})

/** A template without replicas; selector and pods have these labels besides the common one. */
const unscaled = (labels: object): DeploymentSpec => {
  const { replicas: _, template, ...spec } = deployment()
  const all = { app: "echo", ...labels }
  return {
    ...spec,
    selector: { matchLabels: all },
    template: { ...template, metadata: { labels: all } }
  }
}

const path = ({ namespace }: Stage, name?: string): string =>
  `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers${name === undefined ? "" : `/${name}`}`

/** An autoscaler of the Deployment of its name. */
const autoscaler = (stage: Stage, name: string, minReplicas: number): Promise<unknown> =>
  stage.client.create(path(stage), {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas,
      maxReplicas: 5,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } }
        }
      ]
    }
  })

const has = (stage: Stage, child: string, replicas: number): Promise<unknown> =>
  stage.comes(
    "Deployment",
    child,
    `${replicas} replicas`,
    (found) => at(found, "spec", "replicas") === replicas
  )

/** Waits until the autoscaler says why it doesn't scale by what is measured. */
const judged = (stage: Stage, name: string, reason: string): Promise<unknown> =>
  until({ what: `the autoscaler ${name}: ScalingActive False, reason ${reason}`, seconds: 90 }, async () => {
    const found = await stage.client.get(path(stage, name))
    if (condition(found, "ScalingActive", "status") === "False")
      if (condition(found, "ScalingActive", "reason") === reason) return found
    throw new Error(`it says ${JSON.stringify(at(found, "status", "conditions"))}`)
  })
