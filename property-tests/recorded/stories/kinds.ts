/** The built-in kinds that grids meet, Services aside: defaults, what can't be changed, and what is invalid. */
import * as given from "./given.ts"
import { apply, apps, configMap, core, deployment, merge, post, remove, statefulSet } from "./given.ts"
import type { Story } from "./given.ts"

const workloads: Story = {
  name: "workloads",
  shows: "Deployments and StatefulSets: what can't be changed, what is invalid",
  run: async ({ send }) => {
    const dep = apps("deployments", "a")
    await send(post(apps("deployments"), deployment("a")), "a Deployment")
    await send(
      merge(dep, {
        spec: { selector: { matchLabels: { app: "b" } }, template: { metadata: { labels: { app: "b" } } } }
      }),
      "another selector: immutable"
    )
    await send(
      apply(
        dep,
        "us",
        {
          ...deployment("a"),
          spec: {
            ...given.specOf({ code: 0, body: deployment("a") }),
            selector: { matchLabels: { app: "b" } },
            template: {
              metadata: { labels: { app: "b" } },
              spec: { containers: [{ name: "main", image: "app:1" }] }
            }
          }
        },
        given.force
      ),
      "the same by apply"
    )
    await send(
      post(apps("deployments"), { ...deployment("x"), metadata: { name: `${"long-".repeat(14)}x` } }),
      "a name of 71 characters is legal"
    )
    await send(post(apps("deployments"), deployment("dot.ted")), "so is a dot")
    await send(post(apps("deployments"), deployment("Upper")), "a capital isn't")
    await send(
      post(apps("deployments"), {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "e" },
        spec: {}
      }),
      "an empty spec"
    )
    await send(
      post(apps("deployments"), deployment("e", { pod: { restartPolicy: "Never" } })),
      "a restart policy"
    )
    await send(
      post(apps("deployments"), deployment("e", { pod: { nodeSelector: { "a b": "c" } } })),
      "an illegal node selector"
    )
    await send(
      post(
        apps("deployments"),
        deployment("e", { container: { ports: [{ containerPort: 80, protocol: "ICMP" }] } })
      ),
      "an illegal protocol"
    )
    await send(
      post(
        apps("deployments"),
        deployment("e", { container: { volumeMounts: [{ name: "v", mountPath: "/v" }] } })
      ),
      "a mount without its volume"
    )
    await send(post(apps("deployments"), deployment("e", { spec: { replicas: "x" } })), "a wrong type")
    await send(
      post(apps("deployments"), deployment("e", { container: { imagee: "x" } }), {
        fieldValidation: "Strict"
      }),
      "an unknown field, strictly"
    )
    await send(
      post(apps("deployments"), deployment("e", { container: { imagee: "x" } }), { fieldValidation: "Warn" }),
      "with a warning"
    )
    await send(
      post(apps("deployments"), deployment("f", { container: { imagee: "x" } }), {
        fieldValidation: "Ignore"
      }),
      "ignored"
    )
    const set = apps("statefulsets", "s")
    await send(post(apps("statefulsets"), statefulSet("s")), "a StatefulSet")
    await send(merge(set, { spec: { serviceName: "other" } }), "serviceName: forbidden")
    await send(merge(set, { spec: { podManagementPolicy: "Parallel" } }), "podManagementPolicy: forbidden")
    const claims = [
      {
        metadata: { name: "www" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
      }
    ]
    await send(merge(set, { spec: { volumeClaimTemplates: claims } }), "volumeClaimTemplates: forbidden")
    await send(
      apply(set, "us", statefulSet("s", { serviceName: "other", volumeClaimTemplates: claims }), given.force),
      "two of them by apply"
    )
    await send(
      merge(set, {
        spec: { selector: { matchLabels: { app: "b" } }, template: { metadata: { labels: { app: "b" } } } }
      }),
      "selector: forbidden"
    )
    await send(
      merge(set, {
        spec: { replicas: 2, minReadySeconds: 1, revisionHistoryLimit: 3, ordinals: { start: 1 } }
      }),
      "what may be changed"
    )
    await send(post(apps("statefulsets"), statefulSet("dot.ted")), "a dot in a StatefulSet's name")
    await send(post(apps("statefulsets"), statefulSet("x".repeat(64))), "64 characters")
    await send(
      post(apps("statefulsets"), statefulSet("nosvc", { serviceName: undefined })),
      "without serviceName"
    )
    const template = {
      metadata: { labels: { app: "r" } },
      spec: { containers: [{ name: "main", image: "app:1" }] }
    }
    await send(
      post(apps("replicasets"), {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        metadata: { name: "r" },
        spec: { selector: { matchLabels: { app: "r" } }, template }
      }),
      "a ReplicaSet"
    )
    await send(remove(apps("statefulsets", "s")), "deleted: a Status")
  }
}

const others: Story = {
  name: "other-kinds",
  shows: "nodes, pods, events, slices, endpoints, leases, secrets: defaults and status",
  run: async ({ send }) => {
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "recorded-1", labels: { zone: "a" } } }
    await send(post("/api/v1/nodes", node), "a node gets a taint")
    await send(merge("/api/v1/nodes/recorded-1", { spec: { taints: null } }), "taints removed")
    await send(
      merge("/api/v1/nodes/recorded-1/status", {
        status: {
          conditions: [
            {
              type: "Ready",
              status: "True",
              reason: "R",
              message: "",
              lastHeartbeatTime: "2020-01-01T00:00:00Z",
              lastTransitionTime: "2020-01-01T00:00:00Z"
            }
          ],
          addresses: [{ type: "InternalIP", address: "192.0.2.9" }],
          capacity: { pods: "110" },
          allocatable: { pods: "110" }
        }
      }),
      "a node's status"
    )
    await send(
      merge("/api/v1/nodes/recorded-1", { metadata: { labels: { zone: "Not Legal" } } }),
      "an illegal label"
    )
    await send(merge("/api/v1/nodes/recorded-1", { metadata: { labels: { zone: "Zone_A" } } }), "a label")
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", labels: { a: "b" } },
      spec: { containers: [{ name: "main", image: "app:1" }], automountServiceAccountToken: false }
    }
    await send(post(core("pods"), pod), "a pod")
    await send(
      post(core("pods", "p/binding"), {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "p" },
        target: { apiVersion: "v1", kind: "Node", name: "recorded-1" }
      }),
      "bound"
    )
    await send(
      merge(core("pods", "p/status"), {
        status: {
          phase: "Running",
          podIP: "10.244.1.2",
          podIPs: [{ ip: "10.244.1.2" }],
          conditions: [{ type: "Ready", status: "True" }]
        }
      }),
      "running"
    )
    await send(given.get(core("pods", "p")))
    await send(merge(core("pods", "p"), { spec: { nodeName: "other" } }), "a bound pod can't move")
    await send(
      merge(core("pods", "p"), { spec: { containers: [{ name: "main", image: "app:2" }] } }),
      "its image can change"
    )
    await send(remove(core("pods", "p")), "deleted: it waits for its kubelet")
    await send(remove(core("pods", "p"), { gracePeriodSeconds: 0 }), "at once")
    const involvedObject = {
      apiVersion: "superedge.io/v1",
      kind: "DeploymentGrid",
      namespace: "recorded",
      name: "g",
      uid: "u"
    }
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "g.1" },
      involvedObject,
      reason: "R",
      message: "m",
      type: "Warning",
      count: 1,
      firstTimestamp: "2020-01-01T00:00:00Z",
      lastTimestamp: "2020-01-01T00:00:00Z",
      source: { component: "c" },
      reportingComponent: "c"
    }
    await send(post(core("events"), event), "an event")
    await send(
      merge(core("events", "g.1"), { count: 2, lastTimestamp: "2020-01-01T00:01:00Z" }),
      "counted up"
    )
    await send(
      post("/api/v1/namespaces/default/events", { ...event, metadata: { name: "recorded.2" } }),
      "of an object in another namespace"
    )
    await send(
      given.get("/apis/events.k8s.io/v1/namespaces/recorded/events/g.1"),
      "the same event in the other group"
    )
    await send(
      apply(core("events", "g.3"), "us", { ...event, metadata: { name: "g.3" } }),
      "an event by apply"
    )
    const slice = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "s-1", labels: { "kubernetes.io/service-name": "s" } },
      addressType: "IPv4",
      ports: [{ port: 80 }],
      endpoints: [
        { addresses: ["10.0.1.1"], nodeName: "recorded-1", conditions: { ready: true } },
        { addresses: ["10.0.1.2"] }
      ]
    }
    await send(post("/apis/discovery.k8s.io/v1/namespaces/recorded/endpointslices", slice), "a slice")
    await send(
      post("/apis/discovery.k8s.io/v1/namespaces/recorded/endpointslices", {
        ...slice,
        metadata: { name: "s-2" },
        addressType: "IPv6"
      }),
      "addresses of another type"
    )
    await send(
      merge("/apis/discovery.k8s.io/v1/namespaces/recorded/endpointslices/s-1", { endpoints: [] }),
      "emptied: generation"
    )
    await send(
      post(core("endpoints"), {
        apiVersion: "v1",
        kind: "Endpoints",
        metadata: { name: "s" },
        subsets: [{ addresses: [{ ip: "10.0.1.1" }], ports: [{ port: 80 }] }]
      }),
      "Endpoints"
    )
    await send(
      post("/apis/coordination.k8s.io/v1/namespaces/recorded/leases", {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "l" },
        spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" }
      }),
      "a lease"
    )
    await send(
      post(core("secrets"), {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s" },
        stringData: { a: "b" }
      }),
      "a secret"
    )
    await send(post(core("configmaps"), configMap("__proto__", {})), "a name that isn't one")
    await send(
      post(
        core("configmaps"),
        configMap(
          "proto",
          { __proto__x: "1", constructor: "2" },
          { labels: { constructor: "a", toString: "b" } }
        )
      ),
      "names of JavaScript"
    )
    await send(
      apply(
        core("configmaps", "proto2"),
        "us",
        configMap("proto2", { constructor: "2" }, { labels: { constructor: "a" } })
      ),
      "the same by apply"
    )
  }
}

export const kinds: readonly Story[] = [workloads, others]
