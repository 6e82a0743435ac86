/**
 * The rules of a pod's spec that workloads of grids can break: names, images, ports, environment, mounts, resources.
 */
import { get, isObj, listAt, objAt, text, type Obj } from "./json.ts"
import { labelsProblems } from "./metadata.ts"
import { labelProblems, portNameProblems } from "./names.ts"
import { nanos } from "./quantity.ts"
import {
  duplicate,
  forbiddenField,
  invalidValue,
  missing,
  required,
  unsupported,
  type Problem
} from "./status.ts"

export const PORT_RANGE = "must be between 1 and 65535, inclusive"
export const PROTOCOLS = ["SCTP", "TCP", "UDP"]

export const isPort = (port: unknown): boolean => typeof port === "number" && port >= 1 && port <= 65535

/** What is wrong with a pod template; `at` is its path. */
export const templateProblems = (template: Obj, at: string): readonly Problem[] => [
  ...labelsProblems(objAt(template, "metadata", "labels"), `${at}.labels`),
  ...podProblems(objAt(template, "spec"), `${at}.spec`)
]

/** What is wrong with a pod's spec. */
export const podProblems = (spec: Obj, at: string): readonly Problem[] => {
  const volumes = listAt(spec, "volumes")
  const names = new Set(
    volumes.filter((_, index) => isSound(volumes, index)).map((each) => text(each, "name"))
  )
  const policies = ["Always", "OnFailure", "Never"]
  const policy = text(spec, "restartPolicy")
  return [
    ...volumeProblems(volumes, `${at}.volumes`),
    ...containersProblems(listAt(spec, "containers"), names, `${at}.containers`, true),
    ...containersProblems(listAt(spec, "initContainers"), names, `${at}.initContainers`, false),
    ...(policies.includes(policy) ? [] : [unsupported(`${at}.restartPolicy`, policy, policies)]),
    ...labelsProblems(objAt(spec, "nodeSelector"), `${at}.nodeSelector`)
  ]
}

/** A volume that nothing is wrong with, by itself or beside those before it. */
const isSound = (volumes: readonly unknown[], index: number): boolean =>
  volumeProblems(volumes.slice(0, index + 1), "").every(({ field }) => !field.startsWith(`[${index}]`))

const volumeProblems = (volumes: readonly unknown[], at: string): readonly Problem[] => {
  const seen = new Set<string>()
  return volumes.flatMap((volume, index) => {
    const name = text(volume, "name")
    const field = `${at}[${index}].name`
    if (name === "") return [required(field, "")]
    const problems: Problem[] = labelProblems(name).map((each) => invalidValue(field, name, each))
    if (seen.has(name)) problems.push(duplicate(field, name))
    seen.add(name)
    const [, ...more] = Object.keys(isObj(volume) ? volume : {})
      .filter((key) => key !== "name")
      .sort((a, b) => orderOf(a) - orderOf(b))
    for (const source of more) {
      problems.push(forbiddenField(`${at}[${index}].${source}`, "may not specify more than 1 volume type"))
    }
    return problems
  })
}

/** The sources of a volume in the order in which the server looks at them. */
const SOURCES = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs"
]

const orderOf = (source: string): number =>
  SOURCES.includes(source) ? SOURCES.indexOf(source) : SOURCES.length

const containersProblems = (
  containers: readonly unknown[],
  volumes: ReadonlySet<string>,
  at: string,
  needed: boolean
): readonly Problem[] => {
  if (containers.length === 0) return needed ? [required(at, "")] : []
  const seen = new Set<string>()
  return containers.flatMap((container, index) => {
    if (!isObj(container)) return []
    const here = `${at}[${index}]`
    const name = text(container, "name")
    const problems: Problem[] = []
    if (name === "") problems.push(required(`${here}.name`, ""))
    else for (const each of labelProblems(name)) problems.push(invalidValue(`${here}.name`, name, each))
    if (name !== "" && seen.has(name)) problems.push(duplicate(`${here}.name`, name))
    seen.add(name)
    return [...problems, ...containerProblems(container, volumes, here)]
  })
}

const containerProblems = (container: Obj, volumes: ReadonlySet<string>, at: string): readonly Problem[] => {
  const image = text(container, "image")
  const policies = ["Always", "IfNotPresent", "Never"]
  const policy = text(container, "imagePullPolicy")
  return [
    ...(image === "" ? [required(`${at}.image`, "")] : []),
    ...(image !== image.trim()
      ? [invalidValue(`${at}.image`, image, "must not have leading or trailing whitespace")]
      : []),
    ...portsProblems(listAt(container, "ports"), `${at}.ports`),
    ...envProblems(listAt(container, "env"), `${at}.env`),
    ...mountProblems(listAt(container, "volumeMounts"), volumes, `${at}.volumeMounts`),
    ...["livenessProbe", "readinessProbe", "startupProbe"].flatMap((field) =>
      handlerProblems(container[field], `${at}.${field}`)
    ),
    ...(policies.includes(policy) ? [] : [unsupported(`${at}.imagePullPolicy`, policy, policies)]),
    ...resourceProblems(objAt(container, "resources"), `${at}.resources`)
  ]
}

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc"]

const handlerProblems = (probe: unknown, at: string): readonly Problem[] => {
  if (!isObj(probe)) return []
  const [first, ...more] = HANDLERS.filter((each) => probe[each] !== undefined)
  if (first === undefined) return [required(at, "must specify a handler type")]
  return more.map((each) => forbiddenField(`${at}.${each}`, "may not specify more than 1 handler type"))
}

const portsProblems = (ports: readonly unknown[], at: string): readonly Problem[] => {
  const seen = new Set<string>()
  return ports.flatMap((port, index) => {
    const here = `${at}[${index}]`
    const problems: Problem[] = []
    const name = text(port, "name")
    if (name !== "") {
      const wrong = portNameProblems(name)
      for (const each of wrong) problems.push(invalidValue(`${here}.name`, name, each))
      if (wrong.length === 0 && seen.has(name)) problems.push(duplicate(`${here}.name`, name))
      seen.add(name)
    }
    const number = get(port, "containerPort")
    if (number === 0) problems.push(required(`${here}.containerPort`, ""))
    else if (!isPort(number)) problems.push(invalidValue(`${here}.containerPort`, number, PORT_RANGE))
    const host = get(port, "hostPort")
    if (host !== undefined && host !== 0 && !isPort(host)) {
      problems.push(invalidValue(`${here}.hostPort`, host, PORT_RANGE))
    }
    const protocol = text(port, "protocol")
    if (!PROTOCOLS.includes(protocol)) problems.push(unsupported(`${here}.protocol`, protocol, PROTOCOLS))
    return problems
  })
}

const ENV_RULE =
  "a valid environment variable name must consist only of printable ASCII characters other than '='"

const envProblems = (env: readonly unknown[], at: string): readonly Problem[] =>
  env.flatMap((each, index) => {
    const name = text(each, "name")
    if (name === "") return [required(`${at}[${index}].name`, "")]
    return /^[ -<>-~]+$/.test(name) ? [] : [invalidValue(`${at}[${index}].name`, name, ENV_RULE)]
  })

const mountProblems = (
  mounts: readonly unknown[],
  volumes: ReadonlySet<string>,
  at: string
): readonly Problem[] => {
  const paths = new Set<string>()
  return mounts.flatMap((mount, index) => {
    const [name, path] = [text(mount, "name"), text(mount, "mountPath")]
    const problems: Problem[] = []
    if (name === "") problems.push(required(`${at}[${index}].name`, ""))
    else if (!volumes.has(name)) problems.push(missing(`${at}[${index}].name`, name))
    if (path === "") problems.push(required(`${at}[${index}].mountPath`, ""))
    if (paths.has(path)) problems.push(invalidValue(`${at}[${index}].mountPath`, path, "must be unique"))
    paths.add(path)
    return problems
  })
}

const resourceProblems = (resources: Obj, at: string): readonly Problem[] => {
  const [limits, requests] = [objAt(resources, "limits"), objAt(resources, "requests")]
  const negative = (values: Obj, field: string): readonly Problem[] =>
    Object.entries(values)
      .filter(([, value]) => (nanos(value) ?? 0n) < 0n)
      .map(([key, value]) =>
        invalidValue(`${at}.${field}[${key}]`, value, "must be greater than or equal to 0")
      )
  const above = Object.entries(requests)
    .filter(([key, value]) => Object.hasOwn(limits, key) && (nanos(value) ?? 0n) > (nanos(limits[key]) ?? 0n))
    .map(([key, value]) =>
      invalidValue(
        `${at}.requests`,
        value,
        `must be less than or equal to ${key} limit of ${String(limits[key])}`
      )
    )
  return [...negative(limits, "limits"), ...negative(requests, "requests"), ...above]
}
