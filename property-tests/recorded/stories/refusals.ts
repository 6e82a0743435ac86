/** Server-side apply: conflicts, preconditions and what is refused. */
import { apply, apps, configMap, core, deployment, force, get, merge, post } from "./given.ts"
import * as given from "./given.ts"
import type { Story } from "./given.ts"

const conflicts: Story = {
  name: "apply-conflicts",
  shows: "two managers want different values; force; equal values are shared",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    await send(
      apply(path, "us", deployment("a", { container: { image: "app:1" }, spec: { replicas: 1 } })),
      "created"
    )
    await send(
      apply(path, "them", { ...deployment("a", { container: { image: "app:2" }, spec: { replicas: 2 } }) }),
      "two fields of another applier: conflict names both"
    )
    await send(merge(path, { spec: { replicas: 3 } }, "scaler"), "an update takes a field without asking")
    await send(apply(path, "us", deployment("a", { spec: { replicas: 1 } })), "conflict with an update")
    await send(
      apply(path, "us", deployment("a", { spec: { replicas: 3 } })),
      "the same value: shared, no conflict"
    )
    await send(apply(path, "us", deployment("a", { spec: { replicas: 1 } }), force), "force takes it")
    await send(apply(path, "them", deployment("a", { spec: { replicas: 1 } })), "equal values in all: shared")
    await send(
      apply(path, "us", deployment("a", { spec: { replicas: 1 }, container: { image: "app:3" } })),
      "a shared field can't be changed without force"
    )
    await send(
      apply(path, "us", deployment("a", { spec: { replicas: 1 }, container: { image: "app:3" } }), force),
      "with force it is ours alone"
    )
    await send(
      merge(
        path,
        { spec: { template: { spec: { containers: [{ name: "main", image: "evil:1" }] } } } },
        "us"
      ),
      "an update of the same manager name is another entry"
    )
    await send(
      apply(path, "us", deployment("a", { container: { image: "app:3" } })),
      "conflict with our own update"
    )
    await send(merge(path, { metadata: { labels: { l: "1" } } }, "other"), "a label of someone else")
    await send(
      apply(path, "us", deployment("a", { metadata: { labels: { l: "2" } } })),
      "conflict in a label, and more"
    )
  }
}

const preconditions: Story = {
  name: "apply-preconditions",
  shows: "resourceVersion and uid in an applied object",
  run: async ({ send }) => {
    const path = core("configmaps", "a")
    const body = (metadata: Record<string, unknown>, value = "1"): unknown =>
      configMap("a", { k: value }, metadata)
    const foreign = "00000000-0000-0000-0000-000000000001"
    await send(apply(path, "us", body({ uid: foreign })), "absent, with a uid: 409")
    await send(apply(path, "us", body({ uid: foreign }), force), "absent, with a uid and force: 409")
    const other = apply(core("configmaps", "b"), "us", configMap("b", {}, { resourceVersion: "7" }))
    await send(other, "absent, another resourceVersion than 1: created as well")
    const made = await send(
      apply(path, "us", body({ resourceVersion: "1" })),
      "absent, resourceVersion 1: created"
    )
    await send(apply(path, "us", body({ resourceVersion: "1" })), "present, resourceVersion 1: 409")
    await send(
      apply(path, "us", body({ resourceVersion: "1" }), force),
      "present, resourceVersion 1 and force: 409"
    )
    await send(apply(path, "us", body({ uid: given.uidOf(made) }, "2")), "present, its uid")
    await send(apply(path, "us", body({ uid: foreign }, "3"), force), "present, another uid: 422")
    await send(
      apply(path, "us", body({ resourceVersion: given.versionOf(made) }, "3")),
      "a stale resourceVersion"
    )
    const now = await send(get(path))
    await send(apply(path, "us", body({ resourceVersion: given.versionOf(now) }, "3")), "the current one")
    await send(apply(path, "us", body({ resourceVersion: "x" }, "4")), "no number")
    await send(apply(path, "us", body({ resourceVersion: "0" }, "4")), "0")
    const grid = given.grids("deploymentgrids", "g")
    const object = { apiVersion: "superedge.io/v1", kind: "DeploymentGrid" }
    const spec = { gridUniqKey: "zone" }
    await send(
      apply(grid, "us", { ...object, metadata: { name: "g", uid: foreign }, spec }),
      "a CR: absent, uid"
    )
    await send(
      apply(grid, "us", { ...object, metadata: { name: "g", resourceVersion: "1" }, spec }),
      "a CR: created"
    )
    await send(
      apply(grid, "us", { ...object, metadata: { name: "g", resourceVersion: "1" }, spec }),
      "a CR: present"
    )
    await send(
      apply(grid, "us", { ...object, metadata: { name: "g", uid: foreign }, spec }),
      "a CR: another uid"
    )
    await send(
      apply(`${grid}/status`, "us", { ...object, metadata: { name: "none" }, status: {} }),
      "a status with another name"
    )
    await send(
      apply(given.grids("deploymentgrids", "none/status"), "us", {
        ...object,
        metadata: { name: "none" },
        status: {}
      }),
      "the status of an absent object: 404"
    )
    await send(
      apply(`${grid}/status`, "us", { ...object, metadata: { name: "g", uid: foreign }, status: {} }),
      "a status, another uid: not looked at"
    )
    const status = { observedGeneration: 1 }
    await send(
      apply(`${grid}/status`, "us", { ...object, metadata: { name: "g", resourceVersion: "1" }, status }),
      "a status, a stale resourceVersion: 409"
    )
    await send(
      merge(`${grid}/status`, { metadata: { uid: foreign }, status }, "us"),
      "a status by merge patch, another uid"
    )
    await send(
      merge(path, { metadata: { uid: foreign }, data: { k: "9" } }, "us"),
      "a merge patch with another uid"
    )
  }
}

const refused: Story = {
  name: "apply-refused",
  shows: "bad objects: 500 'failed to create typed patch object' and 422",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    const c = (container: Record<string, unknown>): unknown => deployment("a", { container })
    const p = (pod: Record<string, unknown>): unknown => deployment("a", { pod })
    await send(
      apply(
        path,
        "us",
        c({
          env: [
            { name: "A", value: "1" },
            { name: "A", value: "2" }
          ]
        })
      ),
      "an env name twice"
    )
    await send(
      apply(path, "us", c({ ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "TCP" }] })),
      "a port twice"
    )
    await send(
      apply(
        path,
        "us",
        p({
          containers: [
            { name: "a", image: "x" },
            { name: "a", image: "y" }
          ]
        })
      ),
      "a container twice"
    )
    await send(apply(path, "us", c({ imagee: "x" })), "an unknown field")
    await send(
      apply(path, "us", c({ imagee: "x", envv: 1 })),
      "two unknown fields: one of them is named, whichever"
    )
    await send(apply(path, "us", deployment("a", { spec: { replicas: "2" } })), "a string for a number")
    await send(apply(path, "us", c({ env: { A: "1" } })), "a map for a list")
    await send(apply(path, "us", c({ env: [{ value: "1" }] })), "an element without its key")
    await send(apply(path, "us", c({ env: [{ name: "A", value: 1 }] })), "a number for a string")
    await send(apply(path, "us", c({ args: [1] })), "a number in a list of strings")
    await send(apply(path, "us", p({ containers: ["main"] })), "a string for an object")
    await send(apply(path, "us", p({ nodeSelector: { a: 1 } })), "a number in a map of strings")
    await send(apply(path, "us", p({ tolerations: [{ kee: "x" }] })), "an unknown field in an atomic list")
    await send(apply(path, "us", { ...deployment("a"), specc: {} }), "an unknown field at the top")
    await send(
      apply(path, "us", deployment("a", { metadata: { labelz: {} } })),
      "an unknown field of metadata"
    )
    await send(apply(path, "us", c({ image: "" })), "no image: invalid")
    await send(
      apply(path, "us", deployment("a", { spec: { selector: { matchLabels: { b: "c" } } } })),
      "labels don't match"
    )
    await send(apply(path, "us", deployment("a", { spec: { selector: null } })), "no selector")
    await send(apply(path, "us", deployment("a", { spec: { replicas: -1 } })), "negative replicas")
    await send(apply(path, "us", c({ ports: [{ containerPort: 70000 }] })), "an illegal port")
    await send(apply(path, "us", c({ resources: { limits: { cpu: "lots" } } })), "no quantity")
    await send(
      apply(path, "us", c({ resources: { limits: { cpu: 0.5, memory: 1024 } } })),
      "numbers for quantities"
    )
    await send(
      apply(path, "us", c({ resources: { limits: { cpu: "0.5", memory: "1024Mi" } } })),
      "equal quantities"
    )
    await send(
      apply(path, "us", c({ imagee: "x" }), { fieldValidation: "Ignore" }),
      "unknown field, ignored?"
    )
    await send(
      apply("/apis/apps/v1/namespaces/absent/deployments/a", "us", deployment("a")),
      "absent namespace"
    )
    await send(
      apply(core("services", "s"), "us", given.service("s", { ports: [{ port: 80 }, { port: 80 }] })),
      "a service port twice"
    )
    await send(
      post(apps("deployments"), c({ env: [{ name: "A" }, { name: "A" }] })),
      "POST takes an env name twice"
    )
    await send(
      apply(path, "us", c({ env: [{ name: "A", value: "1" }] }), force),
      "and apply over such a live object"
    )
    await send(get(path))
  }
}

export const refusals: readonly Story[] = [conflicts, preconditions, refused]
