/**
 * What others put where a grid's child will stand.
 */
import type { KubeObject } from "../../src/core/kube.ts"
import type { Slot } from "./words.ts"

/** An object that stands where a child will be, or once was. */
export type Planting = "foreign" | "owned" | "adoptable" | "legacy"

/** The uid of an owner of another kind. */
export const ELSEWHERE = "11111111-0000-4000-8000-000000000000"

const OLD = [{ name: "OLD", value: "1" }]

export const planted = (slot: Slot, name: string, how: Planting, grid: KubeObject | undefined): object => {
  const owners = {
    foreign: undefined,
    adoptable: undefined,
    owned: { apiVersion: "example.io/v1", kind: "Else", name: "else", uid: ELSEWHERE, controller: true },
    legacy: {
      apiVersion: "superedge.io/v1",
      kind: slot.kind,
      name: slot.name,
      uid: grid?.metadata.uid,
      controller: true,
      blockOwnerDeletion: true
    }
  }
  const owner = owners[how]
  const labelled = how === "adoptable" || how === "legacy"
  const metadata = {
    name,
    namespace: slot.namespace,
    ...(labelled && { labels: { "superedge.io/grid-selector": slot.name, old: "1" } }),
    ...(owner && { ownerReferences: [owner] })
  }
  if (slot.kind === "ServiceGrid")
    return {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { selector: { old: "1" }, ports: [{ name: "old", port: 1 }] }
    }
  const hash = how === "legacy" ? { "superedge.io/template-hash-key": "abc" } : {}
  return {
    apiVersion: "apps/v1",
    kind: slot.kind === "DeploymentGrid" ? "Deployment" : "StatefulSet",
    metadata,
    spec: {
      replicas: 5,
      ...(slot.kind === "StatefulSetGrid" && { serviceName: "app-svc" }),
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web", ...hash } },
        spec: { containers: [{ name: "c", image: "nginx:0", ...(how === "legacy" && { env: OLD }) }] }
      }
    }
  }
}
