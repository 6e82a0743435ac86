/** Server-side apply: what it takes, what it owns, what it refuses. */
import { apply, apps, configMap, core, deployment, force, get, merge, strategic } from "./given.ts"
import * as given from "./given.ts"
import type { Story } from "./given.ts"

const basics: Story = {
  name: "apply",
  shows: "apply creates, changes, does nothing, and what the request must say",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    await send(apply(path, "us", deployment("a", { spec: { replicas: 2 } })), "creates: 201")
    await send(apply(path, "us", deployment("a", { spec: { replicas: 2 } })), "the same: nothing changes")
    await send(
      apply(path, "us", deployment("a", { container: { image: "app:2" } })),
      "image changed, replicas let go"
    )
    await send({ ...apply(path, "us", deployment("a")), query: {} }, "without a field manager")
    await send(apply(path, "us", deployment("b")), "another name than the path's")
    await send(apply(path, "us", { ...deployment("a"), metadata: {} }), "without a name")
    await send(apply(path, "us", { metadata: { name: "a" } }), "without kind and apiVersion")
    await send(
      {
        ...apply(path, "us", undefined),
        text: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
      },
      "YAML; and everything is let go: the selector stays required"
    )
    await send({ ...apply(path, "us", undefined), text: "{not yaml" }, "no YAML")
    await send(
      apply(path, "us", { ...deployment("a"), metadata: { name: "a", managedFields: [{}] } }),
      "managedFields in the body"
    )
    await send(apply(path, "us", deployment("a"), { force: "maybe" }), "a strange force")
    await send(apply(path, "us", deployment("a"), { dryRun: "All", ...force }), "dry run")
    await send(apply(core("configmaps", "m"), "us", configMap("m", { a: "1", b: "2" })), "a ConfigMap")
    await send(apply(core("configmaps", "m"), "us", configMap("m", { a: "1" })), "a key let go")
    await send(
      apply(
        core("configmaps", "m"),
        "us",
        configMap("m", { a: "1" }, { labels: { l: "1" }, finalizers: ["x.io/f"] })
      ),
      "labels and finalizers"
    )
    await send(
      merge(core("configmaps", "m"), {
        metadata: { finalizers: ["x.io/f", "y.io/f"], labels: { other: "1" } }
      }),
      "someone adds to them"
    )
    await send(apply(core("configmaps", "m"), "us", configMap("m", { a: "1" })), "ours let go, theirs stay")
  }
}

const empties: Story = {
  name: "apply-empties",
  shows: "null, [] and {}: what is owned and what is kept",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    const empty = (container: object, pod: object = {}, spec: object = {}): object =>
      deployment("a", {
        container: container as Record<string, unknown>,
        pod: pod as Record<string, unknown>,
        spec: spec as Record<string, unknown>
      })
    const body = empty(
      {
        resources: {},
        env: [],
        command: null,
        args: [],
        ports: null,
        securityContext: {},
        livenessProbe: null
      },
      {
        volumes: [{ name: "v", emptyDir: {} }],
        nodeSelector: {},
        tolerations: [],
        securityContext: {},
        affinity: null
      },
      { strategy: {}, replicas: null }
    )
    await send(apply(path, "us", body), "all kinds of nothing")
    await send(apply(path, "us", body), "again: nothing changes")
    await send(get(path))
    await send(apply(path, "us", deployment("a")), "none of them: which are removed")
    const template = {
      metadata: { creationTimestamp: null, labels: { app: "a" }, annotations: null },
      spec: { containers: [{ name: "main", image: "app:1", env: null, resources: null }], volumes: null }
    }
    await send(
      apply(path, "us", deployment("a", { spec: { template }, metadata: { creationTimestamp: null } })),
      "creationTimestamp: null as tools write it"
    )
    await send(
      apply(path, "us", deployment("a", { spec: { template }, metadata: { labels: {}, annotations: null } })),
      "empty and null labels"
    )
    await send(
      apply(core("configmaps", "m"), "us", configMap("m", { a: "1", b: null })),
      "a null among strings"
    )
    await send(
      apply(core("configmaps", "m"), "us", {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "m" },
        data: {}
      }),
      "an empty map in place of one with an owned key"
    )
    await send(
      apply(core("configmaps", "m"), "us", {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "m" },
        data: null
      }),
      "a null map"
    )
    await send(
      apply(path, "us", { ...deployment("a"), status: { replicas: 4, conditions: [] } }),
      "a status by the main path"
    )
    await send(get(path))
  }
}

const ports: Story = {
  name: "apply-ports",
  shows: "keys of keyed lists are completed by defaults before they are compared",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    const withPorts = (list: readonly object[]): unknown => deployment("a", { container: { ports: list } })
    await send(
      apply(path, "us", withPorts([{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }])),
      "created"
    )
    await send(
      apply(
        path,
        "us",
        withPorts([
          { containerPort: 80, protocol: "TCP" },
          { containerPort: 53, protocol: "UDP" }
        ])
      ),
      "the default spelled out: now the protocol is owned, the object is as before"
    )
    await send(
      apply(path, "us", withPorts([{ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }])),
      "one number, two protocols"
    )
    await send(apply(path, "us", withPorts([{ containerPort: 81, name: "http" }])), "another number")
    await send(
      apply(path, "us", withPorts([{ containerPort: 82, name: "http" }])),
      "the number of a named port"
    )
    const svc = core("services", "s")
    await send(
      apply(
        svc,
        "us",
        given.service("s", { selector: { a: "b" }, ports: [{ port: 80 }, { port: 81, name: "b" }] })
      ),
      "a Service, one port without a name: invalid"
    )
    await send(
      apply(
        svc,
        "us",
        given.service("s", {
          selector: { a: "b" },
          ports: [
            { port: 80, name: "a" },
            { port: 81, name: "b" }
          ]
        })
      ),
      "a Service"
    )
    await send(
      apply(svc, "us", given.service("s", { selector: { a: "b" }, ports: [{ port: 81, name: "b" }] })),
      "a port let go"
    )
    await send(
      apply(svc, "us", given.service("s", { ports: [{ port: 81, name: "b", protocol: "UDP" }] })),
      "selector let go, and another protocol"
    )
  }
}

const atomics: Story = {
  name: "apply-atomic",
  shows: "an atomic list has one owner for all of it; a set has one for each element",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    const mine = (tolerations: readonly object[], args: readonly string[]): unknown =>
      deployment("a", { container: { args }, pod: { tolerations } })
    const edge = { key: "edge", operator: "Exists" }
    await send(apply(path, "us", mine([edge], ["--a", "--b"])), "created")
    await send(
      merge(path, {
        spec: { template: { spec: { tolerations: [edge, { key: "x", operator: "Exists" }] } } }
      }),
      "another manager adds a toleration: it owns the list now"
    )
    await send(apply(path, "us", mine([edge], ["--a", "--b"])), "ours again: conflict")
    await send(apply(path, "us", mine([edge], ["--a", "--b"]), force), "with force: ours alone")
    await send(
      strategic(path, { spec: { template: { spec: { containers: [{ name: "main", args: ["--b"] }] } } } }),
      "another manager sets args"
    )
    await send(apply(path, "us", mine([edge], ["--b"])), "ours says the same: shared")
    await send(apply(path, "us", mine([edge], ["--b", "--a"])), "then ours wants another order: conflict")
    await send(apply(path, "us", mine([], ["--b", "--a"]), force), "an empty list in place of a full one")
    const map = core("configmaps", "m")
    await send(apply(map, "us", configMap("m", {}, { finalizers: ["x.io/a", "x.io/b"] })), "a set")
    await send(
      merge(map, { metadata: { finalizers: ["x.io/c", "x.io/b", "x.io/a"] } }),
      "another order, one more"
    )
    await send(
      apply(map, "us", configMap("m", {}, { finalizers: ["x.io/b", "x.io/d"] })),
      "one let go, one new"
    )
    await send(
      apply(map, "us", configMap("m", {}, { finalizers: ["x.io/b", "x.io/b"] })),
      "twice the same element"
    )
  }
}

export const applies: readonly Story[] = [basics, empties, ports, atomics]
