/** What others write is set back or kept, and what the grid lets go of disappears: one write each. */
import { describe, expect } from "vitest"
import { type Heard, specWrites } from "./audit.ts"
import { at } from "./client.ts"
import { deployment, type DeploymentSpec, type Edited } from "./specs.ts"
import { type Stage, story } from "./stage.ts"

const CONTAINER = ["spec", "template", "spec", "containers", 0] as const

describe.concurrent("a hand edit", () => {
  story("of a field of the grid's is set back by one write", async (stage) => {
    await settled(stage)
    const { writes } = await during(stage, async () => {
      const patch = { spec: { template: { spec: { containers: [{ name: "echo", image: "evil:1" }] } } } }
      await stage.client.patch(stage.path("Deployment", "echo-a"), "strategic-merge", patch)
      await stage.comes(
        "Deployment",
        "echo-a",
        "image echo:1",
        (child) => at(child, ...CONTAINER, "image") === "echo:1"
      )
      await stage.ready("DeploymentGrid", "echo")
    })
    expect(specWrites(writes)).toEqual(["patch deployments echo-a 200"])
  })

  story("of an element of a list is set back", async (stage) => {
    await settled(stage)
    const { writes } = await during(stage, async () => {
      await stage.edit("Deployment", "echo-a", (child: { spec: DeploymentSpec }) => {
        const spec = child.spec.template.spec
        spec.tolerations.pop()
        for (const entry of spec.containers[0]?.env ?? []) entry.value = "other"
      })
      await stage.comes(
        "Deployment",
        "echo-a",
        "its list elements",
        (child) =>
          at(child, ...CONTAINER, "env", 0, "value") === "blue" &&
          at(child, "spec", "template", "spec", "tolerations", 1, "key") === "night"
      )
      await stage.ready("DeploymentGrid", "echo")
    })
    expect(specWrites(writes)).toEqual(["patch deployments echo-a 200"])
  })

  story("of what the grid doesn't say stays, and costs no write", async (stage) => {
    await settled(stage)
    const { writes } = await during(stage, async () => {
      await stage.client.patch(stage.path("Deployment", "echo-a"), "merge", {
        metadata: { labels: { mine: "1" }, annotations: { "example.org/note": "kept" } },
        spec: { revisionHistoryLimit: 3 }
      })
      await nextPass(stage)
    })
    expect(specWrites(writes).filter((write) => write.includes("echo-a"))).toEqual([
      "patch deployments echo-a 200"
    ])
    const child = await stage.get("Deployment", "echo-a")
    expect(at(child, "metadata", "labels", "mine")).toBe("1")
    expect(at(child, "metadata", "annotations", "example.org/note")).toBe("kept")
    expect(at(child, "spec", "revisionHistoryLimit")).toBe(3)
  })
})

describe.concurrent("a removed field", () => {
  const removals: readonly {
    readonly name: string
    readonly remove: (spec: DeploymentSpec) => void
    readonly path: readonly (string | number)[]
    readonly left: unknown
  }[] = [
    {
      name: "an env entry",
      remove: (spec) => spec.template.spec.containers[0]?.env.pop(),
      path: [...CONTAINER, "env"],
      left: [{ name: "COLOR", value: "blue" }]
    },
    {
      name: "a toleration",
      remove: (spec) => spec.template.spec.tolerations.shift(),
      path: ["spec", "template", "spec", "tolerations"],
      left: [{ key: "night", operator: "Exists", effect: "NoExecute" }]
    },
    {
      name: "a limit",
      remove: (spec) => delete spec.template.spec.containers[0]?.resources.limits?.["memory"],
      path: [...CONTAINER, "resources", "limits"],
      left: { cpu: "500m" }
    },
    {
      name: "all limits",
      remove: (spec) => delete spec.template.spec.containers[0]?.resources.limits,
      path: [...CONTAINER, "resources", "limits"],
      left: undefined
    }
  ]
  for (const { name, remove, path, left } of removals)
    story(`disappears with one write: ${name}`, async (stage) => {
      await settled(stage)
      const { writes } = await during(stage, async () => {
        await stage.edit("DeploymentGrid", "echo", (grid: Edited) => remove(grid.spec.template))
        await stage.ready("DeploymentGrid", "echo")
      })
      expect(specWrites(writes)).toEqual(["patch deployments echo-a 200", "patch deployments echo-b 200"])
      for (const unit of ["a", "b"]) {
        const child = await stage.get("Deployment", `echo-${unit}`)
        expect(at(child, ...path)).toEqual(left)
        expect(at(child, "metadata", "generation")).toBe(2)
        const managers = (at(child, "metadata", "managedFields") as readonly unknown[])
          .filter((entry) => at(entry, "subresource") === undefined)
          .map((entry) => `${String(at(entry, "operation"))} ${String(at(entry, "manager"))}`)
        // the revision annotation is the deployment controller's
        expect(managers.filter((manager) => !manager.endsWith("kube-controller-manager"))).toEqual([
          "Apply servicegroup"
        ])
      }
    })
})

describe.concurrent("replicas", () => {
  story("removed from the template leave the number that runs, and free it", async (stage) => {
    await settled(stage)
    await stage.edit("DeploymentGrid", "echo", (grid: Edited) => (grid.spec.template.replicas = 3))
    await stage.ready("DeploymentGrid", "echo")
    await stage.edit("DeploymentGrid", "echo", (grid: Edited) => delete grid.spec.template.replicas)
    await stage.ready("DeploymentGrid", "echo")
    expect(at(await stage.get("Deployment", "echo-a"), "spec", "replicas")).toBe(3)
    await stage.kubectl(["scale", "deployment/echo-a", "--replicas=4", "-n", stage.namespace])
    await nextPass(stage)
    expect(at(await stage.get("Deployment", "echo-a"), "spec", "replicas")).toBe(4)
  })
})

/** A DeploymentGrid `echo` in the units a and b, ready. */
const settled = async (stage: Stage): Promise<void> => {
  await stage.units({ a: ["bj-1"], b: ["gz-1"] })
  await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
  await stage.ready("DeploymentGrid", "echo")
}

/** Lets the controller pass over the grid again: an edit of its labels, which reaches both children. */
const nextPass = async (stage: Stage): Promise<void> => {
  await stage.client.patch(stage.path("DeploymentGrid", "echo"), "merge", {
    metadata: { labels: { pass: "next" } }
  })
  for (const unit of ["a", "b"])
    await stage.comes(
      "Deployment",
      `echo-${unit}`,
      "the grid's new label",
      (child) => at(child, "metadata", "labels", "pass") === "next"
    )
}

/** The writes of the controller while something happens. */
const during = async (
  stage: Stage,
  happens: () => Promise<unknown>
): Promise<{ readonly writes: readonly Heard[] }> => {
  const before = stage.writes().length
  await happens()
  return { writes: stage.writes().slice(before) }
}
