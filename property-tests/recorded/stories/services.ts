/** Services: addresses and ports that the server gives out, types switched by update and by apply. */
import { apply, core, force, merge, post, put, remove, service } from "./given.ts"
import type { Story } from "./given.ts"

const updated: Story = {
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

export const services: readonly Story[] = [updated, applied]
