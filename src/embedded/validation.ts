/**
 * The rules of built-in kinds: what is refused with 422 on creation and on change, in the server's words.
 */
import { endpointSlice, lease, nonNegative, scale, sealed, secret } from "./datarules.ts"
import { event, strictEvent } from "./eventrules.ts"
import { get, isObj, listAt, objAt, semantic, text, type Obj } from "./json.ts"
import {
  changeProblems,
  creationProblems,
  finalizerProblems,
  IMMUTABLE,
  labelsProblems,
  plainFinalizerProblems
} from "./metadata.ts"
import { labelProblems, segmentProblems, subdomainProblems } from "./names.ts"
import { endpoints, serviceCIDR } from "./networkrules.ts"
import { podProblems, templateProblems } from "./podrules.ts"
import { objectSelector } from "./selectors.ts"
import { serviceChangeProblems, serviceProblems } from "./services.ts"
import { taintProblems } from "./taints.ts"
import { forbiddenField, invalidValue, required, unsupported, type Problem } from "./status.ts"

/** Kinds whose finalizers are judged on every write, rather than when the object is made. */
const WHOLE: ReadonlySet<string> = new Set([
  "ConfigMap",
  "Endpoints",
  "Node",
  "Secret",
  "Service",
  "ServiceAccount"
])

/** What is wrong with an object of a built-in kind; `before` is what it replaces. */
export const problemsOf = (
  kind: string,
  namespaced: boolean,
  object: Obj,
  before: Obj | undefined
): readonly Problem[] => {
  const rules = KINDS[kind]?.(object, before) ?? []
  const made = objAt(object, "metadata")
  const finalizers = WHOLE.has(kind) || !before ? plainFinalizerProblems(made) : []
  const meta = before
    ? [...changeProblems(object, before), ...(WHOLE.has(kind) ? finalizerProblems(made) : [])]
    : creationProblems(object, namespaced, NAMES[kind] ?? subdomainProblems)
  return [...meta, ...finalizers, ...rules]
}

const NAMES: Readonly<Record<string, (name: string) => readonly string[]>> = {
  Namespace: labelProblems,
  Service: labelProblems,
  StatefulSet: labelProblems,
  Role: segmentProblems,
  RoleBinding: segmentProblems,
  ClusterRole: segmentProblems,
  ClusterRoleBinding: segmentProblems
}

/** What is wrong with a status that is written through the status subresource. */
export const statusProblems = (kind: string, object: Obj, before: Obj): readonly Problem[] => {
  const meta = changeProblems(object, before)
  if (kind === "Service") return [...meta, ...balancerProblems(object)]
  if (kind !== "Deployment" && kind !== "StatefulSet" && kind !== "ReplicaSet") return meta
  const status = objAt(object, "status")
  const count = (field: string): number => Number(get(status, field) ?? 0)
  const fields = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"]
  const negative = fields.filter((field) => count(field) < 0)
  const above = ["updatedReplicas", "readyReplicas", "availableReplicas"].filter(
    (field) => count(field) > count("replicas") && !(kind === "StatefulSet" && field === "updatedReplicas")
  )
  return [
    ...meta,
    ...negative.map((field) => nonNegative(`status.${field}`, count(field))).flat(),
    ...above.map((field) =>
      invalidValue(`status.${field}`, count(field), "cannot be greater than status.replicas")
    ),
    ...(count("availableReplicas") > count("readyReplicas")
      ? [
          invalidValue(
            "status.availableReplicas",
            count("availableReplicas"),
            "cannot be greater than readyReplicas"
          )
        ]
      : [])
  ]
}

const balancerProblems = (service: Obj): readonly Problem[] => {
  const ingress = listAt(service, "status", "loadBalancer", "ingress")
  if (text(service, "spec", "type") === "LoadBalancer") return ingress.flatMap(ingressProblems)
  if (ingress.length === 0) return []
  return [
    forbiddenField("status.loadBalancer.ingress", "may only be used when `spec.type` is 'LoadBalancer'")
  ]
}

/** The mode of an address is filled in where the write itself says that the Service is balanced. */
const ingressProblems = (ingress: unknown, index: number): readonly Problem[] =>
  text(ingress, "ip") !== "" && get(ingress, "ipMode") === undefined
    ? [required(`status.loadBalancer.ingress[${index}].ipMode`, "must be specified when `ip` is set")]
    : []

const selectorProblems = (spec: Obj, kind: string, checksTemplate: boolean): readonly Problem[] => {
  const selector = spec["selector"]
  const labels = get(spec, "template", "metadata", "labels")
  const at = "spec.template.metadata.labels"
  const mismatch = invalidValue(at, labels ?? null, "`selector` does not match template `labels`")
  if (!isObj(selector)) return [required("spec.selector", ""), ...(checksTemplate ? [mismatch] : [])]
  const problems = [...labelsProblems(objAt(selector, "matchLabels"), "spec.selector.matchLabels")]
  const matches = objectSelector(selector)
  if (problems.length > 0) {
    const why = kind === "statefulset" ? "" : "invalid label selector"
    return [...problems, invalidValue("spec.selector", selector, why)]
  }
  const bare =
    Object.keys(objAt(selector, "matchLabels")).length + listAt(selector, "matchExpressions").length === 0
  if (bare) problems.push(invalidValue("spec.selector", selector, `empty selector is invalid for ${kind}`))
  else if (!matches) problems.push(invalidValue("spec.selector", selector, "invalid label selector"))
  else if (!matches(isObj(labels) ? labels : {})) problems.push(mismatch)
  return problems
}

const onlyAlways = (spec: Obj): readonly Problem[] => {
  const policy = text(spec, "template", "spec", "restartPolicy")
  const deadline = get(spec, "template", "spec", "activeDeadlineSeconds")
  return [
    ...(policy === "Always" ? [] : [unsupported("spec.template.spec.restartPolicy", policy, ["Always"])]),
    ...(deadline === undefined
      ? []
      : [
          forbiddenField(
            "spec.template.spec.activeDeadlineSeconds",
            "activeDeadlineSeconds in ReplicaSet is not Supported"
          )
        ])
  ]
}

const percentOrCount = (value: unknown, field: string): readonly Problem[] => {
  if (typeof value === "string") {
    if (/^[0-9]+%$/.test(value)) return []
    const why =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', or '93%', regex used for validation is '[0-9]+%')"
    return [invalidValue(field, value, why)]
  }
  return nonNegative(field, value)
}

const strategyProblems = (strategy: Obj): readonly Problem[] => {
  const at = "spec.strategy"
  const type = text(strategy, "type")
  const rolling = strategy["rollingUpdate"]
  if (type === "Recreate") {
    if (rolling === undefined) return []
    return [forbiddenField(`${at}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")]
  }
  if (type !== "RollingUpdate") return [unsupported(at, strategy, ["Recreate", "RollingUpdate"])]
  const [unavailable, surge] = [get(rolling, "maxUnavailable"), get(rolling, "maxSurge")]
  const isZero = (value: unknown): boolean => value === 0 || value === "0%"
  return [
    ...percentOrCount(unavailable, `${at}.rollingUpdate.maxUnavailable`),
    ...percentOrCount(surge, `${at}.rollingUpdate.maxSurge`),
    ...(isZero(unavailable) && isZero(surge)
      ? [invalidValue(`${at}.rollingUpdate.maxUnavailable`, unavailable, "may not be 0 when `maxSurge` is 0")]
      : [])
  ]
}

const changed = (object: Obj, before: Obj | undefined, ...fields: readonly string[]): readonly Problem[] =>
  before
    ? fields
        .filter((field) => !semantic(get(object, "spec", field), get(before, "spec", field)))
        .map((field) => invalidValue(`spec.${field}`, get(object, "spec", field) ?? null, IMMUTABLE))
    : []

/** Where the selector can't be read, the server doesn't look at the template. */
const hasReadableSelector = (spec: Obj): boolean =>
  labelsProblems(objAt(spec, "selector", "matchLabels"), "").length === 0

const ownTemplateProblems = (spec: Obj): readonly Problem[] =>
  hasReadableSelector(spec)
    ? [...templateProblems(objAt(spec, "template"), "spec.template"), ...onlyAlways(spec)]
    : []

const deployment = (object: Obj, before: Obj | undefined): readonly Problem[] => {
  const spec = objAt(object, "spec")
  const [deadline, ready] = [spec["progressDeadlineSeconds"], spec["minReadySeconds"] ?? 0]
  return [
    ...nonNegative("spec.replicas", spec["replicas"]),
    ...selectorProblems(spec, "deployment", true),
    ...ownTemplateProblems(spec),
    ...strategyProblems(objAt(spec, "strategy")),
    ...nonNegative("spec.minReadySeconds", ready),
    ...nonNegative("spec.revisionHistoryLimit", spec["revisionHistoryLimit"]),
    ...nonNegative("spec.progressDeadlineSeconds", deadline),
    ...(typeof deadline === "number" && deadline <= Number(ready)
      ? [invalidValue("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")]
      : []),
    ...changed(object, before, "selector")
  ]
}

const replicaSet = (object: Obj, before: Obj | undefined): readonly Problem[] => {
  const spec = objAt(object, "spec")
  return [
    ...nonNegative("spec.replicas", spec["replicas"]),
    ...nonNegative("spec.minReadySeconds", spec["minReadySeconds"]),
    ...selectorProblems(spec, "deployment", true),
    ...ownTemplateProblems(spec),
    ...changed(object, before, "selector")
  ]
}

const statefulSet = (object: Obj, before: Obj | undefined): readonly Problem[] => {
  const spec = objAt(object, "spec")
  const management = text(spec, "podManagementPolicy")
  const name = text(spec, "serviceName")
  const policy = text(spec, "template", "spec", "restartPolicy")
  return [
    ...(management === "OrderedReady" || management === "Parallel"
      ? []
      : [invalidValue("spec.podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'")]),
    ...updateStrategyProblems(objAt(spec, "updateStrategy")),
    ...nonNegative("spec.replicas", spec["replicas"]),
    ...nonNegative("spec.minReadySeconds", spec["minReadySeconds"]),
    ...(name === "" || before
      ? []
      : labelProblems(name).map((each) => invalidValue("spec.serviceName", name, each))),
    ...selectorProblems(spec, "statefulset", true),
    ...(hasReadableSelector(spec) ? templateProblems(withClaims(spec), "spec.template") : []),
    ...(policy === "Always" ? [] : [unsupported("spec.template.spec.restartPolicy", policy, ["Always"])]),
    ...changed(object, before, "selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy")
  ]
}

const updateStrategyProblems = (strategy: Obj): readonly Problem[] => {
  const [type, rolling] = [text(strategy, "type"), strategy["rollingUpdate"]]
  if (type === "RollingUpdate") {
    const partition = get(rolling, "partition")
    return nonNegative("spec.updateStrategy.rollingUpdate.partition", partition)
  }
  if (type !== "OnDelete") {
    return [invalidValue("spec.updateStrategy", strategy, "must be 'RollingUpdate' or 'OnDelete'")]
  }
  if (!isObj(rolling)) return []
  const shown = { Partition: rolling["partition"] ?? 0, MaxUnavailable: rolling["maxUnavailable"] ?? null }
  const why = "only allowed for updateStrategy 'RollingUpdate'"
  return [invalidValue("spec.updateStrategy.rollingUpdate", shown, why)]
}

/** The template with a volume for each claim template, as its pods will have. */
const withClaims = (spec: Obj): Obj => {
  const template = objAt(spec, "template")
  const claims = listAt(spec, "volumeClaimTemplates").map((claim) => ({
    name: text(claim, "metadata", "name")
  }))
  const volumes = listAt(template, "spec", "volumes").filter(
    (volume) => !claims.some(({ name }) => name === text(volume, "name"))
  )
  return { ...template, spec: { ...objAt(template, "spec"), volumes: [...claims, ...volumes] } }
}

const pod = (object: Obj, before: Obj | undefined): readonly Problem[] => {
  if (!before) return podProblems(objAt(object, "spec"), "spec")
  if (semantic(fixedPart(objAt(object, "spec")), fixedPart(objAt(before, "spec")))) return []
  const why =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
  return [forbiddenField("spec", why)]
}

/** What of a pod's spec can't be changed. */
const fixedPart = (spec: Obj): Obj => {
  const { activeDeadlineSeconds: _, tolerations: __, terminationGracePeriodSeconds: ___, ...rest } = spec
  const images = (field: string): readonly unknown[] =>
    listAt(spec, field).map((each) => (isObj(each) ? { ...each, image: "" } : each))
  return { ...rest, containers: images("containers"), initContainers: images("initContainers") }
}

/** The rules of a definition that are looked at: its name, and that every field has a type. */
const definition = (object: Obj): readonly Problem[] => {
  const spec = objAt(object, "spec")
  const versions = listAt(spec, "versions")
  const name = `${text(spec, "names", "plural")}.${text(spec, "group")}`
  const wrongName = text(object, "metadata", "name") !== name
  return [
    ...(wrongName
      ? [
          invalidValue(
            "metadata.name",
            text(object, "metadata", "name"),
            'must be spec.names.plural+"."+spec.group'
          )
        ]
      : []),
    ...versions.flatMap((version, index) => {
      const at =
        versions.length === 1
          ? "spec.validation.openAPIV3Schema"
          : `spec.versions[${index}].schema.openAPIV3Schema`
      return structuralProblems(objAt(version, "schema", "openAPIV3Schema"), at)
    })
  ]
}

const structuralProblems = (schema: Obj, at: string): readonly Problem[] => {
  const free =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true
  const untyped = text(schema, "type") === "" && !free
  const kind = at.endsWith("openAPIV3Schema")
    ? "at the root"
    : at.endsWith("items")
      ? "for specified array items"
      : "for specified object fields"
  return [
    ...(untyped ? [required(`${at}.type`, `must not be empty ${kind}`)] : []),
    ...Object.entries(objAt(schema, "properties")).flatMap(([key, property]) =>
      isObj(property) ? structuralProblems(property, `${at}.properties[${key}]`) : []
    ),
    ...(isObj(schema["items"]) ? structuralProblems(schema["items"], `${at}.items`) : [])
  ]
}

const KINDS: Readonly<
  Record<string, ((object: Obj, before: Obj | undefined) => readonly Problem[]) | undefined>
> = {
  Deployment: deployment,
  ReplicaSet: replicaSet,
  StatefulSet: statefulSet,
  Pod: pod,
  CustomResourceDefinition: definition,
  Event: event,
  StrictEvent: strictEvent,
  Endpoints: endpoints,
  ServiceCIDR: serviceCIDR,
  EndpointSlice: endpointSlice,
  Lease: lease,
  Node: taintProblems,
  ConfigMap: sealed,
  Scale: scale,
  Secret: secret,
  Service: (object, before) => [
    ...(before ? serviceChangeProblems(object, before) : []),
    ...serviceProblems(object)
  ]
}
