/** The built-in kinds that grids meet: their defaults, what can't be changed, and what is invalid. */
import * as given from "./given.ts"
import {
  apply,
  apps,
  configMap,
  core,
  deployment,
  force,
  get,
  merge,
  post,
  put,
  remove,
  service,
  statefulSet
} from "./given.ts"
import type { Story } from "./given.ts"

const services: Story = {
  name: "services",
  shows: "Services: addresses and ports given out, types switched, what stays",
  run: async ({ send }) => {
    const all = core("services")
    const at = (name: string): string => core("services", name)
    const app = { selector: { app: "web" } }
    await send(post(all, service("plain", { ...app, ports: [{ port: 80 }] })), "a cluster IP")
    await send(post(all, service("none", { ...app, clusterIP: "None" })), "headless")
    await send(post(all, service("node", { ...app, type: "NodePort", ports: [{ port: 80 }] })), "NodePort")
    await send(
      post(all, service("lb", { ...app, type: "LoadBalancer", ports: [{ port: 80 }] })),
      "LoadBalancer"
    )
    await send(post(all, service("ext", { type: "ExternalName", externalName: "x.example" })), "ExternalName")
    await send(
      post(all, service("fixed", { clusterIP: "10.96.77.77", ports: [{ port: 80 }] })),
      "an address asked for"
    )
    await send(
      post(all, service("again", { clusterIP: "10.96.77.77", ports: [{ port: 80 }] })),
      "and again: taken"
    )
    await send(post(all, service("out", { clusterIP: "192.0.2.1", ports: [{ port: 80 }] })), "out of range")
    await send(
      post(all, service("port", { type: "NodePort", ports: [{ port: 80, nodePort: 30123 }] })),
      "a node port asked for"
    )
    await send(
      post(all, service("port2", { type: "NodePort", ports: [{ port: 80, nodePort: 30123 }] })),
      "and again: taken"
    )
    await send(
      post(all, service("sticky", { sessionAffinity: "ClientIP", ports: [{ port: 80 }] })),
      "ClientIP"
    )
    await send(post(all, service("bad", { ports: [{ port: 70000 }] })), "an illegal port")
    await send(post(all, service("bad", {})), "no ports")
    await send(post(all, service("bad", { ports: [{ port: 1 }, { port: 2 }] })), "ports without names")
    await send(post(all, service("1bad", { ports: [{ port: 1 }] })), "an illegal name")
    await send(
      post(all, service("bad", { selector: { a: "b c" }, ports: [{ port: 1 }] })),
      "an illegal selector"
    )
    await send(post(all, service("bad", { type: "Strange", ports: [{ port: 1 }] })), "a strange type")
    await send(merge(at("plain"), { spec: { clusterIP: "None" } }), "a cluster IP to headless: immutable")
    await send(merge(at("plain"), { spec: { clusterIP: "10.96.66.66" } }), "another address: immutable")
    await send(
      merge(at("none"), { spec: { clusterIP: null, ports: [{ port: 80 }] } }),
      "headless let go by a merge patch"
    )
    await send(
      merge(at("node"), { spec: { ports: [{ port: 81, protocol: "TCP" }] } }),
      "another port: another node port"
    )
    await send(merge(at("plain"), { spec: { type: "NodePort" } }), "ClusterIP to NodePort")
    await send(merge(at("plain"), { spec: { type: "ClusterIP" } }), "and back")
    await send(merge(at("lb"), { spec: { type: "ClusterIP" } }), "LoadBalancer to ClusterIP")
    await send(
      merge(at("ext"), { spec: { type: "ClusterIP", externalName: null, ports: [{ port: 1 }] } }),
      "ExternalName to ClusterIP"
    )
    await send(merge(at("sticky"), { spec: { sessionAffinity: "None" } }), "ClientIP to None")
    await send(
      put(at("plain"), service("plain", { ...app, ports: [{ port: 80, targetPort: 8080 }] })),
      "a PUT without address: kept"
    )
    await send(
      merge(`${at("plain")}/status`, { status: { loadBalancer: { ingress: [{ ip: "5.6.7.8" }] } } }),
      "a load balancer's address where there is none"
    )
    await send(remove(at("plain")), "deleted: the answer is the object")
  }
}

const applied: Story = {
  name: "services-applied",
  shows: "Services by server-side apply: types switched, headless let go, node ports kept",
  run: async ({ send }) => {
    const at = core("services", "s")
    const spec = (more: Record<string, unknown>): unknown =>
      service("s", { selector: { a: "b" }, ports: [{ port: 80 }], ...more })
    await send(apply(at, "us", spec({ type: "NodePort" })), "NodePort")
    await send(
      apply(at, "us", spec({ type: "NodePort", ports: [{ port: 80, targetPort: 8080 }] })),
      "another target: the node port stays"
    )
    await send(
      apply(
        at,
        "us",
        spec({
          type: "NodePort",
          ports: [
            { port: 80, name: "a" },
            { port: 81, name: "b" }
          ]
        })
      ),
      "one more port"
    )
    await send(apply(at, "us", spec({ type: "LoadBalancer" })), "LoadBalancer")
    await send(
      merge(`${at}/status`, { status: { loadBalancer: { ingress: [{ ip: "5.6.7.8" }] } } }, "cloud"),
      "its address"
    )
    await send(
      apply(at, "us", spec({ type: "LoadBalancer", ports: [{ port: 80, targetPort: 9090 }] })),
      "status and address stay"
    )
    await send(
      apply(at, "us", spec({ type: "LoadBalancer", loadBalancerClass: "x.io/a" })),
      "a class, set later"
    )
    await send(apply(at, "us", spec({})), "type let go")
    await send(
      apply(at, "us", spec({ type: "ExternalName", externalName: "x.example", ports: undefined })),
      "ExternalName"
    )
    await send(apply(at, "us", spec({})), "a cluster IP again")
    await send(apply(at, "us", spec({ clusterIP: "None" })), "headless while it has an address")
    await send(apply(at, "us", spec({ clusterIP: "None" }), force), "with force")
    await send(apply(at, "us", spec({ sessionAffinity: "ClientIP" })), "ClientIP")
    await send(apply(at, "us", spec({ sessionAffinity: "None" })), "None while the timeout is a default")
    await send(apply(at, "us", spec({})), "let go")
    const none = core("services", "n")
    const head = (more: Record<string, unknown>): unknown =>
      service("n", { selector: { a: "b" }, ports: [{ port: 80 }], ...more })
    await send(apply(none, "us", head({ clusterIP: "None" })), "headless")
    await send(apply(none, "us", head({})), "clusterIP let go: silently stays headless")
    await send(apply(none, "us", head({ clusterIP: "" })), "the empty address")
    await send(apply(none, "us", head({ clusterIP: "None", type: "NodePort" })), "headless NodePort")
    await send(
      apply(
        core("services", "l"),
        "us",
        service("l", {
          type: "LoadBalancer",
          loadBalancerClass: "x.io/a",
          allocateLoadBalancerNodePorts: false,
          ports: [{ port: 80 }]
        })
      ),
      "a class from the start, no node ports"
    )
    await send(
      apply(
        core("services", "l"),
        "us",
        service("l", { type: "LoadBalancer", loadBalancerClass: "x.io/b", ports: [{ port: 80 }] })
      ),
      "another class: immutable"
    )
    await send(
      apply(core("services", "l"), "us", service("l", { type: "LoadBalancer", ports: [{ port: 80 }] })),
      "the class let go"
    )
  }
}

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
        force
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
      apply(set, "us", statefulSet("s", { serviceName: "other", volumeClaimTemplates: claims }), force),
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
    await send(get(core("pods", "p")))
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
      get("/apis/events.k8s.io/v1/namespaces/recorded/events/g.1"),
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

export const kinds: readonly Story[] = [services, applied, workloads, others]
