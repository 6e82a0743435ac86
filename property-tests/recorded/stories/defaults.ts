/** What the server completes or leaves out, and applies that meet such defaults. */
import { apply, apps, core, deployment, force, get, merge, service } from "./given.ts"
import * as given from "./given.ts"
import type { Story } from "./given.ts"

const completed: Story = {
  name: "completed",
  shows: "values that the server completes inside what was applied, and values it writes in another way",
  run: async ({ send }) => {
    const items = [{ key: "k", path: "p" }]
    const pod = {
      volumes: [
        { name: "cm", configMap: { name: "cm", items } },
        { name: "sec", secret: { secretName: "s", items } },
        {
          name: "down",
          downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] }
        },
        {
          name: "proj",
          projected: {
            sources: [
              { serviceAccountToken: { path: "token" } },
              { configMap: { name: "cm", items } },
              { downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels" } }] } }
            ]
          }
        },
        { name: "host", hostPath: { path: "/x" } },
        { name: "iscsi", iscsi: { targetPortal: "1.2.3.4", iqn: "iqn.2001-04.com.example:x", lun: 0 } },
        { name: "rbd", rbd: { monitors: ["m"], image: "i" } },
        {
          name: "azure",
          azureDisk: { diskName: "d", diskURI: "https://a.blob.core.windows.net/c/d.vhd" }
        },
        {
          name: "eph",
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
            }
          }
        }
      ],
      tolerations: [{ key: "edge" }, { operator: "Exists" }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: "zone", labelSelector: { matchLabels: { app: "a" } } }
          ]
        }
      },
      hostAliases: [{ ip: "1.2.3.4", hostnames: ["a"] }],
      imagePullSecrets: [{ name: "pull" }],
      readinessGates: [{ conditionType: "x.io/y" }],
      dnsConfig: { options: [{ name: "ndots" }] },
      initContainers: [{ name: "init", image: "init:1", ports: [{ containerPort: 1 }] }],
      serviceAccountName: "robot",
      hostNetwork: true,
      securityContext: { sysctls: [{ name: "a", value: "b" }] }
    }
    const container = {
      image: "app",
      ports: [{ containerPort: 8080 }],
      env: [
        { name: "N", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
        { name: "R", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
        { name: "K", valueFrom: { configMapKeyRef: { name: "cm", key: "k" } } },
        { name: "E", value: "" }
      ],
      envFrom: [{ configMapRef: { name: "cm" } }, { prefix: "P_", secretRef: { name: "s" } }],
      resources: { limits: { cpu: 0.5, memory: "1024Mi" }, requests: { cpu: "0.25", memory: "1e3" } },
      livenessProbe: { httpGet: { path: "/", port: 8080, httpHeaders: [{ name: "A", value: "b" }] } },
      readinessProbe: { grpc: { port: 1 } },
      startupProbe: { exec: { command: ["true"] } },
      lifecycle: { preStop: { httpGet: { port: "http" } } },
      volumeMounts: [{ name: "cm", mountPath: "/cm" }],
      resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }],
      securityContext: { capabilities: { add: ["X"] } }
    }
    const dep = deployment("a", { pod: { ...pod, containers: [{ name: "main", ...container }] } })
    await send(apply(apps("deployments", "a"), "us", dep), "a broad pod template")
    await send(apply(apps("deployments", "a"), "us", dep), "again: nothing changes")
    const claim = (name: string): object => ({
      metadata: { name },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } }
    })
    const set = given.statefulSet("s", { volumeClaimTemplates: [claim("www")], updateStrategy: {} })
    await send(
      apply(apps("statefulsets", "s"), "us", set),
      "a StatefulSet: claims are completed within an atomic list"
    )
    await send(apply(apps("statefulsets", "s"), "us", set), "again: nothing changes")
    await send(get(apps("statefulsets", "s")))
    const svc = service("v", {
      selector: { a: "b" },
      ports: [
        { port: 80, name: "a" },
        { port: 443, name: "b", targetPort: "https" }
      ]
    })
    await send(apply(core("services", "v"), "us", svc), "a Service")
    await send(apply(core("services", "v"), "us", svc), "again: nothing changes")
    await send(
      apply(
        core("services", "h"),
        "us",
        service("h", { clusterIP: "None", selector: { a: "b" }, externalIPs: ["1.2.3.4"] })
      ),
      "a headless Service without ports"
    )
    await send(
      apply(
        apps("deployments", "q"),
        "us",
        deployment("q", {
          spec: { strategy: { rollingUpdate: { maxSurge: 1 } } },
          metadata: { annotations: { n: "01" } }
        })
      ),
      "a part of the strategy"
    )
    await send(
      apply(apps("deployments", "q"), "us", deployment("q", { spec: { strategy: { type: "Recreate" } } })),
      "to Recreate: rollingUpdate must go"
    )
    await send(
      merge(apps("deployments", "q"), { spec: { strategy: { type: "RollingUpdate" } } }),
      "to RollingUpdate by an update: defaults, and who owns them"
    )
    await send(
      apply(
        apps("deployments", "q"),
        "us",
        deployment("q", { spec: { strategy: { type: "Recreate" } } }),
        force
      ),
      "to Recreate while defaults of rollingUpdate are owned by another"
    )
  }
}

const zeros: Story = {
  name: "zeros",
  shows: "false, 0 and the empty string are owned, and absent from the live object where it leaves them out",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    const zero = deployment("a", {
      spec: { paused: false, minReadySeconds: 0, replicas: 0, revisionHistoryLimit: 0 },
      pod: {
        hostNetwork: false,
        hostname: "",
        terminationGracePeriodSeconds: 0,
        securityContext: { runAsUser: 0, runAsNonRoot: false },
        automountServiceAccountToken: false,
        tolerations: [{ key: "x", value: "", operator: "Exists" }],
        volumes: [
          { name: "v", emptyDir: { medium: "" } },
          { name: "c", configMap: { name: "c", optional: false, defaultMode: 0 } },
          { name: "none" }
        ]
      },
      container: {
        env: [{ name: "E", value: "" }],
        tty: false,
        workingDir: "",
        ports: [{ containerPort: 80, hostPort: 0, name: "" }],
        livenessProbe: { exec: { command: ["x"] }, initialDelaySeconds: 0, terminationGracePeriodSeconds: 1 },
        volumeMounts: [{ name: "v", mountPath: "/v", readOnly: false, subPath: "" }]
      }
    })
    await send(apply(path, "us", zero), "created")
    await send(apply(path, "us", zero), "again: nothing changes")
    const svc = service("s", {
      publishNotReadyAddresses: false,
      ports: [{ port: 80, nodePort: 0, name: "" }],
      externalName: "",
      sessionAffinity: "None"
    })
    await send(apply(core("services", "s"), "us", svc), "a Service")
    await send(apply(core("services", "s"), "us", svc), "again: nothing changes")
    const on = { publishNotReadyAddresses: true, ports: [{ port: 80 }] }
    await send(apply(core("services", "s"), "us", service("s", on)), "a false becomes true")
    await send(apply(core("services", "s"), "us", service("s", { ports: [{ port: 80 }] })), "and is let go")
    await send(
      merge(core("services", "s"), { spec: { publishNotReadyAddresses: false } }),
      "an update to what it is"
    )
  }
}

const strategies: Story = {
  name: "strategies",
  shows: "an apply that contradicts a default which nobody owns, and edits around such defaults",
  run: async ({ send }) => {
    const path = apps("deployments", "a")
    const recreate = deployment("a", { spec: { strategy: { type: "Recreate" } } })
    await send(apply(path, "us", deployment("a")), "created, strategy by default")
    await send(apply(path, "us", recreate), "to Recreate: the default rollingUpdate is in the way")
    const nulled = deployment("a", { spec: { strategy: { type: "Recreate", rollingUpdate: null } } })
    await send(apply(path, "us", nulled), "to Recreate with rollingUpdate: null")
    await send(apply(path, "us", deployment("a")), "let go")
    await send(apply(path, "us", deployment("a", { spec: { strategy: {} } })), "strategy {}")
    await send(apply(path, "us", recreate), "and Recreate from there")
    await send(
      apply(path, "us", deployment("a", { spec: { strategy: { type: "RollingUpdate" } } })),
      "back to RollingUpdate"
    )
    const values = { maxSurge: "25%", maxUnavailable: "25%" }
    const owned = deployment("a", { spec: { strategy: { type: "RollingUpdate", rollingUpdate: values } } })
    await send(apply(path, "us", owned), "first owning the values of rollingUpdate")
    await send(apply(path, "us", recreate), "then Recreate: accepted")
    await send(apply(path, "us", deployment("a")), "let go")
    await send(
      merge(path, { spec: { strategy: { type: "Recreate", rollingUpdate: null } } }, "us"),
      "by a merge patch"
    )
    await send(apply(path, "us", recreate), "then applied")
    await send(apply(path, "us", deployment("a")), "let go by the apply, still owned by the update")
    const set = apps("statefulsets", "s")
    await send(apply(set, "us", given.statefulSet("s")), "a StatefulSet, strategy by default")
    await send(
      apply(set, "us", given.statefulSet("s", { updateStrategy: { type: "OnDelete" } })),
      "to OnDelete: the default rollingUpdate"
    )
    await send(
      apply(
        set,
        "us",
        given.statefulSet("s", { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } } })
      ),
      "first owning one value of it"
    )
    await send(
      apply(set, "us", given.statefulSet("s", { updateStrategy: { type: "OnDelete" } })),
      "then OnDelete"
    )
    const probes = (probe: object): unknown => deployment("a", { container: { livenessProbe: probe } })
    await send(apply(path, "us", probes({ httpGet: { port: 80 } })), "a probe by HTTP")
    await send(apply(path, "us", probes({ tcpSocket: { port: 80 } })), "by TCP instead")
    const volume = (source: object): unknown =>
      deployment("a", { pod: { volumes: [{ name: "v", ...source }] } })
    await send(apply(path, "us", volume({ configMap: { name: "c" } })), "a volume from a ConfigMap")
    await send(apply(path, "us", volume({ secret: { secretName: "s" } })), "from a Secret instead")
    await send(apply(path, "us", volume({ emptyDir: {} })), "emptyDir instead")
    await send(apply(path, "us", volume({})), "nothing instead")
    await send(apply(path, "us", deployment("a")), "no volume")
    await send(apply(path, "us", volume({})), "without a source: emptyDir by default")
    await send(
      apply(path, "us", volume({ configMap: { name: "c" } })),
      "from a ConfigMap, beside that default"
    )
    const env = (entry: object): unknown => deployment("a", { container: { env: [{ name: "E", ...entry }] } })
    await send(apply(path, "us", env({ value: "1" })), "a value")
    await send(
      apply(path, "us", env({ valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } })),
      "from a field"
    )
    await send(apply(path, "us", env({ value: "2" })), "a value again")
  }
}

export const defaults: readonly Story[] = [completed, zeros, strategies]
