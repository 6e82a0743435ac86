/** The grids whose names are asked for besides the walkthrough's. */
import type { Family } from "./questions.ts"

/** The example echo-headless.yaml. */
export const ECHO: Family = {
  grid: "statefulsetgrid-demo",
  service: "servicegrid-demo-svc",
  selector: "appGrid=echo",
  pods: 6
}

/** A grid with a named port. */
export const WEB: Family = { grid: "web", service: "web-svc", selector: "grid=web", pods: 4 }

const ZONE = "topology.kubernetes.io/zone"
/** A grid whose name begins with its unit's (SuperEdge searched names for names), in a unit of one node, by a key with a prefix. */
export const DB: Family = {
  grid: "zone1-db",
  service: "db",
  selector: "grid=zone1-db",
  pods: 1,
  units: { "bj-1": "zone1" }
}

const ODD_KEY = "odd-place"
/** Units that no DNS name can hold: the sets' names are hashes. */
export const ODD: Family = {
  grid: "odd",
  service: "odd-svc",
  selector: "grid=odd",
  pods: 2,
  units: { "bj-1": "Bei_Jing", "gz-1": "Guang_Zhou" }
}

/** Two grids on one Service. The answers of the Service itself are those of both. */
export const SHARED = "shared"
export const DEMO: Family = { grid: "demo", service: SHARED, selector: "grid=demo", pods: 2 }
export const MY_DEMO: Family = { grid: "my-demo", service: SHARED, selector: "grid=my-demo", pods: 2 }

/** A grid beside a StatefulSet of the same name, one pod each. */
export const TAKEN: Family = { grid: "taken", service: "taken-svc", selector: "grid=taken", pods: 3 }

/** All of it as objects to apply; the Service of a ServiceGrid bears its name. */
export const objects = (): readonly unknown[] => [
  grid(WEB, "location", 2),
  serviceGrid(WEB, "location"),
  grid(DB, ZONE, 1),
  service("db", { grid: DB.grid }),
  grid(ODD, ODD_KEY, 1),
  serviceGrid(ODD, ODD_KEY),
  grid(TAKEN, "location", 1),
  serviceGrid(TAKEN, "location"),
  statefulSet(TAKEN, 1),
  grid(DEMO, "location", 1),
  grid(MY_DEMO, "location", 1),
  service(SHARED, { service: SHARED })
]

/** From a node to labels of its own, beside those of the walkthrough's sites. */
export const LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "bj-1": { [ZONE]: "zone1", [ODD_KEY]: "Bei_Jing" },
  "gz-1": { [ODD_KEY]: "Guang_Zhou" }
}

const grid = (family: Family, gridUniqKey: string, replicas: number): unknown => ({
  apiVersion: "superedge.io/v1",
  kind: "StatefulSetGrid",
  metadata: { name: family.grid, namespace: "default" },
  spec: { gridUniqKey, template: setSpec(family, replicas) }
})

/** One that is no grid's. */
const statefulSet = (family: Family, replicas: number): unknown => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: family.grid, namespace: "default" },
  spec: setSpec(family, replicas)
})

const setSpec = ({ grid: name, service: serviceName }: Family, replicas: number): unknown => {
  const labels = { grid: name, service: serviceName }
  const containers = [{ name: "server", image: "server", ports: [{ name: "http", containerPort: 8080 }] }]
  return {
    selector: { matchLabels: labels },
    serviceName,
    replicas,
    template: { metadata: { labels }, spec: { containers } }
  }
}

const PORTS = [{ name: "http", port: 80, targetPort: "http" }]

const serviceGrid = (family: Family, key: string): unknown => ({
  apiVersion: "superedge.io/v1",
  kind: "ServiceGrid",
  metadata: { name: family.grid, namespace: "default" },
  spec: {
    gridUniqKey: key,
    template: { clusterIP: "None", selector: { grid: family.grid }, ports: PORTS }
  }
})

const service = (name: string, selector: unknown): unknown => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "default" },
  spec: { clusterIP: "None", selector, ports: PORTS }
})
