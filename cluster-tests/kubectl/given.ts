/** What the tour gives to kubectl, and how it watches. */
import { done, type Kubectl } from "../kubectl.ts"
import { heard } from "./heard.ts"

export interface Input {
  readonly input: string
}

export const json = (value: unknown): Input => ({ input: JSON.stringify(value) })

/** A DeploymentGrid of a key, whose pods tolerate the tour's nodes; with further fields of its spec. */
export const echo = (
  key: string,
  { replicas = 1, ...more }: { readonly replicas?: number; readonly [field: string]: unknown }
): Input =>
  json({
    apiVersion: "superedge.io/v1",
    kind: "DeploymentGrid",
    metadata: { name: "echo", labels: { app: "echo" } },
    spec: {
      gridUniqKey: key,
      template: {
        replicas,
        selector: { matchLabels: { app: "echo" } },
        template: {
          metadata: { labels: { app: "echo" } },
          spec: {
            tolerations: [{ key, operator: "Exists" }],
            containers: [{ name: "echo", image: "echo:1", ports: [{ containerPort: 80 }] }]
          }
        }
      },
      ...more
    }
  })

export const service = (key: string): Input =>
  json({
    apiVersion: "superedge.io/v1",
    kind: "ServiceGrid",
    metadata: { name: "echo" },
    spec: { gridUniqKey: key, template: { selector: { app: "echo" }, ports: [{ port: 80 }] } }
  })

/** What a watch of ConfigMaps tells of a few that come, change and go. */
export const watched = async (side: Kubectl): Promise<string> => {
  const map = (name: string): Input =>
    json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { watched: "yes" } } })
  await done(side(["create", "-f", "-"], map("watched-first")))
  const begun = Promise.withResolvers<undefined>()
  const all = side(["get", "cm", "-l", "watched", "--watch", "--output-watch-events"], {
    ends: (text) => {
      if (text.includes("watched-first")) begun.resolve(undefined)
      return text.includes("watched-last")
    }
  })
  await Promise.race([begun.promise, all])
  await done(side(["patch", "cm/watched-first", "-p", '{"data":{"a":"1"}}']))
  await done(side(["label", "cm/watched-first", "watched-"]))
  await done(side(["label", "cm/watched-first", "watched=again"]))
  await done(side(["delete", "cm/watched-first"]))
  await done(side(["create", "-f", "-"], map("watched-last")))
  return heard(await all).stdout
}
