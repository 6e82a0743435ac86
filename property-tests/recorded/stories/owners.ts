/** Managed fields over time: letting go, handing over, taking over, order, and values that the server completes. */
import { apply, apps, configMap, core, deployment, get, merge, put, strategic } from "./given.ts"
import * as given from "./given.ts"
import type { Story } from "./given.ts"

const lettingGo: Story = {
  name: "let-go",
  shows: "the last owner lets go: removed, or reset to its default; with a second owner it stays",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    const full = deployment("a", {
      spec: { replicas: 3, minReadySeconds: 5, strategy: { type: "Recreate" } },
      pod: { nodeSelector: { x: "y" }, terminationGracePeriodSeconds: 10 },
      container: {
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "2" }
        ],
        resources: { limits: { cpu: "1" } }
      }
    })
    await send(apply(path, "us", full), "created with replicas 3")
    await send(
      apply(path, "keeper", {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "a" },
        spec: { replicas: 3 }
      }),
      "a second owner of replicas, equal value"
    )
    await send(
      apply(path, "us", deployment("a")),
      "ours lets go of all: replicas stays, the rest is reset or removed"
    )
    await send(
      apply(path, "keeper", { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" } }),
      "the last owner of replicas lets go: default"
    )
    await send(merge(path, { spec: { replicas: 4 } }, "scaler"), "scaled by an update")
    await send(apply(path, "us", deployment("a")), "not ours: untouched")
    const two = deployment("a", {
      pod: {
        containers: [
          { name: "main", image: "app:1" },
          { name: "side", image: "s:1" }
        ]
      }
    })
    await send(apply(path, "us", two), "a second container")
    await send(
      strategic(path, {
        spec: { template: { spec: { containers: [{ name: "side", env: [{ name: "T", value: "1" }] }] } } }
      }),
      "another manager adds env to it"
    )
    await send(apply(path, "us", deployment("a")), "the container is let go: what another owns in it stays")
    await send(get(path))
  }
}

const order: Story = {
  name: "order",
  shows: "the order of keyed lists under apply",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    const env = (names: string): unknown =>
      deployment("a", { container: { env: names.split("").map((name) => ({ name, value: "1" })) } })
    await send(apply(path, "us", env("ABC")), "created as A B C")
    await send(apply(path, "us", env("CAB")), "only the order differs")
    await send(apply(path, "us", env("DCA")), "one new at the front, one let go")
    await send(
      strategic(path, {
        spec: { template: { spec: { containers: [{ name: "main", env: [{ name: "X", value: "9" }] }] } } }
      }),
      "another manager adds X"
    )
    await send(apply(path, "us", env("CDEA")), "another order and a new one, beside the other's")
    await send(apply(path, "us", env("AEDC")), "another order again")
    const svc = core("services", "s")
    const servicePorts = (list: readonly number[]): unknown =>
      given.service("s", { ports: list.map((port) => ({ port, name: `p${port}` })) })
    await send(apply(svc, "us", servicePorts([80, 81, 82])), "Service ports")
    await send(apply(svc, "us", servicePorts([82, 80, 81])), "Service ports in another order")
    const finalizers = (list: readonly string[]): unknown => configMap("m", {}, { finalizers: list })
    await send(apply(core("configmaps", "m"), "us", finalizers(["x.io/a", "x.io/b"])), "a set")
    await send(
      apply(core("configmaps", "m"), "us", finalizers(["x.io/b", "x.io/a"])),
      "a set in another order"
    )
  }
}

const takeover: Story = {
  name: "take-over",
  shows: "managedFields written by a client, and objects that apply finds without its own entry",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    const made = await send(
      given.post(
        apps("deployments"),
        deployment("a", { container: { env: [{ name: "OLD", value: "1" }] }, spec: { replicas: 2 } }),
        {
          fieldManager: "application-grid-controller"
        }
      ),
      "made by an update of another controller"
    )
    const entries = given.metaOf(made)["managedFields"] as readonly Record<string, unknown>[]
    const renamed = entries.map((entry) => ({ ...entry, manager: "us", operation: "Apply" }))
    await send(
      merge(path, { metadata: { managedFields: renamed } }, "us"),
      "its entry renamed to ours by a merge patch"
    )
    await send(apply(path, "us", deployment("a")), "what it set and we don't is removed")
    await send(merge(path, { metadata: { managedFields: [{}] } }, "us"), "all entries dropped")
    await send(get(path), "no managedFields")
    await send(
      apply(path, "us", deployment("a", { container: { image: "app:2" } })),
      "apply on such an object: before-first-apply"
    )
    await send(apply(path, "us", deployment("a", { container: { image: "app:2" } }), given.force), "with force")
    await send(merge(path, { metadata: { managedFields: [] } }, "us"), "an empty list: as if not said")
    await send(merge(path, { metadata: { managedFields: null } }, "us"), "null")
    await send(
      merge(
        path,
        { metadata: { managedFields: [{ manager: "x", operation: "Eat", apiVersion: "apps/v1" }] } },
        "us"
      ),
      "an entry that isn't legal"
    )
    await send(
      merge(path, { metadata: { resourceVersion: "1", managedFields: [{}] } }, "us"),
      "with a stale resourceVersion"
    )
    const two = await send(get(path))
    await send(
      put(path, given.changed(two, { metadata: { ...given.metaOf(two), managedFields: [] } })),
      "PUT, empty list"
    )
    const bare = given.metaOf(two)
    await send(
      put(path, given.changed(two, { metadata: { name: bare["name"], namespace: bare["namespace"] } })),
      "PUT without managedFields"
    )
    await send(
      { ...merge(path, { metadata: { annotations: { a: "1" } } }), query: {} },
      "without a manager's name: from the user agent"
    )
  }
}

const writers: Story = {
  name: "writers",
  shows:
    "entries of updates: names from the query and the user agent, what is merged into one entry, their order",
  run: async ({ send }) => {
    const map = core("configmaps", "m")
    await send(
      { method: "POST", path: core("configmaps"), body: configMap("m", { a: "1" }) },
      "by the user agent"
    )
    await send(merge(map, { data: { b: "1" } }, "one"), "another manager")
    await send(
      merge(map, { data: { c: "1" }, metadata: { labels: { l: "1" } } }, "one"),
      "it again: one entry"
    )
    await send(merge(map, { data: { a: "2", b: null } }, "two"), "changes one field and removes another")
    await send(
      merge(map, { data: { a: "2" } }, "three"),
      "writes what is there: owns nothing, writes nothing"
    )
    await send(put(map, configMap("m", { a: "2", z: "1" })), "a PUT: what it leaves out is gone for all")
    await send(apply(map, "us", configMap("m", { z: "1" })), "an apply shares z")
    await send(merge(map, { data: { z: null } }, "one"), "an update removes what an apply owns")
    await send(apply(map, "us", configMap("m", { z: "1" })), "and the apply brings it back")
    await send(merge(map, { data: null, metadata: { labels: null } }, "one"), "everything is removed")
  }
}

export const owners: readonly Story[] = [lettingGo, order, takeover, writers]
