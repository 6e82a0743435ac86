/**
 * What should be there, step by step and at the end: written out, not computed.
 */
import { missing, missingLabel, missingService, podsOf, type Unit } from "./missing.ts"
import { missingSites } from "./places.ts"
import { missingReach } from "./reach.ts"
import { type Lookup, missingNames } from "./resolve.ts"
import type { Scene } from "./scene.ts"

export const GRID = "deploymentgrid-demo"
const SERVICE_GRID = "servicegrid-demo"
export const KEY = "location"
const OLD = "superedge/echoserver:2.2"
const NEW = "superedge/echoserver:2.3"
export const ECHO_SERVICE = `${SERVICE_GRID}-svc`
const BEIJING = ["bj-1", "bj-2", "bj-3"]
const GUANGZHOU = ["gz-1", "gz-2", "gz-3"]
const VISITOR = "sh-1"
export const HAND_LABEL = { name: `${GRID}-beijing`, label: "team", value: "edge" }

export const beijing: Unit = { unit: "beijing", nodes: BEIJING, replicas: 2, image: OLD }
export const guangzhou: Unit = { unit: "guangzhou", nodes: GUANGZHOU, replicas: 2, image: OLD }
export const canary: Unit = { unit: "guangzhou", nodes: GUANGZHOU, replicas: 3, image: NEW }
export const shanghai: Unit = { unit: "shanghai", nodes: [VISITOR], replicas: 2, image: OLD }
/** Once its node has gone: the NodeUnit is still there. */
export const shanghaiEmpty: Unit = { ...shanghai, nodes: [] }

/** Once bj-3 has changed its site. */
const MOVED = "bj-3"
export const beijingLess: Unit = { ...beijing, nodes: BEIJING.filter((node) => node !== MOVED) }
export const canaryMore: Unit = { ...canary, nodes: [...GUANGZHOU, MOVED] }

export const places = (scene: Scene, ...units: readonly Unit[]): readonly string[] =>
  missingSites(scene, { group: KEY, units })

export const grid = (scene: Scene, ...units: readonly Unit[]): readonly string[] =>
  missing(scene, { grid: GRID, key: KEY, units })

export const service = (scene: Scene, endpoints: number): readonly string[] =>
  missingService(scene, { grid: SERVICE_GRID, topologyKeys: `["${KEY}"]`, endpoints })

/** The nodes that have a wrapper: the visitor has none. */
export const WRAPPED: readonly string[] = [...BEIJING, ...GUANGZHOU]

/** What is missing where every node reaches its own unit only, as the cluster was when it was `truth`. */
export const reaching = (scene: Scene, truth: Scene, ...units: readonly Unit[]): readonly string[] =>
  missingReach(scene, truth, { service: ECHO_SERVICE, key: KEY, units })

export const labelled = (scene: Scene): readonly string[] => missingLabel(scene, HAND_LABEL)

/** The names that are asked for on a node of each place. */
export const WEB: Lookup = {
  service: "web-svc",
  grid: "web",
  ordinals: [0, 1],
  nodes: [
    { node: "bj-1", unit: "beijing" },
    { node: "gz-1", unit: "guangzhou" }
  ]
}

/** What is missing where each place has its own pods under the short names, as the cluster was when it was `truth`. */
export const resolved = (scene: Scene, truth: Scene): readonly string[] => missingNames(scene, truth, WEB)

/** Pods that are not the ones that were there before. */
export const restarted = (scene: Scene, before: Scene, { unit, nodes }: Unit): readonly string[] => {
  const uids = new Set(podsOf(before, nodes).map(({ metadata }) => metadata.uid))
  const fresh = podsOf(scene, nodes).filter(({ metadata }) => !uids.has(metadata.uid))
  return fresh.length === 0 ? [] : [`${fresh.length} pods of ${unit} were restarted`]
}

/** What is not as it should be when the story is over. */
export const end = (scene: Scene): readonly string[] => [
  ...places(scene, beijingLess, canaryMore, shanghaiEmpty),
  ...grid(scene, beijingLess, canaryMore),
  ...service(scene, 5),
  ...labelled(scene),
  ...reaching(scene, scene, beijingLess, canaryMore),
  ...resolved(scene, scene),
  ...(scene.upstream === "There" ? [] : ["the wrappers are cut off"]),
  ...(scene.nodes.length === 6 ? [] : [`there are ${scene.nodes.length} nodes, not 6`])
]
