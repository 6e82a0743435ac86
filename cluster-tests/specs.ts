/** Specs for grids that the stories begin with. */
import { at } from "./client.ts"

/** A Deployment's spec, with an env entry, a toleration and a limit that stories take away again. */
export const deployment = (): DeploymentSpec => ({
  replicas: 1,
  selector: { matchLabels: { app: "echo" } },
  template: {
    metadata: { labels: { app: "echo" } },
    spec: {
      tolerations: [
        { key: "edge", operator: "Exists", effect: "NoSchedule" },
        { key: "night", operator: "Exists", effect: "NoExecute" }
      ],
      containers: [
        {
          name: "echo",
          image: "echo:1",
          env: [
            { name: "COLOR", value: "blue" },
            { name: "SIZE", value: "xl" }
          ],
          resources: { requests: { cpu: "0.010" }, limits: { cpu: "0.5", memory: "1024Mi" } }
        }
      ]
    }
  }
})

/** The same with another image. */
export const withImage = (image: string): DeploymentSpec => {
  const spec = deployment()
  for (const container of spec.template.spec.containers) container.image = image
  return spec
}

/** The image of a Deployment's first container. */
export const imageOf = (child: unknown): unknown =>
  at(child, "spec", "template", "spec", "containers", 0, "image")

export interface DeploymentSpec {
  replicas?: number
  strategy?: object
  selector: object
  template: {
    metadata: object
    spec: {
      tolerations: object[]
      containers: {
        name: string
        image: string
        env: { name: string; value: string }[]
        resources: { requests: object; limits?: Record<string, string> }
      }[]
    }
  }
}

/** A grid as it is edited. */
export interface Edited {
  metadata: { labels?: Record<string, string> }
  spec: {
    template: DeploymentSpec
    templatePool?: Record<string, DeploymentSpec>
    templates?: Record<string, string>
    autoDeleteUnusedTemplate?: boolean
  }
}

export const statefulSet = (): object => ({
  replicas: 2,
  serviceName: "web-svc",
  selector: { matchLabels: { app: "web" } },
  template: {
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "web", image: "web:1" }] }
  }
})
