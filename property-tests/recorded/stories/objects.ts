/** Create, read, replace and delete, as every kind does them. */
import * as given from "./given.ts"
import { apps, configMap, core, deployment, get, merge, post, put, remove, strategic } from "./given.ts"
import type { Story } from "./given.ts"

const creation: Story = {
  name: "create",
  shows: "creating objects, and what is refused before validation",
  run: async ({ send }) => {
    const maps = core("configmaps")
    await send(post(maps, configMap("a", { k: "v" }), { fieldManager: "hand" }), "created")
    await send(get(core("configmaps", "a")))
    await send(post(maps, configMap("a", {})), "the name is taken")
    await send(get(core("configmaps", "none")), "absent")
    await send(get(apps("deployments", "none")), "absent, in a group")
    await send(
      post(maps, configMap("b", {}, { namespace: "other" })),
      "another namespace in body than in path"
    )
    await send(post("/api/v1/namespaces/absent/configmaps", configMap("b", {})), "the namespace is absent")
    await send(post(maps, configMap("b", {}, { resourceVersion: "5" })), "with a resourceVersion")
    await send(
      post(maps, configMap("b", {}, { uid: "00000000-0000-0000-0000-000000000001" })),
      "with a uid: ignored"
    )
    await send(post(maps, configMap("", {})), "without a name")
    await send(post(maps, configMap("Not_Legal", {})), "an illegal name")
    await send(
      post(maps, { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } }),
      "made name"
    )
    await send(post(maps, configMap("dry", {}), { dryRun: "All" }), "dry run")
    await send(get(core("configmaps", "dry")), "nothing was kept")
    await send(post(maps, configMap("c", {}, { labels: { bad: "not legal!" } })), "an illegal label value")
    await send(post(maps, configMap("c", {}, { labels: { "a/b/c": "x" } })), "an illegal label key")
    await send(post(maps, { ...configMap("c", {}), kind: "Secret" }), "another kind than the path's")
    await send(
      post(maps, { ...configMap("c", {}), apiVersion: "apps/v1" }),
      "another apiVersion than the path's"
    )
    await send(post(maps, { metadata: { name: "c" } }), "neither kind nor apiVersion: taken from the path")
    await send(
      post(
        maps,
        configMap("d", {}, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a" }] })
      ),
      "an owner reference without uid"
    )
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "u1", controller: true }
    await send(
      post(maps, configMap("d", {}, { ownerReferences: [owner, { ...owner, uid: "u2" }] })),
      "two controllers"
    )
    await send(
      post(
        maps,
        configMap("d", {}, { generation: 7, creationTimestamp: "2020-01-01T00:00:00Z", selfLink: "x" })
      ),
      "fields that the server owns"
    )
    await send(post(maps, configMap("e", { a: null, b: "x" }, { labels: null, annotations: {} })), "nulls")
  }
}

const replacement: Story = {
  name: "replace",
  shows: "PUT: stale, without and with a resourceVersion, of an absent object, and what it can't change",
  run: async ({ send }) => {
    const path = core("configmaps", "a")
    const first = await send(post(core("configmaps"), configMap("a", { k: "1" })))
    await send(put(path, configMap("a", { k: "2" })), "without resourceVersion: accepted, last writer wins")
    await send(put(path, given.changed(first, { data: { k: "3" } })), "stale")
    const current = await send(get(path))
    await send(put(path, current.body), "equal: no new resourceVersion")
    await send(put(path, configMap("b", { k: "2" })), "another name than the path's")
    await send(
      put(path, configMap("a", {}, { uid: "00000000-0000-0000-0000-000000000001" })),
      "another uid than the object's"
    )
    await send(put(core("configmaps", "none"), configMap("none", {})), "absent: not created, 404")
    await send(
      put(core("configmaps", "none"), configMap("none", {}, { resourceVersion: "5" })),
      "absent, with a resourceVersion"
    )
    await send(
      put(path, configMap("a", {}, { labels: { x: "y" }, creationTimestamp: null, annotations: null })),
      "labels set; creation time stays"
    )
    await send(
      { ...merge(path, { data: { k: null, n: "1" }, metadata: { labels: { z: "1" } } }) },
      "merge patch"
    )
    await send(merge(path, { data: { n: "1" } }), "merge patch that changes nothing: same resourceVersion")
    await send(
      merge(path, { metadata: { resourceVersion: "3" } }),
      "merge patch with a stale resourceVersion"
    )
    await send(
      merge(path, { metadata: { uid: "00000000-0000-0000-0000-000000000001" } }),
      "merge patch with another uid"
    )
    await send(merge(path, { metadata: { name: "other" } }), "merge patch of the name")
    await send(merge(path, { data: "text" }), "merge patch of a wrong type")
    await send(merge(core("configmaps", "none"), { data: {} }), "merge patch of an absent object")
    await send(
      {
        method: "PATCH",
        path,
        contentType: "application/json-patch+json",
        body: [
          { op: "test", path: "/data/n", value: "1" },
          { op: "replace", path: "/data/n", value: "2" }
        ]
      },
      "JSON patch"
    )
    await send(
      {
        method: "PATCH",
        path,
        contentType: "application/json-patch+json",
        body: [{ op: "test", path: "/data/n", value: "9" }]
      },
      "JSON patch whose test fails"
    )
  }
}

const generations: Story = {
  name: "generation",
  shows: "what raises metadata.generation, and the status subresource of a Deployment",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    await send(
      post(apps("deployments"), deployment("a"), { fieldManager: "hand" }),
      "created with its defaults"
    )
    await send(merge(path, { metadata: { labels: { l: "1" } } }), "a label: generation stays")
    await send(merge(path, { spec: { replicas: 3 } }), "the spec: generation rises")
    await send(merge(path, { spec: { replicas: 3 } }), "the same again: nothing")
    await send(merge(path, { spec: { paused: false } }), "a value that isn't kept: nothing")
    await send(merge(path, { status: { replicas: 9 } }), "the status by the main path: ignored")
    await send(
      merge(`${path}/status`, { status: { observedGeneration: 2, replicas: 3, readyReplicas: 1 } }, "kcm"),
      "the status"
    )
    await send(
      merge(`${path}/status`, { spec: { replicas: 7 }, metadata: { labels: { s: "1" } } }, "kcm"),
      "spec and labels by the status path"
    )
    await send(
      merge(
        `${path}/status`,
        {
          status: {
            conditions: [{ type: "Available", status: "True", reason: "R", message: "m" }]
          }
        },
        "kcm"
      ),
      "a condition"
    )
    const current = await send(get(`${path}/status`), "status can be read alone")
    await send(put(path, given.changed(current, { status: {} })), "PUT without status: it stays")
    await send(
      put(`${path}/status`, given.changed(current, { status: { replicas: 1 }, spec: {} })),
      "PUT of status without spec"
    )
    await send(
      strategic(path, {
        spec: { template: { spec: { containers: [{ name: "side", image: "side:1" }] } } }
      }),
      "strategic merge adds a container, at the front"
    )
    await send(
      strategic(path, {
        spec: { template: { spec: { containers: [{ name: "side", $patch: "delete" }] } } }
      }),
      "and deletes it"
    )
    await send(get(`${path}/scale`), "scale")
    await send(merge(`${path}/scale`, { spec: { replicas: 5 } }, "autoscaler"), "scaled")
    await send(get(path), "who owns replicas now")
    const scale = {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "a", namespace: "recorded" }
    }
    await send(put(`${path}/scale`, { ...scale, spec: { replicas: 2 } }), "scaled by PUT")
  }
}

const removal: Story = {
  name: "delete",
  shows: "delete with preconditions, finalizers and propagation",
  run: async ({ send }) => {
    const maps = core("configmaps")
    const make = async (name: string, finalizers: readonly string[] = []): Promise<string> =>
      given.uidOf(await send(post(maps, configMap(name, {}, { finalizers }))))
    const at = (name: string): string => core("configmaps", name)
    const uid = await make("a")
    const other = { preconditions: { uid: "00000000-0000-0000-0000-000000000001" } }
    await send(remove(at("a"), other), "another uid")
    await send(remove(at("a"), { preconditions: { resourceVersion: "3" } }), "a stale resourceVersion")
    await send(
      remove(at("a"), { preconditions: { uid }, kind: "DeleteOptions", apiVersion: "v1" }),
      "its uid"
    )
    await send(remove(at("a"), { preconditions: { uid } }), "gone")
    await make("held", ["x.io/hold"])
    await send(remove(at("held")), "held by a finalizer: deletionTimestamp")
    await send(remove(at("held")), "again: unchanged")
    await send(merge(at("held"), { data: { k: "v" } }), "still can be changed")
    await send(merge(at("held"), { metadata: { finalizers: ["x.io/hold", "y.io/new"] } }), "no new finalizer")
    await send(merge(at("held"), { metadata: { finalizers: null } }), "the last finalizer goes: the answer")
    await send(get(at("held")), "and it is gone")
    await make("fore")
    await send(remove(at("fore"), { propagationPolicy: "Foreground" }), "foreground: waits for dependents")
    await send(get(at("fore")))
    await make("orphan")
    await send(remove(at("orphan"), { propagationPolicy: "Orphan" }), "orphan: waits for the collector")
    await make("back")
    await send(remove(at("back"), { propagationPolicy: "Background" }), "background: gone at once")
    await make("query")
    await send({ ...remove(at("query")), query: { propagationPolicy: "Background" } }, "policy in the query")
    await send(remove(at("x"), { propagationPolicy: "Sideways" }), "no such policy")
    await send(post(apps("deployments"), deployment("d")))
    await send(remove(apps("deployments", "d")), "a Deployment: the Status of the answer")
    await make("c1")
    await make("c2")
    await send({ ...remove(maps), query: { labelSelector: "!x" } }, "a collection")
    await send(get(maps), "what is left of it")
  }
}

export const objects: readonly Story[] = [creation, replacement, generations, removal]
