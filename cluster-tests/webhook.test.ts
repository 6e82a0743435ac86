/** A mutating webhook between the controller and its children. */
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { describe, expect } from "vitest"
import { authority } from "../property-tests/certificates.ts"
import { at } from "./client.ts"
import { deployment, type Edited } from "./specs.ts"
import { type Stage, story } from "./stage.ts"

describe.concurrent("a mutating webhook", () => {
  story(
    "that adds a sidecar container and a label is lived with: no write follows, and edits go through",
    async (stage) => {
      await using _ = await webhook(stage, (child) => [
        { op: "add", path: "/spec/template/spec/containers/-", value: { name: "proxy", image: "proxy:1" } },
        { op: "add", path: "/spec/template/metadata/labels/mesh", value: "on" },
        ...(at(child, "metadata", "labels", "mesh") === undefined
          ? [{ op: "add", path: "/metadata/labels/mesh", value: "on" }]
          : [])
      ])
      await stage.units({ a: ["bj-1"] })
      await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
      await stage.ready("DeploymentGrid", "echo")
      expect(images(await stage.get("Deployment", "echo-a"))).toEqual(["echo:1", "proxy:1"])
      await stage.edit("DeploymentGrid", "echo", ({ spec }: Edited) => {
        for (const container of spec.template.template.spec.containers) container.image = "echo:2"
      })
      await stage.ready("DeploymentGrid", "echo")
      const child = await stage.get("Deployment", "echo-a")
      expect(images(child)).toEqual(["echo:2", "proxy:1"])
      expect(at(child, "metadata", "labels", "mesh")).toBe("on")
      const applied = stage.writes().filter((write) => write.resource === "deployments")
      expect(applied.map((write) => write.code)).toEqual([201, 200])
    }
  )

  story("that changes an owned field is not fought for ever: a condition names the field", async (stage) => {
    await using _ = await webhook(stage, () => [
      { op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror/echo:1" }
    ])
    await stage.units({ a: ["bj-1"] })
    await stage.create("DeploymentGrid", "echo", { gridUniqKey: stage.key, template: deployment() })
    const told = await stage.comes("DeploymentGrid", "echo", "Degraded by the webhook", (grid) =>
      JSON.stringify(at(grid, "status", "conditions") ?? []).includes("ChangedByWebhook")
    )
    expect(JSON.stringify(at(told, "status", "conditions"))).toMatch(/image/)
    const applied = stage.writes().filter((write) => write.resource === "deployments")
    expect(applied.length).toBeLessThanOrEqual(4)
  })
})

const images = (child: unknown): readonly unknown[] =>
  (at(child, "spec", "template", "spec", "containers") as readonly unknown[]).map((each) => at(each, "image"))

/** A webhook for the Deployments that are written in the stage's namespace; what it gives is a JSON Patch. */
const webhook = async (
  stage: Stage,
  patch: (child: unknown) => readonly object[]
): Promise<AsyncDisposable> => {
  const authorities = authority("webhook")
  const { cert, key } = authorities.certify("webhook")
  const reviewed = (review: unknown): unknown => {
    const child = at(review, "request", "object")
    // what it has done already stays when the server sends it the outcome
    const changes = images(child).includes("proxy:1") ? [] : patch(child)
    return {
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: {
        uid: at(review, "request", "uid"),
        allowed: true,
        patchType: "JSONPatch",
        patch: Buffer.from(JSON.stringify(changes)).toString("base64")
      }
    }
  }
  const server = createServer({ cert, key }, (request, response) => {
    void text(request).then((asked) => response.end(JSON.stringify(reviewed(JSON.parse(asked) as unknown))))
    response.setHeader("content-type", "application/json")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
  await stage.client.create(path, configuration(stage.namespace, authorities.cert, server))
  return {
    [Symbol.asyncDispose]: async () => {
      await stage.client.remove(`${path}/${stage.namespace}`)
      server.close()
      server.closeAllConnections()
    }
  }
}

const configuration = (name: string, ca: string, server: Server): unknown => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name },
  webhooks: [
    {
      name: "mesh.servicegroup.test",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      clientConfig: {
        url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
        caBundle: Buffer.from(ca).toString("base64")
      },
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
      rules: [
        {
          apiGroups: ["apps"],
          apiVersions: ["v1"],
          operations: ["CREATE", "UPDATE"],
          resources: ["deployments"]
        }
      ]
    }
  ]
})
